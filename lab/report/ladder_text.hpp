// SPDX-License-Identifier: MIT
// The ladder on a terminal: the first answer of an overview, on at most 30 lines.
#pragma once

#include <string>
#include <vector>

#include "report/ladder.hpp"

namespace handoff::lab {

struct LadderLook {
  bool styled = false;   // escape sequences, for bold
  bool unicode = false;  // bars of blocks; false: all is ASCII
  int columns = 80;
  std::string busy;     // with the names of those who took the CPUs; empty: Ladder::busy
  std::string page;     // where it is; these two are empty where they were not written
  std::string results;
  std::vector<std::string> missing;  // packages that would have brought more others
  bool interrupted = false;
};

[[nodiscard]] std::string ladder_text(const Ladder& ladder, const LadderLook& look);

}  // namespace handoff::lab
