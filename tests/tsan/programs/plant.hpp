// SPDX-License-Identifier: MIT
//
// A data race on purpose, where PLANT is in the environment: of the thread that runs a piece of
// work, and of the one that gave it away and has not waited for it yet.
#pragma once

#include <atomic>
#include <cstdlib>
#include <thread>

inline const bool is_planted = std::getenv("PLANT") != nullptr;
inline std::atomic<bool> was_inside{false};
inline int planted = 0;

inline void inside() {
  if (!is_planted) return;
  ++planted;
  was_inside.store(true, std::memory_order_relaxed);
}
// Behind inside() in time; nothing orders the two.
inline void outside() {
  if (!is_planted) return;
  while (!was_inside.load(std::memory_order_relaxed)) std::this_thread::yield();
  ++planted;
}
