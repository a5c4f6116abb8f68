// SPDX-License-Identifier: MIT
//
// A word in shared memory that sleepers of several processes wait on. Not for users.
//
//   ringer:   change;  light fence;  asleep ?  then a new epoch, wake all
//   sleeper:  asleep;  heavy fence;  look;     sleep while the word is what it was
//
// The fences are those of shared_fence.hpp. One of the two comes first: if the ringer's, the look
// sees the change; if the sleeper's, the ringer sees the mark. No system call is made for a process
// that is awake. Any process may die at any step here. A dead sleeper leaves its mark: one wake-up
// for nobody. A dead ringer may have taken the mark away and woken nobody: so what tells of its
// death disturbs() the bell. The word holds a hint and the close bit, nothing that anybody trusts:
// a hostile value costs a look or a sleep, which ends as the caller's Until says.
//   SB-1  A sleeper sleeps on the value that its mark made or found; each wake-up, disturb() and
//         close() makes another one. So a wake-up that comes before the sleep prevents it.
//   SB-2  The close bit is never taken away.
// Concurrency: thread-safe. Blocks: await(). Allocates: await(), as Until does.
// Proof: docs/design/shared_ring.md.
#pragma once

#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>
#include <handoff/process/detail/bell_patience.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/shared_fence.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Whether others may sleep on the same bell: one that is alone takes its mark away when it does not
// sleep after all.
enum class BellSleepers : std::uint8_t { one, many };

class SharedBell {
 public:
  static constexpr std::uint32_t kAsleep = 1;
  static constexpr std::uint32_t kClosed = 2;

  SharedBell() noexcept : word_(0) {}

  // By the ringer, after its change: 0 if there is nothing else to do; else the word.
  [[nodiscard]] std::uint32_t look() const noexcept {
    // Partner is the heavy fence in mark() and, for the close bit, in SharedConsumerEnd::drained().
    sync::shared_fence_light();
    // order: relaxed, ordered by the fence above.
    return word_.load(sync::order::relaxed) & (kAsleep | kClosed);
  }
  // look(), and wakes.
  void ring() noexcept {
    if ((look() & kAsleep) != 0) [[unlikely]]
      wake();
  }
  // All that sleep, if any is marked.
  void wake() noexcept;
  // All that sleep, marked or not: for a ringer that died.
  void disturb() noexcept;

  // Sets the close bit and wakes all.
  void close() noexcept;
  // What came before close() happens before a true.
  [[nodiscard]] bool closed() const noexcept {
    // order: acquire pairs with the release in close().
    return (word_.load(sync::order::acquire) & kClosed) != 0;
  }

  // Until `condition()` was true (ok), a stop or the deadline. Spins first where that can help.
  template <class Condition>
  Status await(const Condition& condition, const Until& until, BellSleepers sleepers,
               BellPatience& patience) {
    for (BellSpin spin = patience.spin();;) {
      if (condition()) {
        patience.found(spin);
        return Status::ok;
      }
      if (!spin.again()) break;
    }
    const sync::StopToken stop = until.stop_token();
    for (;;) {
      const Mark mine = mark();
      if (condition()) {
        withdraw(sleepers);
        return Status::ok;
      }
      const Status slept = sleep(mine, until.deadline(), stop, patience);
      if (slept == Status::ok) {
        if (condition()) return Status::ok;  // without a mark that would cost a wake-up
        continue;
      }
      withdraw(sleepers);
      return condition() ? Status::ok : slept;
    }
  }
  // By a waiter that remembers nothing.
  template <class Condition>
  Status await(const Condition& condition, const Until& until, BellSleepers sleepers) {
    BellPatience patience;
    return await(condition, until, sleepers, patience);
  }

 private:
  static constexpr std::uint32_t kEpoch = 4;

  struct Mark {
    std::uint32_t seen;
    bool is_ordered;  // whether a ringer surely sees it
  };
  Mark mark() noexcept;
  void withdraw(BellSleepers sleepers) noexcept;
  // ok: woken, perhaps for no reason.
  Status sleep(const Mark& mine, sync::Deadline deadline, const sync::StopToken& stop,
               BellPatience& patience) noexcept;
  static void stop(void* self) noexcept;

  sync::atomic<std::uint32_t> word_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
