// SPDX-License-Identifier: MIT
//
// How long a wait for another process spins before it sleeps. Not for users.
//
//   for (BellSpin spin = patience.spin();;) {
//     if (condition()) return;
//     if (!spin.again()) break;  // spent: sleep
//   }
//
// Between two looks is one pause. A spin whose pauses grow, as Backoff's do, looks up to twice too
// late; here nobody is disturbed by the looks, which read what only the other process changes.
// A waiter that has spun before it slept has used up its share of the CPU: where the kernel wakes
// it on its waker's CPU, it may not interrupt that one any more, and waits until that one sleeps or
// its share is over. So after a long sleep the next spin is short. The sleep after that says
// whether this was right: a wait for a process that is awake is over soon.
// Concurrency: one thread owns it. Blocks, allocates, throws: never.
#pragma once

#include <chrono>
#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/internal/pause.hpp>
#include <handoff/sync/internal/shared_fence.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// One spin.
class BellSpin {
 public:
  BellSpin(std::uint32_t pauses, std::uint32_t yields) noexcept
      : left_(pauses + yields), yields_(yields) {}

  // After a look in vain: false once it is time to sleep.
  [[nodiscard]] bool again() noexcept {
    if (left_ == 0) return false;
    if (left_-- > yields_) {
      sync::pause();
    } else {
      sync::yield();
    }
    return true;
  }

 private:
  std::uint32_t left_;
  std::uint32_t yields_;
};

// What a waiter remembers from wait to wait.
class BellPatience {
 public:
  [[nodiscard]] BellSpin spin() const noexcept {
    if (sync::shared_spin_policy() == sync::Spin::never) return {0, 0};
    return slept_long_ ? BellSpin{kShort, 0} : BellSpin{kPauses, kYields};
  }
  void slept(sync::clock::duration time) noexcept { slept_long_ = time > kLong; }

 private:
  // Together about as long as a sleep and a wake-up, 20 to 40 microseconds.
  static constexpr std::uint32_t kPauses = 576;
  static constexpr std::uint32_t kYields = 4;
  // What follows a message at once is found without a sleep.
  static constexpr std::uint32_t kShort = 128;
  // Two wake-ups are shorter, so two processes that answer each other do not go on sleeping.
  static constexpr sync::clock::duration kLong = std::chrono::microseconds(200);

  bool slept_long_ = false;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
