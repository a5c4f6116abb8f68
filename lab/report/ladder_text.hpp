// SPDX-License-Identifier: MIT
// The ladder on a terminal: the first answer of an overview.
#pragma once

#include "report/ladder.hpp"

namespace handoff::lab {

struct LadderLook {
  bool styled = false;  // escape sequences, for bold
  int columns = 80;
  std::size_t rows = 0;  // of the terminal; 0: as many as it takes
  std::string busy;      // with the names of those who took the CPUs; empty: Ladder::busy
  double seconds = 0;    // that measuring took; 0: not known
  std::string program = "handoff";  // as it must be typed
  std::string page;  // where it is; these two are empty where they were not written
  std::string results;
  std::vector<std::string> missing;  // packages that would have brought more others
  bool interrupted = false;
};

// The sum, the sentence, the rungs by what is said of them, and what to do next.
[[nodiscard]] std::string ladder_text(const Ladder& ladder, const LadderLook& look);

// A rung's line: what is said of it, its name, our figure, the best other one, and how many times
// as fast, with the range. At most so many columns.
[[nodiscard]] std::string rung_line(const Rung& rung, int columns);

// What is not measured yet.
[[nodiscard]] std::string waiting_line(const std::string& name, const std::string& title,
                                       int columns);

}  // namespace handoff::lab
