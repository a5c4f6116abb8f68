// SPDX-License-Identifier: MIT
// The scenario `channels`: what a message costs on its way from thread to thread.
#pragma once

#include <memory>

#include "harness/scenario.hpp"

namespace handoff::lab::channels {

std::unique_ptr<Scenario> make_scenario();

}  // namespace handoff::lab::channels
