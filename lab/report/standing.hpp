// SPDX-License-Identifier: MIT
// How this library stands to the others: in each cell its best way against the best other one.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/verdict.hpp"
#include "report/view.hpp"

namespace handoff::lab {

// In a cell on one machine: in favour of this library where the ratio is above 1.
struct Standing {
  std::string own;
  std::string other;
  JudgedChange judged;
};

// Nothing where one of the two was not measured, or has figures that are not above 0.
std::optional<Standing> standing_in(const CellView& cell, const MachineView& machine);

// In a cell on many machines: the names that are the most frequent, the median ratio, and on how
// many it is which verdict.
struct Standings {
  std::string own;
  std::string other;
  double ratio = 1;
  Interval bounds{};  // from the lowest to the highest
  std::map<Change, int> counts;
};

// Of at least one.
Standings together(const std::vector<Standing>& standings);

}  // namespace handoff::lab
