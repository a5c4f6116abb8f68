// SPDX-License-Identifier: MIT
// Two sets of rows side by side: what changed from the one to the other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/verdict.hpp"

namespace handoff::lab {

// A contender in one cell, before and now. The rows outlive it.
struct Compared {
  const nlohmann::json* before;
  const nlohmann::json* now;
  std::optional<JudgedChange> judged;  // nothing where there is no ratio
  std::string remark;                  // why not

  // What it counts as: broken now and whole before is worse. Nothing: it cannot be said.
  [[nodiscard]] std::optional<Change> change() const;
};

// `floor`: what two equal programs differ by on the machine.
Compared compared(const nlohmann::json& before, const nlohmann::json& now, double floor);

// The rows of both result files that did the same work, in the order of the first.
std::vector<Compared> compared_files(const nlohmann::json& before, const nlohmann::json& now);

// A table for each cell and one line that counts.
std::string comparison_table(const std::vector<Compared>& rows, bool styled);

nlohmann::json comparison_json(const std::vector<Compared>& rows);

int count(const std::vector<Compared>& rows, Change change);

}  // namespace handoff::lab
