// SPDX-License-Identifier: MIT
// What a contender of `machine` writes: one function that makes the operation of a metric.
#pragma once

#include "harness/contender.hpp"
#include "scenarios/machine/answer.hpp"

namespace handoff::lab::machine {

// Does its part of the metric once and says what came of it.
using Operation = std::function<Answer(Burst&)>;
Operation contender(const std::string& metric);

}  // namespace handoff::lab::machine
