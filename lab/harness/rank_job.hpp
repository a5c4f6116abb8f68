// SPDX-License-Identifier: MIT
// A program as the ranks of an Open MPI job, on this machine or on several, started by mpirun.
#pragma once

#include "harness/interrupt.hpp"

namespace handoff::lab {

struct RankPlaces {
  std::size_t ranks = 0;
  std::vector<std::string> hosts;  // as mpirun takes them: a, or a:4; none: this machine
  bool oversubscribe = false;      // more ranks than CPUs or slots
};

struct RankOutcome {
  bool done;
  std::string line;  // what the first rank answered, or what went wrong
};

// How a rank tells the launcher, on a line of stdout: that all have begun, then that it is done or
// why it is not.
inline constexpr const char* ranks_begun = "handoff ranks: begun";
inline constexpr const char* ranks_answer = "handoff ranks: done ";
inline constexpr const char* ranks_failure = "handoff ranks: ";

// Runs `command` so often. Throws UserError for what cannot begin: no mpirun, a host that does not
// answer, too few slots. Whatever happens, it is known within 10 s, and no rank is left.
RankOutcome run_ranks(const RankPlaces& places, const std::vector<std::string>& command,
                      Interrupt& interrupt);

}  // namespace handoff::lab
