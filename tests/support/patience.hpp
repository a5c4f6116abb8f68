// SPDX-License-Identifier: MIT
//
// What a stress test does on a machine that others use too: whoever waits gives its CPU away, and
// the test does as much as fits into its time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <thread>

#include <handoff/sync/detail/pause.hpp>

#include "support/support.hpp"

namespace handoff::test {

// Of a thread that finds nothing to do. It polls for a moment, so that threads with a CPU each meet
// closely. Then it sleeps: beside a busy program a yield gives the CPU to that program, for as long
// as a time slice.
class Idling {
 public:
  void wait() {
    constexpr int yields = 50;
    if (waits_++ < yields) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
  void reset() { waits_ = 0; }

 private:
  int waits_ = 0;
};

// The same for a condition, with pauses before the yields.
template <class Condition>
void idle_until(const Condition& condition) {
  constexpr int pauses = 2000;
  for (int i = 0; i < pauses; ++i) {
    if (condition()) return;
    sync::pause();
  }
  for (Idling idling; !condition();) idling.wait();
}

// Calls race(n) until the numbers sum up to `all`, twenty times. On a machine so busy that this
// takes too long it stops earlier, but never before the first. Returns the sum.
template <class Race>
std::size_t in_parts(std::size_t all, const Race& race) {
  constexpr std::size_t parts = 20;
  constexpr std::chrono::seconds usual{5};
  const auto end = std::chrono::steady_clock::now() + (deep() ? 10 : 1) * usual;
  const std::size_t each = std::max<std::size_t>(all / parts, 1);
  std::size_t done = 0;
  do {
    race(each);
    done += each;
  } while (done < all && std::chrono::steady_clock::now() < end);
  return done;
}

}  // namespace handoff::test
