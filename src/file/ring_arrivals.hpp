// SPDX-License-Identifier: MIT
//
// Runs on their way to the thread of a ring, which sleeps in the kernel and is woken by a bell. One
// word says what has come and whether anybody has to ring.
//
// Labelled invariant:
//   RG-1  The word says asleep only from just before the thread waits until it takes what came. The
//         put() that finds it so replaces it and rings: a start is never slept through, and a
//         sleep is rung at most once.
//
// Concurrency: put() and end() by any thread, all else by the ring's. Blocks, allocates: never.
#pragma once

#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <utility>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// `Run` has a member queued_behind, a pointer to one.
template <class Run>
class RingArrivals {
 public:
  // True: the bell must be rung.
  [[nodiscard]] bool put(Run& run) noexcept {
    // order: relaxed, the exchange below says whether it is still so.
    std::uintptr_t before = word_.load(sync::order::relaxed);
    do {
      run.queued_behind = before <= kEnded ? nullptr : reinterpret_cast<Run*>(before);
      // order: release pairs with the acquire in take(): the run. Relaxed on failure.
    } while (!word_.compare_exchange_weak(before, reinterpret_cast<std::uintptr_t>(&run),
                                          sync::order::release, sync::order::relaxed));
    return before == kAsleep;
  }

  // Nothing comes any more. The bell must be rung.
  void end() noexcept {
    // order: release pairs with the acquire in take(): what came before the end.
    word_.store(kEnded, sync::order::release);
  }

  // Calls each(run) for what has come, first come first. False if nothing comes any more.
  template <class Each>
  [[nodiscard]] bool take(Each&& each) noexcept {
    // order: acquire pairs with the releases in put() and end().
    const std::uintptr_t word = word_.exchange(kNothing, sync::order::acquire);
    if (word <= kEnded) return word != kEnded;
    Run* first = nullptr;
    for (auto* run = reinterpret_cast<Run*>(word); run != nullptr;)
      first = std::exchange(run, std::exchange(run->queued_behind, first));
    while (first != nullptr) each(*std::exchange(first, first->queued_behind));
    return true;
  }

  // Before the thread waits. False: something has come.
  [[nodiscard]] bool fall_asleep() noexcept {
    std::uintptr_t nothing = kNothing;
    // order: relaxed, the thread has nothing to tell; what comes is taken by take().
    return word_.compare_exchange_strong(nothing, kAsleep, sync::order::relaxed,
                                         sync::order::relaxed);
  }

 private:
  static constexpr std::uintptr_t kNothing = 0;
  static constexpr std::uintptr_t kAsleep = 1;
  static constexpr std::uintptr_t kEnded = 2;

  sync::atomic<std::uintptr_t> word_{kNothing};  // or the last that came, linked to those before
};

}}}  // namespace handoff::HANDOFF_ABI::detail
