// SPDX-License-Identifier: MIT
// Rows judged against each other, by the one judge (harness/verdict.hpp).
#pragma once

#include <optional>

#include "harness/verdict.hpp"
#include "report/row.hpp"

namespace handoff::lab {

// Nothing where there is no ratio: a row without figures, or with figures that are not above 0.
// What was measured in one block is paired burst by burst. `floor`: what two equal programs differ
// by on the machine.
std::optional<JudgedChange> judge_rows(const Row& now, const Row& before, double floor);

// The same of some of their launches, in a unit of which less is better unless `judging` says more.
std::optional<JudgedChange> judge_launches(const Launches& now, const Launches& before,
                                           const Judging& judging);

}  // namespace handoff::lab
