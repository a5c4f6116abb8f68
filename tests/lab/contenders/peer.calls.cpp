// SPDX-License-Identifier: MIT
// For tests: starts no thread, but does the work itself.
#include "scenarios/spawn/contender.hpp"

handoff::lab::spawn::Operation handoff::lab::spawn::contender() {
  return [](Word& word) { word.store(); };
}
