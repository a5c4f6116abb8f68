// SPDX-License-Identifier: MIT
// `tasks`: what it costs to hand over a task and to know that it is done.
#pragma once

#include <memory>

#include "harness/scenario.hpp"

namespace handoff::lab::tasks {

std::unique_ptr<Scenario> make_scenario();

}  // namespace handoff::lab::tasks
