// SPDX-License-Identifier: MIT
// The scenario `messages`: what a message costs, and how long it takes, on its way from producers
// to the threads that handle it.
#pragma once

#include <memory>

#include "harness/scenario.hpp"

namespace handoff::lab::messages {

std::unique_ptr<Scenario> make_scenario();

}  // namespace handoff::lab::messages
