// SPDX-License-Identifier: MIT
//
// The gate in front of each handler: shut before start() and by pause(), and one word by which
// threads that wait make themselves known to those that run handlers.
//
// A thread that runs a handler says so in its slot, a GateSeat, then looks at the word; a thread
// that shuts the gate changes the word, and then looks at the slots. Between the two steps stand
// the halves of an asymmetric fence: so a pause costs a microsecond, and a message no
// read-modify-write.
//
// Invariant
//   MG-1  A thread runs a handler only if its slot, or outside_, has said so since before it last
//         found the gate open.
//
// Concurrency: any thread; a slot is its thread's.
// Order: what was done in front of a handler's leave() happens before the return of a pause() that
// is ok; what came before resume(), before what runs later.
// Blocks: enter(), while it is shut; pause(), await(). Allocates: the constructor; a wait with a
// std::stop_token. Throws: these, std::bad_alloc.
// Proof: docs/design/message_workers.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/status_of.hpp>
#include <handoff/core/internal/workplace.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/fence.hpp>
#include <handoff/sync/internal/relaxed.hpp>
#include <handoff/sync/internal/this_thread.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// A thread that works for the pool has one.
struct alignas(sync::destructive_span) GateSeat {
  sync::atomic<std::uint32_t> inside{0};  // 1: it runs a handler

  // For health(): the thread, -1 once it has ended; the message, and since when, 0 between two.
  // order: enter() publishes the type; leave(), which sets it to 0, the time.
  sync::relaxed<sync::KernelThread> thread;
  sync::relaxed<std::uint32_t> type;
  sync::relaxed<std::int64_t> since_ns;

  const void* running = nullptr;  // the thread's own: what it runs, innermost
};

class MessageGate {
 public:
  MessageGate(std::size_t seats, bool shut)
      : seats_(seats),
        seat_(std::make_unique<GateSeat[]>(seats)),
        word_(shut ? kNotStarted : 0),
        outside_(0),
        for_good_(false) {}

  GateSeat& seat(std::size_t index) const noexcept { return seat_[index]; }

  // In front of a handler.
  void enter(GateSeat& seat) noexcept {
    for (;;) {
      // order: release pairs with the acquire of health(): the slot is as it was left.
      seat.inside.store(1, sync::order::release);
      sync::asymmetric_fence_light();  // partner is the heavy half in pause(), MG-1
      if (is_open()) [[likely]]
        return;
      leave(seat);
      await_open();
    }
  }
  // Behind it.
  void leave(GateSeat& seat) noexcept {
    // order: release pairs with the acquire in is_quiet().
    seat.inside.store(0, sync::order::release);
    tell_quiet();
  }

  // The same for a thread that has no slot. If it runs a task of another executor, that one gets a
  // stand-in while it waits.
  void enter_outside() noexcept {
    for (;;) {
      outside_.fetch_add(1, sync::order::relaxed);  // order: relaxed, ordered by the fence
      sync::asymmetric_fence_light();  // partner is the heavy half in pause(), MG-1
      if (is_open()) return;
      leave_outside();
      const Lending lending;
      await_open();
    }
  }
  void leave_outside() noexcept {
    // order: release pairs with the acquire in is_quiet().
    outside_.fetch_sub(1, sync::order::release);
    tell_quiet();
  }

  // Whether it is shut, or somebody is in await(): then the thread that ended a message has to
  // tell. What it did before is visible to the condition of a waiting thread, or the word shows
  // that one waits.
  bool is_watched() const noexcept {
    sync::asymmetric_fence_light();  // partner is the heavy half in await() and pause()
    return word_.load(sync::order::relaxed) != 0;  // order: relaxed, ordered by the fence
  }

  // ok: condition() was true. Threads that may make it so look at is_watched() and tell `events`.
  // Looks for some microseconds before it makes itself known, which interrupts them.
  template <class Condition>
  Status await(sync::EventCount& events, const Condition& condition, const Until& until,
               const char* cause = "wait") {
    if (condition()) return Status::ok;
    for (sync::SpunWait spun(sync::spin_policy(), cause); spun.snooze();) {
      if (condition()) return Status::ok;
    }
    struct Waiting {
      explicit Waiting(MessageGate& gate) noexcept : gate_(gate) {
        gate_.word_.fetch_add(kOneWaits, sync::order::relaxed);  // order: relaxed, fenced below
        sync::asymmetric_fence_heavy();  // partner is the light half in is_watched()
      }
      ~Waiting() {
        gate_.word_.fetch_sub(kOneWaits, sync::order::relaxed);  // order: relaxed, too late is fine
      }
      MessageGate& gate_;
    };
    const Waiting waiting(*this);
    return status_of(
        events.await(condition, until.deadline(), until.stop_token(), sync::Spin::never, cause));
  }

