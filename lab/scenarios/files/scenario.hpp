// SPDX-License-Identifier: MIT
// Files: written, read, copied and appended to by many ways, on the device that is here.
#pragma once

#include <memory>

#include "harness/scenario.hpp"

namespace handoff::lab::files {

std::unique_ptr<Scenario> make_scenario();

}  // namespace handoff::lab::files
