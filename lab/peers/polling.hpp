// SPDX-License-Identifier: MIT
// Polling, for a thread that must not sleep, or not yet. It yields from time to time, since the
// thread that it waits for may need this CPU.
#pragma once

#include <chrono>
#include <thread>

namespace handoff::lab::peers {

// Between an attempt in vain, the `spins`th, and the next one.
inline void wait_a_little(int spins) {
  constexpr int spins_before_a_yield = 1000;
  if (spins < spins_before_a_yield) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  } else {
    std::this_thread::yield();
  }
}

// Until attempt() says true.
template <class Attempt>
void retry(Attempt&& attempt) {
  for (int spins = 0; !attempt(); ++spins) wait_a_little(spins);
}

// The same where an answer is awaited, and not a stream of items: it looks again at once for a
// while, since a pause takes as long as what comes from another core. (A consumer that does so
// takes the line from its producer at each item.)
template <class Attempt>
void retry_at_once(Attempt&& attempt) {
  constexpr int looks = 64;
  for (int i = 0; i < looks; ++i) {
    if (attempt()) return;
  }
  retry(attempt);
}

// retry() for so long at most; false if it never said so.
template <class Attempt>
bool retry_for(std::chrono::nanoseconds time, Attempt&& attempt) {
  if (attempt()) return true;
  constexpr int looks_at_the_clock = 16;  // one in so many
  const auto end = std::chrono::steady_clock::now() + time;
  for (int spins = 0; !attempt(); ++spins) {
    if (spins % looks_at_the_clock == 0 && std::chrono::steady_clock::now() >= end) return false;
    wait_a_little(spins);
  }
  return true;
}

}  // namespace handoff::lab::peers
