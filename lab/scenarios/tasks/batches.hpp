// SPDX-License-Identifier: MIT
// How many batches an operation of `tasks` has: known to both sides, since both count the tasks.
#pragma once

#include <cstddef>

namespace handoff::lab::tasks {

// A batch is `count` tasks handed over, then waited for. Small ones are repeated within an
// operation, so that reading the clock does not count.
constexpr std::size_t batches(std::size_t count, bool idle) {
  constexpr std::size_t enough = 10'000;
  return idle || count >= enough ? 1 : enough / count;
}

}  // namespace handoff::lab::tasks
