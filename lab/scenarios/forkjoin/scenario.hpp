// SPDX-License-Identifier: MIT
// `forkjoin`: what it costs to make a task of a part of a problem and to wait for it.
#pragma once

#include <memory>

#include "harness/scenario.hpp"

namespace handoff::lab::forkjoin {

std::unique_ptr<Scenario> make_scenario();

}  // namespace handoff::lab::forkjoin
