// SPDX-License-Identifier: MIT
// Which of the libraries' kernels are the fastest here: the packaged OpenBLAS takes older ones on
// processors that it does not know, and oneDNN's product of floats may beat all of them.
#pragma once

#include "harness/bursts.hpp"

namespace handoff::lab::matmul {

// Measures seed.single with each choice in its environment and returns the best one's variables:
// OpenBLAS's core type, and the library behind `tile` where that is not OpenBLAS. What the user has
// set stays as it is; none where nothing runs.
std::vector<Variable> library_variables(Scenario& scenario,
                                        const std::vector<Contender>& contenders, Bench& bench);

}  // namespace handoff::lab::matmul
