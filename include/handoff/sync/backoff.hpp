// SPDX-License-Identifier: MIT
//
// How long to spin before sleeping: spins a little, yields a little, then says that it is spent.
//
//   for (Backoff backoff; !ready();) {
//     if (!backoff.snooze()) { ... }  // spent: sleep until it is ready
//   }
//
// Spinning helps only while the awaited thread runs on another CPU. If it cannot (one CPU, a quota
// below two, more threads than CPUs), use Spin::never: such a Backoff is spent from the start. A
// Backoff is spent after 10 to 40 microseconds (`pause` takes 40 to 140 cycles). A sleep and a
// wake-up take about the same time, so this wait costs at most twice as much as the best choice in
// hindsight (the ski-rental argument).
// Concurrency: one thread owns it. Blocks, allocates, throws: never.
// Source: the names and steps follow the Backoff of crossbeam-utils.
#pragma once

#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/sync/internal/pause.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

// Whether a wait may begin by spinning.
enum class Spin : std::uint8_t {
  allowed,  // for some microseconds
  never,  // the thread that is waited for cannot be running meanwhile
};

// Spin::allowed if at least two threads of this process can run at the same moment (cpu_budget.hpp,
// asked once). The first call in a process reads files and allocates: a type whose other calls must
// not allocate calls it in its constructor.
Spin spin_policy() noexcept;

class Backoff {
 public:
  // Fresh; with Spin::never spent from the start.
  explicit Backoff(Spin spin = spin_policy()) noexcept
      : first_(spin == Spin::allowed ? 0 : kSpent), step_(first_) {}

  // After losing a race: the winner made progress, so a short pause is enough. Never says no.
  void spin() noexcept {
    pause_for(step_);
    if (step_ < kSpinSteps) ++step_;
  }

  // While waiting for another thread. False once it is time to sleep.
  [[nodiscard]] bool snooze() noexcept {
    if (step_ >= kSpent) return false;
    if (step_ < kYieldFrom) {
      pause_for(step_);
    } else {
      yield();
    }
    ++step_;
    return true;
  }

  // The same where sleeping is no choice: yields instead, and begins again.
  void snooze_on() noexcept {
    if (snooze()) return;
    yield();
    reset();
  }

  // Begins again: there was progress.
  void reset() noexcept { step_ = first_; }

 private:
  static void pause_for(std::uint32_t step) noexcept {
    const std::uint32_t pauses = 1U << (step < kSpinSteps ? step : kSpinSteps);
    for (std::uint32_t i = 0; i < pauses; ++i) pause();
  }

  static constexpr std::uint32_t kSpinSteps = 6;  // 1 + 2 + ... + 32 pauses, then 64 each
  static constexpr std::uint32_t kYieldFrom = 14;  // 8 rounds of 64 pauses
  static constexpr std::uint32_t kSpent = 18;  // 4 yields

  std::uint32_t first_;  // where it begins
  std::uint32_t step_;
};

}}}  // namespace handoff::HANDOFF_ABI::sync
