// SPDX-License-Identifier: MIT
// Two rows of result files judged against each other, by the one judge (harness/verdict.hpp).
#pragma once

#include <optional>

#include <nlohmann/json.hpp>

#include "harness/verdict.hpp"

namespace handoff::lab {

// Nothing where there is no ratio: a row without figures, or with figures that are not above 0.
// What was measured in one block is paired burst by burst.
std::optional<JudgedChange> judge_rows(const nlohmann::json& now, const nlohmann::json& before,
                                       double floor);

// What two equal programs differed by on the machine: 0 where the file does not say.
double floor_of(const nlohmann::json& environment);

}  // namespace handoff::lab
