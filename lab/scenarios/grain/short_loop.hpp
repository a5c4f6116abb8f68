// SPDX-License-Identifier: MIT
// The metric `loop_1us`: loops one after the other. They have one index for each member, each a
// microsecond of work. Both sides count the indices.
#pragma once

#include <cstddef>

namespace handoff::lab::grain {

inline constexpr double index_work_ns = 1000;
inline constexpr std::size_t loops = 100;  // of an operation

}  // namespace handoff::lab::grain
