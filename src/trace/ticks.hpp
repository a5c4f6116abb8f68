// SPDX-License-Identifier: MIT
//
// The clock of the events: the processor's counter of cycles where it runs evenly, else
// CLOCK_MONOTONIC.
//
// The counter is taken where the processor says that it never changes its rate and the kernel uses
// it as its own clock, which it does where the CPUs agree. One look costs a third of a call of the
// system's clock. Its rate is measured once a trace, over the time since its start.
// Concurrency: any thread. Blocks, allocates, throws: never.
#pragma once

#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/sync/clock.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace trace {

inline std::uint64_t clock_ticks() noexcept {
  return static_cast<std::uint64_t>(sync::clock::now().time_since_epoch().count());
}
#if defined(__x86_64__)
inline std::uint64_t cycle_ticks() noexcept { return __builtin_ia32_rdtsc(); }
#else
inline std::uint64_t cycle_ticks() noexcept { return clock_ticks(); }
#endif
inline std::uint64_t ticks_now(bool by_cycles) noexcept {
  return by_cycles ? cycle_ticks() : clock_ticks();
}

// Whether the counter of cycles is a clock.
bool cycles_are_even() noexcept;

// A moment on both clocks, and how long a tick is.
class TickRate {
 public:
  // Now.
  explicit TickRate(bool by_cycles) noexcept;

  std::uint64_t start() const noexcept { return start_; }
  // Ticks now.
  std::uint64_t now() const noexcept { return ticks_now(by_cycles_); }

  // Since the start.
  sync::clock::duration age() const noexcept { return sync::clock::now() - moment_; }

  // Measures the rate, once, over the time since the start; before that all is ticks.
  void measure() noexcept;
  std::int64_t nanoseconds(std::int64_t ticks) const noexcept {
    return by_cycles_ ? static_cast<std::int64_t>(static_cast<double>(ticks) * per_tick_) : ticks;
  }

 private:
  const bool by_cycles_;
  sync::clock::time_point moment_;
  std::uint64_t start_;
  double per_tick_ = 0;  // nanoseconds; 0: not measured
};

}}}  // namespace handoff::HANDOFF_ABI::trace
