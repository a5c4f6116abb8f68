// SPDX-License-Identifier: MIT
#include <handoff/core/internal/status_of.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/memory/frame.hpp>
#include <handoff/sync/internal/allocate.hpp>
#include <memory>
#include <new>

#include "../sync/internal/seen_sanitizer.hpp"

namespace handoff { inline namespace HANDOFF_ABI {

using sync::order;

namespace {

constexpr std::size_t kInFlightMost = 64;

std::size_t checked_in_flight(std::size_t in_flight) {
  if (in_flight == 0 || in_flight > kInFlightMost) {
    misuse("a Frame has from 1 to 64 frames in flight");
  }
  return in_flight;
}

}  // namespace

Frame::Frame(const FrameOptions& options) : in_flight_(checked_in_flight(options.in_flight)) {
  slots_ = static_cast<Slot*>(sync::allocate(in_flight_ * sizeof(Slot), alignof(Slot)));
  const LinearArenaOptions arena{.chunk_bytes = options.chunk_bytes};
  for (std::size_t i = 0; i < in_flight_; ++i) ::new (&slots_[i]) Slot(arena);
  // order: relaxed, nobody else is there.
  slot(1).word.store(std::uint64_t{1} << kHoldBits, order::relaxed);
}

Frame::~Frame() {
  for (std::size_t i = 0; i < in_flight_; ++i) {
    // order: relaxed, the end of a hold that came before is seen.
    if ((slots_[i].word.load(order::relaxed) & kHolds) != 0) {
      misuse("a Frame was destroyed while it was held: a hold ends before its frame");
    }
    std::destroy_at(&slots_[i]);
  }
  sync::deallocate(slots_, in_flight_ * sizeof(Slot), alignof(Slot));
}

bool Frame::enter(std::uint64_t number) noexcept {
  sync::atomic<std::uint64_t>& word = slot(number).word;
  std::uint64_t now = word.load(order::relaxed);  // order: relaxed, the exchange looks again
  while (number_of(now) == number && (now & kHolds) != kHolds) {
    // order: acquire pairs with the release in next() that gave the slot its number.
    if (word.compare_exchange_weak(now, now + 1, order::acquire, order::relaxed)) return true;
  }
  return false;
}

void Frame::leave(std::uint64_t number) noexcept {
  // order: release pairs with the acquire in shut(): what the holder read comes before.
  const std::uint64_t before = slot(number).word.fetch_sub(1, order::release);
  if ((before & kHolds) == 1) left_.notify_one();
}

// Whether nobody holds the slot; then nobody will, before it has its next number.
bool Frame::shut(Slot& slot) noexcept {
  std::uint64_t now = slot.word.load(order::relaxed);  // order: relaxed, the exchange looks again
  while ((now & kHolds) == 0) {
    // order: acquire pairs with the release in leave(), of every hold that there was.
    if (slot.word.compare_exchange_weak(now, kNobody << kHoldBits, order::acquire,
                                        order::relaxed)) {
      return true;
    }
  }
  return false;
}

Frame::Hold Frame::hold() noexcept { return try_hold(number()); }

Frame::Hold Frame::try_hold(std::uint64_t number) noexcept {
  if (number == 0 || !enter(number)) return {};
  return {*this, number};
}

Status Frame::next(const Until& until) {
  // order: relaxed, only next() writes it.
  const std::uint64_t number = number_.load(order::relaxed) + 1;
  Slot& oldest = slot(number);
  if (!shut(oldest)) {
    const Status status = detail::status_of(
        left_.await([&] { return shut(oldest); }, until.deadline(), until.stop_token()));
    if (status != Status::ok) return status;
  }
  sync::tell_taken(sync::end_of(this));
  oldest.spaces.reset();  // equivalent(swap): nothing was made in it yet, so nobody reads it
  sync::tell_given(this);
  // order: release, twice: pairs with the acquires in enter() and alive(), and in number().
  oldest.word.store(number << kHoldBits, order::release);
  number_.store(number, order::release);  // order: as above
  return Status::ok;
}

std::size_t Frame::memory() const noexcept {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < in_flight_; ++i) bytes += slots_[i].spaces.memory();
  return bytes;
}

}}  // namespace handoff::HANDOFF_ABI
