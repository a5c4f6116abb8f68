// SPDX-License-Identifier: MIT
//
// The ends of a queue in shared memory where they meet the other one: looks at its position, the
// close, the sleep.
#include <handoff/process/detail/shared_ends.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/internal/shared_fence.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

void SharedPositions::close() noexcept {
  items.close();
  room.disturb();
}

void SharedPositions::disturb() noexcept {
  items.disturb();
  room.disturb();
}

// --- The producer. ---

SharedProducerEnd::SharedProducerEnd(SharedPositions& shared, std::uint64_t capacity) noexcept
    : SharedEnd(shared, shared.tail.own(), capacity) {
  limit_to(shared.head.seen() + capacity);
}

Status SharedProducerEnd::look_for_room(std::uint64_t count) noexcept {
  limit_to(shared_->head.seen() + capacity_);
  if (damaged()) return Status::closed;
  return left() >= count ? Status::ok : Status::full;
}

Status SharedProducerEnd::wait_for_room(std::uint64_t count, const Until& until) {
  Status status = Status::full;
  const Status waited =
      shared_->room.await([&] { return (status = reserve(count)) != Status::full; }, until,
                          BellSleepers::one, patience_);
  return waited == Status::ok ? status : waited;
}

// The consumer sleeps, or the ring was closed while this was pushed.
Status SharedProducerEnd::publish_to(std::uint32_t seen) noexcept {
  if ((seen & SharedBell::kAsleep) != 0) shared_->items.wake();
  if ((seen & SharedBell::kClosed) == 0) return Status::ok;
  std::uint64_t end = 0;
  // order: release pairs with the acquire in drained(): a consumer that goes on up to there finds
  // what was pushed. The failure needs none, only the number counts.
  if (shared_->end.compare_exchange_strong(end, position() + 1, sync::order::release,
                                           sync::order::relaxed)) {
    return Status::ok;
  }
  // The consumer was first. It ended where it found nothing: behind this push or before it.
  return end == position() + 1 ? Status::ok : Status::closed;
}

// --- The consumer. ---

SharedConsumerEnd::SharedConsumerEnd(SharedPositions& shared, std::uint64_t capacity) noexcept
    : SharedEnd(shared, shared.head.own(), capacity) {
  // order: acquire pairs with the release in publish_to().
  const std::uint64_t end = shared.end.load(sync::order::acquire);
  if (end == 0) {
    look_for_items();
  } else {
    end_at(end - 1);  // a push that was refused may lie behind
  }
}

void SharedConsumerEnd::end_at(std::uint64_t position) noexcept {
  ended_ = true;
  limit_to(position);
}

void SharedConsumerEnd::look_for_items() noexcept {
  if (!ended_ && !damaged()) limit_to(shared_->tail.seen());
}

// The ring is closed and there was nothing.
Status SharedConsumerEnd::drained() noexcept {
  if (ended_ || damaged()) return Status::closed;
  // Partner is the light half in SharedBell::look(). If the producer did not see the close behind
  // its push, its half came first, and the look below finds the push.
  if (!sync::shared_fence_heavy()) {
    // The kernel refuses it. A store is seen by all long before this ends.
    for (sync::Backoff backoff(sync::Spin::allowed); backoff.snooze();) {
    }
  }
  look_for_items();
  if (left() != 0) return Status::ok;
  std::uint64_t end = 0;
  // order: relaxed on success, only the number counts. Acquire on failure pairs with the release in
  // publish_to(): what was pushed is there.
  if (!damaged() && !shared_->end.compare_exchange_strong(end, position() + 1, sync::order::relaxed,
                                                          sync::order::acquire)) {
    end_at(end - 1);
  }
  ended_ = true;
  return left() != 0 ? Status::ok : Status::closed;
}

Status SharedConsumerEnd::wait_for_items(const Until& until) {
  Status status = Status::empty;
  const Status waited = shared_->items.await([&] { return (status = look()) != Status::empty; },
                                             until, BellSleepers::one, patience_);
  return waited == Status::ok ? status : waited;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