  // ok: nothing runs until resume(). Any other: it goes on as if nobody had asked.
  Status pause(const Until& until) {
    {
      const sync::Lock lock(mutex_);
      if (for_good()) return Status::closed;
      ++pausing_;
      word_.fetch_or(kPaused, sync::order::relaxed);  // order: relaxed, fenced below
    }
    sync::asymmetric_fence_heavy();  // partner is the light half in enter(), MG-1
    struct Asking {
      ~Asking() { gate.end_pause(said); }
      MessageGate& gate;
      Status said = Status::stopped;  // also where the wait throws
    } asking{*this};
    const auto done = [this]() noexcept { return is_quiet() || for_good(); };
    asking.said = status_of(quiet_.await(done, until.deadline(), until.stop_token()));
    if (asking.said == Status::ok && for_good()) asking.said = Status::closed;
    return asking.said;
  }

  void resume() noexcept {
    const sync::Lock lock(mutex_);
    held_ = false;
    if (pausing_ == 0) open(kPaused);
  }

  bool is_started() const noexcept {
    // order: relaxed, a look of the thread that starts it or closes it.
    return (word_.load(sync::order::relaxed) & kNotStarted) == 0;
  }
  void start() noexcept { open(kNotStarted); }

  // Also if a thread pauses or has paused it, or if nobody started it.
  void open_for_good() noexcept {
    {
      const sync::Lock lock(mutex_);
      // equivalent(swap): a pause that finds all quiet between the two came before the close
      for_good_.store(true, sync::order::relaxed);  // order: relaxed, told below
      open(kShut);
    }
    quiet_.notify_all();
  }

 private:
  template <class>
  friend struct Books;

  // In word_.
  static constexpr std::uint32_t kPaused = 1;
  static constexpr std::uint32_t kNotStarted = 2;
  static constexpr std::uint32_t kShut = kPaused | kNotStarted;
  static constexpr std::uint32_t kOneWaits = 4;

  bool is_open() const noexcept {
    // order: acquire pairs with the release in open(): what came before resume().
    return (word_.load(sync::order::acquire) & kShut) == 0;
  }
  bool for_good() const noexcept {
    return for_good_.load(sync::order::relaxed);  // order: relaxed, a flag alone
  }

  void open(std::uint32_t what) noexcept {
    word_.fetch_and(~what, sync::order::release);  // order: release, see is_open()
    opened_.notify_all();
  }
  // No spinning: the pausing thread may need the CPU.
  void await_open() noexcept {
    (void)opened_.await([this]() noexcept { return is_open(); }, sync::no_deadline, {},
                        sync::Spin::never);
  }

  void end_pause(Status said) noexcept {
    const sync::Lock lock(mutex_);
    --pausing_;
    if (said == Status::ok) held_ = true;
    if (pausing_ == 0 && !held_) open(kPaused);
  }

  void tell_quiet() noexcept {
    sync::asymmetric_fence_light();  // partner is the heavy half in pause()
    // order: relaxed, ordered by the fence.
    if ((word_.load(sync::order::relaxed) & kPaused) != 0) [[unlikely]]
      quiet_.notify_all();
  }
  bool is_quiet() const noexcept {
    // order: acquire, both, pair with the releases in leave() and leave_outside().
    if (outside_.load(sync::order::acquire) != 0) return false;
    for (std::size_t i = 0; i < seats_; ++i) {
      if (seat_[i].inside.load(sync::order::acquire) != 0) return false;  // order: as above
    }
    return true;
  }

  const std::size_t seats_;
  const std::unique_ptr<GateSeat[]> seat_;
  alignas(sync::destructive_span) sync::atomic<std::uint32_t> word_;
  alignas(sync::destructive_span) sync::atomic<std::uint32_t> outside_;
  sync::atomic<bool> for_good_;
  sync::EventCount opened_;  // threads about to run a handler
  sync::EventCount quiet_;  // threads that pause

  sync::Mutex mutex_;
  std::uint32_t pausing_ = 0;  // calls of pause() under way
  bool held_ = false;  // one has returned ok, and no resume() came since
};

}}}  // namespace handoff::HANDOFF_ABI::detail
