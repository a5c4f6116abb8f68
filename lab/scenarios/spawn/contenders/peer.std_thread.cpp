// SPDX-License-Identifier: MIT
// std::thread: started and joined.
#include <thread>

#include "scenarios/spawn/contender.hpp"

handoff::lab::spawn::Operation handoff::lab::spawn::contender() {
  return [](Word& word) { std::thread([&word] { word.store(); }).join(); };
}
