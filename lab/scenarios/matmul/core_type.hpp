// SPDX-License-Identifier: MIT
// Which of OpenBLAS's kernels are the fastest here: the packaged library takes older ones on
// processors that it does not know.
#pragma once

#include <vector>

#include "harness/bursts.hpp"

namespace handoff::lab::matmul {

// Measures seed.single with each core type in its environment and returns the best one's variable;
// none where none of them runs, or where the user has set one.
std::vector<Variable> core_type_variables(Scenario& scenario,
                                          const std::vector<Contender>& contenders, Bench& bench);

}  // namespace handoff::lab::matmul
