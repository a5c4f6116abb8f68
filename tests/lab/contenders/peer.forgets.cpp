// SPDX-License-Identifier: MIT
// For tests: starts a thread for nothing, but for each fifth time.
#include <thread>

#include "scenarios/spawn/contender.hpp"

handoff::lab::spawn::Operation handoff::lab::spawn::contender() {
  return [started = 0](Word& word) mutable {
    const bool works = ++started % 5 == 0;
    std::thread([&] {
      if (works) word.store();
    }).join();
  };
}
