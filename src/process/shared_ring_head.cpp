// SPDX-License-Identifier: MIT
//
// What lies in a ring's memory: written once, read once, checked.
#include <errno.h>

#include <bit>
#include <handoff/core/misuse.hpp>
#include <handoff/process/detail/shared_ring_head.hpp>
#include <limits>
#include <new>

#include "../core/internal/call_failed.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

// As a number, so that another byte order is another magic. The last byte is the version.
constexpr std::uint64_t kRingMagic = 0x676e'6972'6f64'6801;

// The most places that a ring of this shape can have.
std::uint64_t most_places(const SharedRingShape& shape) noexcept {
  const std::uint64_t most = std::numeric_limits<std::ptrdiff_t>::max() - shape.offset();
  return std::bit_floor(most / shape.place_bytes);
}

// What it fills. What is behind that, up to bytes_of(), it does without.
std::uint64_t needed_by(const SharedRingShape& shape) noexcept {
  return shape.offset() + shape.capacity * shape.place_bytes;
}

void check_alignment(std::span<std::byte> bytes, const SharedRingShape& shape) {
  if (std::bit_cast<std::uintptr_t>(bytes.data()) % shape.alignment() == 0) return;
  raise(std::invalid_argument("the memory of a ring begins at a multiple of " +
                              std::to_string(shape.alignment()) + " bytes: hand over whole pages"));
}

void check_equal(const char* what, std::uint64_t found, std::uint64_t wanted) {
  if (found == wanted) return;
  refuse_ring(std::string(what) + " is " + std::to_string(found) + " there and " +
              std::to_string(wanted) + " here");
}

}  // namespace

void refuse_ring(const std::string& why) {
  raise(call_failed(EPROTO, "shared ring: it cannot be used: " + why));
}

SharedRingShape with_capacity(SharedRingShape shape, std::size_t capacity) {
  if (capacity == 0) misuse("a shared ring: `capacity` is 1 or more");
  const std::uint64_t most = most_places(shape);
  if (capacity > most) {
    raise(std::length_error("a ring has at most " + std::to_string(most) + " places, not " +
                            std::to_string(capacity)));
  }
  shape.capacity = std::bit_ceil(capacity);
  return shape;
}

SharedRingShape with_producers(SharedRingShape shape, std::size_t producers) {
  if (producers == 0) misuse("a shared ring: `producers` is 1 or more");
  if (producers > SharedRingShape::kMostProducers) {
    raise(
        std::length_error("a ring has at most 65536 producers, not " + std::to_string(producers)));
  }
  shape.producers = producers;
  return shape;
}

std::size_t bytes_of(const SharedRingShape& shape) noexcept {
  const std::uint64_t unit = shape.alignment();
  return static_cast<std::size_t>((needed_by(shape) + unit - 1) / unit * unit);
}

SharedRingHead::SharedRingHead(const SharedRingShape& shape) noexcept
    : kind_(static_cast<std::uint64_t>(shape.kind)),
      fixed_bytes_(shape.fixed_bytes),
      place_bytes_(shape.place_bytes),
      item_bytes_(shape.item_bytes),
      item_alignment_(shape.item_alignment),
      capacity_(shape.capacity),
      producers_(shape.producers) {}

// Never made, since others may read it already: it is there as soon as the memory is.
sync::atomic<std::uint64_t>& SharedRingHead::mark(std::span<std::byte> bytes) noexcept {
  return *reinterpret_cast<sync::atomic<std::uint64_t>*>(bytes.data());
}

void SharedRingHead::begin(std::span<std::byte> bytes, const SharedRingShape& shape) {
  check_alignment(bytes, shape);
  if (bytes.size() < needed_by(shape)) {
    raise(std::length_error("the memory has " + std::to_string(bytes.size()) + " bytes, not the " +
                            std::to_string(bytes_of(shape)) + " that bytes_for() asks for"));
  }
  // order: relaxed, memory that somebody still uses must not be made a ring of.
  mark(bytes).store(0, sync::order::relaxed);
}

void SharedRingHead::publish(std::span<std::byte> bytes) noexcept {
  // order: release pairs with the acquire in attached(): the ring is made before it is found.
  mark(bytes).store(kRingMagic, sync::order::release);
}

SharedRingShape SharedRingHead::attached(std::span<std::byte> bytes,
                                         const SharedRingShape& wanted) {
  check_alignment(bytes, wanted);
  if (bytes.size() < wanted.offset()) refuse_ring("the memory is too short for one");
  // order: acquire pairs with the release in publish().
  if (mark(bytes).load(sync::order::acquire) != kRingMagic) {
    refuse_ring("the memory holds none, or one that is not made yet, or of another version");
  }
  const auto& head =
      *std::launder(reinterpret_cast<const SharedRingHead*>(bytes.data() + kSharedRingStart));
  const auto once = [](const sync::atomic<std::uint64_t>& word) {
    // order: relaxed, the mark came last.
    return word.load(sync::order::relaxed);
  };
  check_equal("the kind of ring", once(head.kind_), static_cast<std::uint64_t>(wanted.kind));
  check_equal("the size of an item", once(head.item_bytes_), wanted.item_bytes);
  check_equal("the alignment of an item", once(head.item_alignment_), wanted.item_alignment);
  check_equal("the size of a place", once(head.place_bytes_), wanted.place_bytes);
  check_equal("the size of what stands first", once(head.fixed_bytes_), wanted.fixed_bytes);
  SharedRingShape shape = wanted;
  shape.capacity = once(head.capacity_);
  shape.producers = once(head.producers_);
  if ((shape.producers == 0) != (wanted.producers == 0) ||
      shape.producers > SharedRingShape::kMostProducers) {
    refuse_ring("it says it has " + std::to_string(shape.producers) + " producers");
  }
  if (!std::has_single_bit(shape.capacity) || shape.capacity > most_places(shape) ||
      needed_by(shape) > bytes.size()) {
    refuse_ring("it says it has " + std::to_string(shape.capacity) + " places, in a memory of " +
                std::to_string(bytes.size()) + " bytes");
  }
  return shape;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
