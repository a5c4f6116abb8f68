// SPDX-License-Identifier: MIT
// The scenario `processes`: what a message costs on its way from process to process.
#pragma once

#include <memory>

#include "harness/scenario.hpp"

namespace handoff::lab::processes {

std::unique_ptr<Scenario> make_scenario();

}  // namespace handoff::lab::processes
