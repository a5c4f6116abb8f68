// SPDX-License-Identifier: MIT
// What a search through the program of this scenario has to come to.
#pragma once

#include <cstdint>

namespace handoff::lab::explorer {

struct Answer {
  std::uint64_t is_right;      // 1: complete, and no execution failed
  std::uint64_t final_states;  // orders in which the items came
  std::uint64_t steps;         // of an execution, in the mean
};

inline constexpr std::uint64_t final_states = 6;
inline constexpr std::uint64_t fewest_steps = 60;  // a shorter program would flatter

}  // namespace handoff::lab::explorer
