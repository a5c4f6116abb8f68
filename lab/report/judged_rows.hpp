// SPDX-License-Identifier: MIT
// Two rows judged against each other, by the one judge (harness/verdict.hpp).
#pragma once

#include <optional>

#include "harness/verdict.hpp"
#include "report/row.hpp"

namespace handoff::lab {

// Nothing where there is no ratio: a row without figures, or with figures that are not above 0.
// What was measured in one block is paired burst by burst. `floor`: what two equal programs differ
// by on the machine.
std::optional<JudgedChange> judge_rows(const Row& now, const Row& before, double floor);

}  // namespace handoff::lab
