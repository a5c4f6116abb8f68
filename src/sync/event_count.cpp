// SPDX-License-Identifier: MIT
//
// The list of waiters and the sleep. The protocol and its proof: docs/design/event_count.md.
//
// Invariants, under mutex_:
//   EC-1  waiting_ is the number of linked waiters.
//   EC-2  A linked waiter is kRegistered or kAsleep. A thread that unlinks it for its own reason (a
//         notification, a stop) then sets that reason, exactly once.
//   EC-3  A waiter that finds itself unlinked knows that its reason is set or about to be.
#include <algorithm>
#include <handoff/probe/internal/slice.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/park.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

SpunWait::SpunWait(Spin spin, const char* cause) noexcept
    : Backoff(spin), is_seen(spin == Spin::allowed && probe::is_watched()) {
  if (is_seen) [[unlikely]]
    probe::seen(probe::Mark::begin, probe::Kind::spin, cause, nullptr);
}

SpunWait::~SpunWait() {
  if (is_seen) [[unlikely]]
    probe::end(probe::Kind::spin, nullptr);
}

// The caller holds mutex_.
void EventCount::unlink(Waiter& waiter) noexcept {
  Waiter* const next = waiter.next_.read();
  Waiter* const previous = waiter.previous_.read();
  // equivalent(swap): different links, all under the mutex
  (previous != nullptr ? previous->next_ : first_).write() = next;
  // equivalent(swap): different members, all under the mutex
  (next != nullptr ? next->previous_ : last_).write() = previous;
  waiter.linked_.write() = false;
  waiting_.fetch_sub(1, order::relaxed);  // order: relaxed, under mutex_ (EC-1)
}

void EventCount::append(Waiter& waiter) noexcept {
  const Lock lock(mutex_);
  Waiter* const last = last_.read();
  waiter.previous_.write() = last;
  waiter.linked_.write() = true;  // equivalent(swap): different members, all under the mutex
  // equivalent(swap): different links, all under the mutex; whose to write was chosen by a copy of
  // last_
  (last != nullptr ? last->next_ : first_).write() = &waiter;
  last_.write() = &waiter;
  waiting_.fetch_add(1, order::relaxed);  // order: relaxed, the fence in Waiter's constructor
}

// True if the waiter was still linked: then nobody has told it anything, and nobody will.
bool EventCount::remove(Waiter& waiter) noexcept {
  const Lock lock(mutex_);
  if (!waiter.linked_.read()) return false;
  unlink(waiter);
  return true;
}

void EventCount::notify_first() noexcept {
  Waiter* first = nullptr;
  {
    const Lock lock(mutex_);
    first = first_.read();
    if (first == nullptr) return;
    unlink(*first);
  }
  first->finish(Waiter::kNotified);
}

void EventCount::notify_each(std::uint32_t most) noexcept {
  // No more than wait now: later ones looked at the condition after it changed.
  // order: relaxed, ordered by the fence in somebody_waits().
  const std::uint32_t waiting = waiting_.load(order::relaxed);
  for (std::uint32_t left = std::min(most, waiting); left > 0; --left) notify_first();
}

EventCount::Waiter::Waiter(EventCount& events) noexcept : events_(events), state_(kRegistered) {
  events_.append(*this);
  fence(order::seq_cst);  // order: partner is the fence in somebody_waits(); see there
}

EventCount::Waiter::~Waiter() {
  if (waited_ || events_.remove(*this)) return;
  // Notified without having waited. The notifier may not have finished with this object yet.
  // equivalent(swap): passing a notification on and hearing the end of it are two things
  (void)sleep(no_deadline);
  events_.notify_one();
}

// Tells an unlinked waiter why, and wakes it if it sleeps.
void EventCount::Waiter::finish(State reason) noexcept {
  // order: release pairs with the acquires in sleep(): what led to the notification is visible to
  // the waiter. This is the last access to it; its address is only a name from here on.
  if (state_.exchange(reason, order::release) == kAsleep) unpark(state_, 1, ParkScope::process);
}

void EventCount::Waiter::stop(void* self) noexcept {
  auto& waiter = *static_cast<Waiter*>(self);
  if (waiter.events_.remove(waiter)) waiter.finish(kStopped);
}

Wakeup EventCount::Waiter::wait(Deadline deadline, const StopToken& token,
                                const char* cause) noexcept {
  waited_ = true;
  const probe::Slice asleep(probe::Kind::sleep, cause);
  // Runs at once if the stop was requested already. Its destructor waits for stop() to end, so
  // this object outlives that too.
  const StopCallback on_stop(token, &Waiter::stop, this);
  switch (sleep(deadline)) {
    case kStopped: return Wakeup::stopped;
    case kNotified: return Wakeup::notified;
    default: return Wakeup::timed_out;
  }
}

// Until somebody told it something, or, withdrawn by itself, the deadline passed (kAsleep).
std::uint32_t EventCount::Waiter::sleep(Deadline deadline) noexcept {
  std::uint32_t state = kRegistered;
  // order: relaxed on success, a word about this thread alone; acquire on failure pairs with the
  // release in finish().
  if (state_.compare_exchange_strong(state, kAsleep, order::relaxed, order::acquire)) {
    state = kAsleep;
  }
  while (state == kAsleep) {
    if (!park(state_, kAsleep, deadline, ParkScope::process)) {
      if (events_.remove(*this)) return kAsleep;
      // Late, but told something at the last moment: that is on its way (EC-3) and surely wakes us.
      deadline = no_deadline;
    }
    state = state_.load(order::acquire);  // order: acquire pairs with the release in finish()
  }
  return state;
}

}}}  // namespace handoff::HANDOFF_ABI::sync
