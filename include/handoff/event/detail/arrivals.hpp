// SPDX-License-Identifier: MIT
//
// Threads that sleep until something is in an event queue, and how they are told. Not for: users.
//
// A thread that puts something in wakes one. A thread that takes, and leaves something, wakes the
// next: so a batch, of which only one is told, wakes as many as it takes and no more. While a hold
// lives nobody is told but by wake(); the end of the last one tells one. While somebody waits for
// room, which only a taker makes, a hold holds nothing back: others may fill the room, and the next
// thread to take it out is to hear of it. Concurrency: any thread. Blocks: wait().
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/rare_sleepers.hpp>
#include <handoff/core/internal/status_of.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/fence.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class Arrivals {
 public:
  static constexpr std::uint32_t kAll = std::numeric_limits<std::uint32_t>::max();

  // After something was put in; or left behind, or found out, under the lock that a look takes.
  void tell() noexcept {
    if (sleepers_.anybody()) [[unlikely]]
      tell_one();
  }
  // Though there are holds.
  void wake(std::uint32_t most) noexcept { events_.notify_some(most); }
  bool anybody_sleeps() const noexcept { return sleepers_.anybody(); }

  void hold() noexcept {
    holds_.fetch_add(1, sync::order::relaxed);  // order: relaxed, of this thread's own events
  }
  // `any()`: whether there is something.
  template <class Any>
  void release(const Any& any) noexcept {
    // order: relaxed, ordered by the fence
    if (holds_.fetch_sub(1, sync::order::relaxed) % kOneWaits != 1) return;
    sync::fence(sync::order::seq_cst);  // order: partner is the fence in tell_one()
    if (any()) events_.notify_one();
  }
  bool held() const noexcept {
    // order: relaxed. The last hold's end notifies, and so does a thread that waits for room, once
    // it has said so.
    const std::uint64_t holds = holds_.load(sync::order::relaxed);
    return holds != 0 && holds < kOneWaits;
  }

  // Lives as long as its thread waits for room.
  class WaitForRoom {
   public:
    explicit WaitForRoom(Arrivals& arrivals) noexcept : arrivals_(arrivals) {
      // order: relaxed, ordered by the fence
      arrivals_.holds_.fetch_add(kOneWaits, sync::order::relaxed);
      // order: seq_cst fence, partner is the one in tell_one(): either that one sees that nothing
      // is held back, or the taker that this thread wakes from here on sees the event.
      sync::fence(sync::order::seq_cst);
    }
    ~WaitForRoom() {
      // order: relaxed, a hold counts again
      arrivals_.holds_.fetch_sub(kOneWaits, sync::order::relaxed);
    }
    WaitForRoom(const WaitForRoom&) = delete;
    WaitForRoom& operator=(const WaitForRoom&) = delete;

   private:
    Arrivals& arrivals_;
  };

  // Until `ready()` is true (ok), a stop or the deadline. Looks for `spin_for` before it sleeps.
  template <class Ready>
  Status wait(const Ready& ready, std::chrono::nanoseconds spin_for, const Until& until) {
    if (look_until(ready, spin_for, until, "idle")) return Status::ok;
    const RareSleepers::Asleep asleep(sleepers_);
    return status_of(
        events_.await(ready, until.deadline(), until.stop_token(), sync::Spin::never, "idle"));
  }

 private:
  template <class>
  friend struct Books;

  [[gnu::noinline]] void tell_one() noexcept {
    // order: seq_cst fence, partners are those in release() and WaitForRoom: either this sees that
    // nobody holds notifications back, or that one, or the thread that it wakes, sees the event.
    sync::fence(sync::order::seq_cst);
    if (!held()) events_.notify_one();
  }

  RareSleepers sleepers_;
  // In one word, which each event of a batch reads while somebody sleeps: the holds, and kOneWaits
  // for each thread that waits for room.
  static constexpr std::uint64_t kOneWaits = std::uint64_t{1} << 32U;
  sync::atomic<std::uint64_t> holds_{0};
  sync::EventCount events_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
