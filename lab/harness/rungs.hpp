// SPDX-License-Identifier: MIT
// The ladder: one rung for each kind of hand-over, from the call of a listener to a started thread
// and a written file. A rung is a cell of a scenario. An overview measures these cells, and its
// picture shows on each rung this library's best way, the best other one, what people write without
// a library, and the limit.
#pragma once

#include <string>
#include <vector>

#include "harness/scenario.hpp"

namespace handoff::lab {

struct RungKind {
  std::string name;  // one word, as in results.json
  std::string title;
  std::string scenario;
  Cell cell;
  bool latency = false;  // how long one takes on its way; false: what one of many costs
  std::vector<std::string> own = {};  // of this library's ways only these; empty: all of them
  std::vector<std::string> today = {};  // what people write today: of these the best is shown
  std::vector<std::string> named = {};  // shown beside the best one, since people ask for them
};

// About from the cheapest to the dearest. A new room adds its own.
[[nodiscard]] const std::vector<RungKind>& rung_kinds();

// What an overview measures beside the rungs: the grey lines of the picture (what the machine
// itself takes for a cache miss, a line's way between two cores, a system call), efficiency against
// the size of a task, and what advice needs.
struct OverviewCell {
  std::string scenario;
  Cell cell;
};
[[nodiscard]] const std::vector<OverviewCell>& cells_beside_the_rungs();

}  // namespace handoff::lab
