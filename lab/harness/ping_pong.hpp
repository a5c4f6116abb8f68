// SPDX-License-Identifier: MIT
// A cache line that travels between two threads.
#pragma once

#include "harness/standard.hpp"

namespace handoff::lab {

// One thread calls it with `own` 0, the other one with 1: they write the numbers from 1 to
// 2 * trips in turns, each as soon as it sees the other's.
inline void ping_pong(std::atomic<int>& turn, int own, int trips) {
  for (int i = own; i < 2 * trips; i += 2) {
    for (int spins = 0; turn.load(std::memory_order_acquire) != i; ++spins) {
      if (spins > 100'000) std::this_thread::yield();  // the other may not be running
    }
    turn.store(i + 1, std::memory_order_release);
  }
}

}  // namespace handoff::lab
