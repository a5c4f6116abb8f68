// SPDX-License-Identifier: MIT
// `loads`: a load drawn at random under every way that can do it. What it costs shows whether
// advice is right; it is no part of an overview.
#pragma once

#include <memory>

#include "harness/scenario.hpp"

namespace handoff::lab::loads {

std::unique_ptr<Scenario> make_scenario();

}  // namespace handoff::lab::loads
