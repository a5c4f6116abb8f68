// SPDX-License-Identifier: MIT
// Two sets of rows side by side: what changed from the one to the other.
#pragma once

#include "report/result.hpp"

namespace handoff::lab {

// A contender in one cell, before and now. The rows outlive it.
struct Compared {
  const Row* before;
  const Row* now;
  std::optional<JudgedChange> judged;  // nothing where there is no ratio
  std::string remark;  // why not; or why the ratio is not that of the medians

  // What it counts as: broken now and whole before is worse. Nothing: it cannot be said.
  [[nodiscard]] std::optional<Change> change() const;
};

// `floor`: what two equal programs differ by on the machine.
Compared compared(const Row& before, const Row& now, double floor);

// The rows of both results that did the same work, in the order of the first.
std::vector<Compared> compared_results(const Result& before, const Result& now);

// A table for each cell and one line that counts.
std::string comparison_table(const std::vector<Compared>& rows, bool styled);

int count(const std::vector<Compared>& rows, Change change);

}  // namespace handoff::lab
