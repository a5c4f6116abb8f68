// SPDX-License-Identifier: MIT
// `grain`: the smallest task that a way still runs at half of full efficiency.
#pragma once

#include <memory>

#include "harness/scenario.hpp"

namespace handoff::lab::grain {

std::unique_ptr<Scenario> make_scenario();

}  // namespace handoff::lab::grain
