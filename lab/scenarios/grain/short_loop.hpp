// SPDX-License-Identifier: MIT
// The metrics `loop_1us` and `beside_plain`: loops one after the other. Those of `loop_1us` have
// one index for each member, each a microsecond of work. Those of `beside_plain` have the work that
// is asked for, in some indices, and as many plain loops are run in turns with them. Both sides
// count the indices.
#pragma once

#include <cstddef>

namespace handoff::lab::grain {

inline constexpr double index_work_ns = 1000;
inline constexpr std::size_t loops = 100;  // of an operation

inline constexpr std::size_t plain_indices = 10;  // of a loop
inline constexpr std::size_t plain_turns = 10;  // of an operation

// Loops in a turn: a twentieth of a millisecond, and a few at least.
constexpr std::size_t loops_of_turn(std::size_t work_ns) { return 5 + 50'000 / work_ns; }

}  // namespace handoff::lab::grain
