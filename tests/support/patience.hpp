// SPDX-License-Identifier: MIT
//
// For stress tests on a busy machine: waiting threads give up their CPU, and a test runs as many
// rounds as fit into its time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <thread>

#include <handoff/sync/backoff.hpp>

#include "support/support.hpp"

namespace handoff::test {

// For a thread that finds nothing to do. It polls for a moment, so that threads that have a CPU
// each meet closely. Then it sleeps: a yield would give a busy neighbour a whole time slice.
class Idling {
 public:
  void wait() {
    if (!backoff_.snooze()) std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  void reset() { backoff_.reset(); }

 private:
  sync::Backoff backoff_{sync::Spin::allowed};
};

template <class Condition>
void idle_until(const Condition& condition) {
  for (Idling idling; !condition();) idling.wait();
}

// Calls race(n), with a twentieth of the rounds each time, until all are done. On a machine so busy
// that this takes too long it stops earlier, but never before the first call.
template <class Race>
void in_parts(std::size_t rounds, const Race& race) {
  constexpr std::size_t parts = 20;
  constexpr std::chrono::seconds usual{5};
  const auto end = std::chrono::steady_clock::now() + (deep() ? 10 : 1) * usual;
  const std::size_t each = std::max<std::size_t>(rounds / parts, 1);
  std::size_t done = 0;
  do {
    race(each);
    done += each;
  } while (done < rounds && std::chrono::steady_clock::now() < end);
}

}  // namespace handoff::test
