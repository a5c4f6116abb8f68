// SPDX-License-Identifier: MIT
//
// Records of any length between two positions.
//
// A record is a word with its length, then its bytes, then what is missing to a whole unit. One
// that does not fit before the end of the memory begins at its start, and padding stands before it:
// a word that says so. Padding and record are published together, so that behind padding there is
// always a record.
#include <bit>
#include <cstring>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/process/shared_byte_ring.hpp>
#include <new>
#include <stdexcept>
#include <string>

namespace handoff { inline namespace HANDOFF_ABI {

struct SharedByteRing::Fixed {
  explicit Fixed(const detail::SharedRingShape& shape) noexcept : head(shape), positions(0) {}
  detail::SharedRingHead head;
  detail::SharedPositions positions;
};

namespace {

// An atomic, so that the compiler reads it once.
using Length = sync::atomic<std::uint64_t>;
constexpr std::size_t kUnit = std::bit_ceil(sizeof(Length));
constexpr std::size_t kLeast = 8 * kUnit;  // the smallest ring
constexpr std::uint64_t kPadding = ~std::uint64_t{0};  // in the place of a length

// A record's bytes with its length, in whole units.
constexpr std::size_t whole(std::size_t bytes) noexcept {
  return kUnit + (bytes + kUnit - 1) / kUnit * kUnit;
}

void set_length(std::byte* at, std::uint64_t length) noexcept {
  ::new (static_cast<void*>(at)) Length(length);
}

std::uint64_t length_at(const std::byte* at) noexcept {
  // order: relaxed, the position was read with acquire.
  return std::launder(reinterpret_cast<const Length*>(at))->load(sync::order::relaxed);
}

template <class Fixed>
constexpr detail::SharedRingShape shape_of() noexcept {
  return {.kind = detail::SharedRingKind::bytes,
          .fixed_bytes = sizeof(Fixed),
          .place_bytes = 1,
          .item_bytes = 1,
          .item_alignment = kUnit};
}

}  // namespace

SharedByteRing::SharedByteRing(std::span<std::byte> bytes,
                               const detail::SharedRingShape& shape) noexcept
    : positions_(&std::launder(reinterpret_cast<Fixed*>(bytes.data() + detail::kSharedRingStart))
                      ->positions),
      bytes_(bytes.data() + shape.offset()),
      capacity_(static_cast<std::size_t>(shape.capacity)) {}

std::size_t SharedByteRing::bytes_for(std::size_t capacity) {
  const std::size_t wanted = capacity == 0 ? 0 : detail::max(capacity, kLeast);
  return detail::bytes_of(detail::with_capacity(shape_of<Fixed>(), wanted));
}

SharedByteRing SharedByteRing::create(std::span<std::byte> bytes, std::size_t capacity) {
  const std::size_t wanted = capacity == 0 ? 0 : detail::max(capacity, kLeast);
  const detail::SharedRingShape shape = detail::with_capacity(shape_of<Fixed>(), wanted);
  detail::SharedRingHead::begin(bytes, shape);
  ::new (static_cast<void*>(bytes.data() + detail::kSharedRingStart)) Fixed(shape);
  detail::SharedRingHead::publish(bytes);
  return SharedByteRing(bytes, shape);
}

SharedByteRing SharedByteRing::attach(std::span<std::byte> bytes) {
  const auto shape = detail::SharedRingHead::attached(bytes, shape_of<Fixed>());
  if (shape.capacity < kLeast) detail::refuse_ring("it is too small for any record");
  return SharedByteRing(bytes, shape);
}

std::size_t SharedByteRing::most() const noexcept { return capacity_ / 2 - kUnit; }

// --- The producer. ---

SharedByteRing::Producer::Producer(SharedByteRing ring)
    : ring_(ring), end_(*ring.positions_, ring.capacity_) {
  if (!end_.damaged() && end_.position() % kUnit == 0) return;
  detail::refuse_ring("its positions cannot be");
}

// What lies between the position and the end of the memory, if the record does not fit there.
std::size_t SharedByteRing::Producer::padding_for(std::size_t bytes) const {
  if (bytes > ring_.most()) {
    raise(std::length_error("a record of " + std::to_string(bytes) + " bytes, in a ring for " +
                            std::to_string(ring_.most())));
  }
  const std::size_t before_end = ring_.capacity_ - ring_.offset(end_.position());
  return whole(bytes) <= before_end ? 0 : before_end;
}

Status SharedByteRing::Producer::claimed(Status status, std::size_t bytes, std::size_t padding,
                                         std::span<std::byte>& place) noexcept {
  is_claimed_ = status == Status::ok;
  place = {};
  if (!is_claimed_) return status;
  claimed_ = bytes;
  padding_ = padding;
  place = {ring_.bytes_ + ring_.offset(end_.position() + padding) + kUnit, bytes};
  return status;
}

Status SharedByteRing::Producer::try_claim(std::size_t bytes, std::span<std::byte>& place) {
  const std::size_t padding = padding_for(bytes);
  return claimed(end_.reserve(padding + whole(bytes)), bytes, padding, place);
}

Status SharedByteRing::Producer::claim(std::size_t bytes, std::span<std::byte>& place,
                                       const Until& until) {
  const std::size_t padding = padding_for(bytes);
  return claimed(end_.reserve_until(padding + whole(bytes), until), bytes, padding, place);
}

Status SharedByteRing::Producer::publish(std::size_t bytes) {
  if (!is_claimed_) return Status::closed;
  if (bytes > claimed_) misuse("a record is published that is longer than what was claimed");
  is_claimed_ = false;
  const std::uint64_t position = end_.position();
  if (padding_ != 0) set_length(ring_.bytes_ + ring_.offset(position), kPadding);
  set_length(ring_.bytes_ + ring_.offset(position + padding_), bytes);
  return end_.publish(padding_ + whole(bytes));
}

Status SharedByteRing::Producer::push_into(std::span<std::byte> place,
                                           std::span<const std::byte> record) {
  if (!record.empty()) std::memcpy(place.data(), record.data(), record.size());
  return publish(record.size());
}

Status SharedByteRing::Producer::try_push(std::span<const std::byte> record) {
  std::span<std::byte> place;
  const Status status = try_claim(record.size(), place);
  return status == Status::ok ? push_into(place, record) : status;
}

Status SharedByteRing::Producer::push(std::span<const std::byte> record, const Until& until) {
  std::span<std::byte> place;
  const Status status = claim(record.size(), place, until);
  return status == Status::ok ? push_into(place, record) : status;
}

// --- The consumer. ---

SharedByteRing::Consumer::Consumer(SharedByteRing ring)
    : ring_(ring), end_(*ring.positions_, ring.capacity_) {
  if (!end_.damaged() && end_.position() % kUnit == 0) return;
  detail::refuse_ring("its positions cannot be");
}

// There is something. Each length is read once, and believed only if what it says lies between the
// position and the tail, before the end of the memory.
Status SharedByteRing::Consumer::look(std::span<const std::byte>& record) noexcept {
  for (bool padded = false;; padded = true) {
    const std::uint64_t there = end_.items(1);
    const std::size_t offset = ring_.offset(end_.position());
    const std::size_t before_end = ring_.capacity_ - offset;
    if (there < kUnit) break;
    const std::uint64_t length = length_at(ring_.bytes_ + offset);
    if (length == kPadding) {
      if (padded || there < before_end + kUnit) break;
      end_.give_back(before_end);
      continue;
    }
    if (length > ring_.most()) break;
    const std::size_t bytes = whole(static_cast<std::size_t>(length));
    if (bytes > there || bytes > before_end) break;
    peeked_ = bytes;
    record = {ring_.bytes_ + offset + kUnit, static_cast<std::size_t>(length)};
    return Status::ok;
  }
  end_.damage();
  return Status::closed;
}

Status SharedByteRing::Consumer::try_peek(std::span<const std::byte>& record) noexcept {
  peeked_ = 0;
  record = {};
  const Status status = end_.look();
  return status == Status::ok ? look(record) : status;
}

Status SharedByteRing::Consumer::peek(std::span<const std::byte>& record, const Until& until) {
  peeked_ = 0;
  record = {};
  const Status status = end_.look_until(until);
  return status == Status::ok ? look(record) : status;
}

void SharedByteRing::Consumer::release() noexcept {
  if (peeked_ == 0) return;
  const std::uint64_t bytes = peeked_;
  peeked_ = 0;
  end_.give_back(bytes);
}

}}  // namespace handoff::HANDOFF_ABI
