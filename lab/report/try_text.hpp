// SPDX-License-Identifier: MIT
// What `handoff try` says: which way to take for a loop, the ranking, and where time was lost.
#pragma once

#include "report/row.hpp"

namespace handoff::lab {

struct Tried {
  std::string kernel;  // its file
  std::uint64_t items = 0;
  std::uint64_t width = 1;
  std::string members = "CPUs";  // what the width counts
  std::vector<Row> rows;  // of one block; none is measured where the kernel is not safe
  std::uint64_t seed = 1;
};

// How people call a contender's way: ThreadTeam for own.thread_team.
[[nodiscard]] std::string way_named(const std::string& contender);

struct TryText {
  std::string text;
  bool told = true;  // false: too noisy to tell whether to leave the serial way
};

[[nodiscard]] TryText try_text(const Tried& tried);

}  // namespace handoff::lab
