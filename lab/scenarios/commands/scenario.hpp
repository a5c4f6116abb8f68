// SPDX-License-Identifier: MIT
// The scenario `commands`: what it costs to record a frame's commands by many threads, to sort them
// by key, and to dispatch them in that order.
#pragma once

#include <memory>

#include "harness/scenario.hpp"

namespace handoff::lab::commands {

std::unique_ptr<Scenario> make_scenario();

}  // namespace handoff::lab::commands
