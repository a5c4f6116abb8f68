// SPDX-License-Identifier: MIT
// std::async with std::launch::async: what people write to get a result of another thread.
#include <future>

#include "scenarios/spawn/contender.hpp"

handoff::lab::spawn::Operation handoff::lab::spawn::contender() {
  return [](Word& word) { std::async(std::launch::async, [&word] { word.store(); }).get(); };
}
