// SPDX-License-Identifier: MIT
// The scenario `machine`: what the machine itself takes for that of which hand-overs are made.
#pragma once

#include <memory>

#include "harness/scenario.hpp"

namespace handoff::lab::machine {

std::unique_ptr<Scenario> make_scenario();

}  // namespace handoff::lab::machine
