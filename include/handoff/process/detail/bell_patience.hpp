// SPDX-License-Identifier: MIT
//
// How long a wait for another process spins before it sleeps. Not for users.
//
//   for (BellSpin spin = patience.spin();;) {
//     if (condition()) return patience.found(spin);
//     if (!spin.again()) break;  // spent: sleep
//   }
//
// Between two looks is one pause. A spin whose pauses grow, as Backoff's do, looks up to twice too
// late; here nobody is disturbed by the looks, which read what only the other process changes.
// A waiter that has spun before it slept has used up its share of the CPU: where the kernel wakes
// it on its waker's CPU, it may not interrupt that one any more, and waits until that one sleeps or
// its share is over. So after a long sleep the next spin is short. The sleep after that says
// whether this was right: a wait for a process that is awake is over soon.
// The kernel may also have put both processes on one CPU, where the other one cannot answer while
// this one spins. A yield lets it answer at once. So after a wait that a yield has ended, the next
// one yields early. Otherwise yields come last, since a yield may give the CPU to another program
// for milliseconds. After an early yield that took so long, yields come last again.
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

// One spin: pauses and then yields, or yields after the first pauses.
class BellSpin {
 public:
  enum class Yields : bool { last, early };

  BellSpin(std::uint32_t pauses, std::uint32_t yields, Yields when = Yields::last) noexcept
      : left_(pauses + yields),
        above_(when == Yields::early ? pauses - kBefore : 0),
        up_to_(above_ + yields) {}

  // After a look in vain: false once it is time to sleep.
  [[nodiscard]] bool again() noexcept {
    if (left_ == 0) return false;
    const bool yields = above_ < left_ && left_ <= up_to_;
    --left_;
    if (!yields) {
      sync::pause();
      yielded_ = false;
    } else if (above_ == 0) {
      sync::yield();
      yielded_ = true;
    } else {
      const sync::clock::time_point begin = sync::clock::now();
      sync::yield();
      yielded_ = sync::clock::now() - begin < kTurn;
    }
    return true;
  }
  // Whether a yield came before the last look; of an early one, whether it was short.
  [[nodiscard]] bool yielded() const noexcept { return yielded_; }

 private:
  // A process that answers needs less; the share of a stranger is some milliseconds.
  static constexpr sync::clock::duration kTurn = std::chrono::microseconds(100);
  // Before early yields. One that answers from another CPU is found by then, and yields are late
  // again.
  static constexpr std::uint32_t kBefore = 32;

  std::uint32_t left_;
  std::uint32_t above_;  // yields while left_ is above this one
  std::uint32_t up_to_;  // and up to that one
  bool yielded_ = false;
};

// What a waiter remembers from wait to wait.
class BellPatience {
 public:
  [[nodiscard]] BellSpin spin() const noexcept {
    if (sync::shared_spin_policy() == sync::Spin::never) return {0, 0};
    return slept_long_ ? BellSpin{kShort, 0} : BellSpin{kPauses, kYields, yields_};
  }
  // What was waited for was there before that spin was spent.
  void found(const BellSpin& spin) noexcept {
    yields_ = spin.yielded() ? BellSpin::Yields::early : BellSpin::Yields::last;
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
  BellSpin::Yields yields_ = BellSpin::Yields::last;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
