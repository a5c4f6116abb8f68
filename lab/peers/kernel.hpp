// SPDX-License-Identifier: MIT
// Work of a known length, for scenarios that need tasks of a size. Each step needs the result of
// the one before it, so that neither the compiler nor the processor can do two at once. It is
// compiled once, in a shared object, so that its loop lies at the same place of a page for all.
#pragma once

#include "harness/standard.hpp"

namespace handoff::lab::peers {

// `seed` after `steps` steps. What one task returns is the seed of the next on the same thread.
std::uint64_t burn(std::uint64_t seed, std::size_t steps);

// ns of one step on this machine now: the best of several, since others only ever slow it.
double burn_step_ns();

// So many steps take about that long.
std::size_t burn_steps(std::size_t ns);

}  // namespace handoff::lab::peers
