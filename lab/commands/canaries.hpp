// SPDX-License-Identifier: MIT
// Canaries: in each scenario a contender of the lab once more, by the same code in other layouts.
// Both do the same, so a difference between them would be one between the places where code happens
// to lie, taken for a result.
#pragma once

#include <string>
#include <vector>

#include "harness/bursts.hpp"
#include "scenarios/registry.hpp"

namespace handoff::lab {

struct Canary {
  Scenario* scenario;
  Contender contender;
  Contender twin;  // the same in other layouts
  Cell cell;

  [[nodiscard]] std::string name() const;  // events own.event: invoke listeners=8
  [[nodiscard]] bool higher_is_better() const;
  // Whether a single thread does the work.
  [[nodiscard]] bool is_alone() const;
  [[nodiscard]] std::vector<Measurement> pair(std::vector<Variable> variables) const;
};

// For each of `twins` what it is the twin of, and the first cell that it is for. One without its
// contender is left out: it was not built. Throws UserError where a cell makes no sense.
std::vector<Canary> canaries_of(const Scenarios& scenarios,
                                const std::vector<Contender>& contenders,
                                const std::vector<Contender>& twins);

}  // namespace handoff::lab
