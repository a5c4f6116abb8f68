// SPDX-License-Identifier: MIT
// The scenario `explorer`: how many executions a second the explorer of interleavings tries, since
// that is what its proofs are made of.
#pragma once

#include <memory>

#include "harness/scenario.hpp"

namespace handoff::lab::explorer {

std::unique_ptr<Scenario> make_scenario();

}  // namespace handoff::lab::explorer
