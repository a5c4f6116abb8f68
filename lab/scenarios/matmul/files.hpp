// SPDX-License-Identifier: MIT
// `handoff run matmul --a A.npy --b B.npy --result C.npy`: the product of real matrices, by a
// contender, checked, and written as a whole or not at all.
#pragma once

#include "harness/bursts.hpp"
#include "harness/rank_job.hpp"

namespace handoff::lab::matmul {

struct FilesToMultiply {
  std::filesystem::path a;
  std::filesystem::path b;
  std::filesystem::path result;
  Scenario::Values settings;             // only width
  std::vector<std::string> contenders;  // none: own.thread_team; else one
  RankPlaces places = {};  // no ranks: one process of this machine, with threads or workers
};

struct FilesOutcome {
  bool right;
  std::string line;  // what was computed by whom and how fast, or what went wrong
};

// Throws UserError for what cannot be multiplied, with nothing left behind.
FilesOutcome multiply_files(const FilesToMultiply& files, const std::vector<Contender>& contenders,
                            const Plan& plan, Interrupt& interrupt);

}  // namespace handoff::lab::matmul
