// SPDX-License-Identifier: MIT
// `matmul`: the rows of a matrix product, handed out by each way.
#pragma once

#include <memory>

#include "harness/scenario.hpp"

namespace handoff::lab::matmul {

std::unique_ptr<Scenario> make_scenario();

}  // namespace handoff::lab::matmul
