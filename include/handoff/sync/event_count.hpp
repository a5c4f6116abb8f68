// SPDX-License-Identifier: MIT
//
// The one way to sleep until another thread has made a condition true.
//
// The condition is in the caller's own variables (a queue that is not empty, a count that is zero).
// The EventCount only reports that it may have changed. A thread that changes the condition calls
// notify_*() afterwards; a thread that needs the condition waits:
//
//   Wakeup why = events.await([&] { return queue.try_pop(item) == Status::ok; });  // the usual way
//
//   EventCount::Waiter waiter(events);                                        // or step by step
//   if (condition()) return;             // look again AFTER the Waiter is made
//   why = waiter.wait();                 // ~Waiter withdraws it if it never waited
//
// For: every blocking call of the library. Not for: carrying data, or waking a chosen thread.
// Concurrency: notify_*() and await() are thread-safe; a Waiter belongs to its thread. The
// EventCount must outlive its waiters and every notify_*().
// Order: the notifier changes the condition before notify_*(); the waiter looks at it after
// Waiter's constructor. Then either the look sees the change or the waiter is notified: no wake-up
// is lost (proof in docs/design/event_count.md). The thread that waits longest is notified first.
// notify_*() begins with a seq_cst fence, which the caller may rely on.
// Blocks: await() and wait(). notify_*() takes a short lock if a thread waits.
// Cost: without a waiter, notify_*() is a fence and a load. It makes a system call only for a
// thread that is asleep, and unlinks that thread at once, so that none is woken twice.
// Allocates, throws: never (await: what the condition throws).
// Source: the idea and the name are from D. Reed and R. Kanodia (1979), the two-phase wait from
// D. Vyukov's eventcount.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/fence.hpp>
#include <handoff/sync/mutex.hpp>
#include <handoff/sync/stop_token.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

// Why a wait ended. A waiter that was notified says so even if its time was up as well: the
// notification was meant for it, and it has to look.
enum class [[nodiscard]] Wakeup : std::uint8_t {
  notified,  // the condition was true, or notify_*() said that it may be
  stopped,  // a stop was requested
  timed_out,  // the deadline passed
};

// The first part of a wait, while it spins: a trace shows it by its cause, see probe::Kind. Not for
// users.
struct SpunWait : Backoff {
  SpunWait(Spin spin, const char* cause) noexcept;
  ~SpunWait();
  const bool is_seen;
};

class EventCount {
 public:
  class Waiter;

  EventCount() noexcept : waiting_(0) {}
  EventCount(const EventCount&) = delete;
  EventCount& operator=(const EventCount&) = delete;

  // Call after the condition changed. Wakes the one that has waited longest, if any waits.
  void notify_one() noexcept {
    if (somebody_waits()) [[unlikely]]
      notify_first();
  }
  // ... and those behind it, `most` in all.
  void notify_some(std::uint32_t most) noexcept {
    if (somebody_waits()) [[unlikely]]
      notify_each(most);
  }
  // ... and all others that wait now.
  void notify_all() noexcept { notify_some(~std::uint32_t{0}); }

  // Returns once `condition()` was true (notified), or the stop was requested, or the deadline
  // passed; the condition is asked last of all, so `notified` means exactly that it was true.
  // Spins first if `spin` allows. `cause`: what the wait is called in a trace, see probe::Kind.
  template <class Condition>
  Wakeup await(Condition&& condition, Deadline deadline = no_deadline, const StopToken& stop = {},
               Spin spin = spin_policy(), const char* cause = "wait");

  // How many wait now; racy by name.
  std::uint32_t was_waiting() const noexcept {
    return waiting_.load(order::relaxed);  // order: relaxed, a hint to the caller
  }

 private:
  bool somebody_waits() const noexcept {
    // order: seq_cst fence, partner is the one in Waiter's constructor. One of the two fences
    // comes first: if this one, the waiter's look after its fence sees the changed condition; if
    // the waiter's, the load below sees it counted.
    fence(order::seq_cst);
    return waiting_.load(order::relaxed) != 0;  // order: relaxed, ordered by the fence above
  }

  void notify_first() noexcept;
  void notify_each(std::uint32_t most) noexcept;
  void append(Waiter& waiter) noexcept;
  bool remove(Waiter& waiter) noexcept;
  void unlink(Waiter& waiter) noexcept;

  // Linked waiters, first come first; waiting_ is their number. Changed under the mutex only.
  Mutex mutex_;
  atomic<std::uint32_t> waiting_;
  cell<Waiter*> first_;
  cell<Waiter*> last_;
};

// One wait of one thread, on its stack. From the constructor on it may be notified.
class EventCount::Waiter {
 public:
  explicit Waiter(EventCount& events) noexcept;

  // If it was notified and never waited, the next waiter gets the notification: it may have been
  // about more than what this thread found by itself.
  ~Waiter();
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // Sleeps until notified, stopped or late. At most once.
  Wakeup wait(Deadline deadline = no_deadline, const StopToken& stop = {},
              const char* cause = "wait") noexcept;

 private:
  friend class EventCount;

  // The waiter goes from registered to asleep. The thread that unlinks it stores notified or
  // stopped, and wakes it if it was asleep. After that store the Waiter may be gone.
  enum State : std::uint32_t { kRegistered, kAsleep, kNotified, kStopped };

  void finish(State reason) noexcept;
  std::uint32_t sleep(Deadline deadline) noexcept;
  static void stop(void* waiter) noexcept;

  EventCount& events_;
  atomic<std::uint32_t> state_;
  cell<Waiter*> next_;
  cell<Waiter*> previous_;
  cell<bool> linked_;
  bool waited_ = false;
};

template <class Condition>
Wakeup EventCount::await(Condition&& condition, Deadline deadline, const StopToken& stop, Spin spin,
                         const char* cause) {
  if (condition()) return Wakeup::notified;
  for (SpunWait spun(spin, cause); spun.snooze();) {
    if (condition()) return Wakeup::notified;
  }
  for (;;) {
    Waiter waiter(*this);
    if (condition()) return Wakeup::notified;
    const Wakeup wakeup = waiter.wait(deadline, stop, cause);
    if (wakeup != Wakeup::notified) return condition() ? Wakeup::notified : wakeup;
  }
}

}}}  // namespace handoff::HANDOFF_ABI::sync
