// SPDX-License-Identifier: MIT
// The metric `loop_1us`: loops of one index for each member, each a microsecond of work, one loop
// after the other. Both sides count the indices.
#pragma once

#include <cstddef>

namespace handoff::lab::grain {

inline constexpr double index_work_ns = 1000;
inline constexpr std::size_t loops = 100;  // of an operation

}  // namespace handoff::lab::grain
