// SPDX-License-Identifier: MIT
// The scenario `spawn`: what it costs to start a thread, the dearest way to hand work over to one's
// own process, or a process, to have a job done by another process, to claim rows of a
// common table, and to map memory that processes share.
#pragma once

#include <memory>

#include "harness/scenario.hpp"

namespace handoff::lab::spawn {

std::unique_ptr<Scenario> make_scenario();

}  // namespace handoff::lab::spawn
