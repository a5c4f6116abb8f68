// SPDX-License-Identifier: MIT
// The scenario `events`: what a callback costs, and an event that waits in a queue first.
#pragma once

#include <memory>

#include "harness/scenario.hpp"

namespace handoff::lab::events {

std::unique_ptr<Scenario> make_scenario();

}  // namespace handoff::lab::events
