// SPDX-License-Identifier: MIT
// `handoff guard`: is anything slower than it was at a revision? A few cells, each measured in
// turns with the revision's build of the same contender, in a time that is known beforehand.
#pragma once

#include "commands/options.hpp"
#include "scenarios/registry.hpp"

namespace handoff::lab {

// What the time is for: in it each cell has launches enough to tell 8 % from nothing.
inline constexpr std::size_t kMostGuardedCells = 40;
inline constexpr std::chrono::seconds kMostGuardTime = std::chrono::minutes(25);

struct GuardedCell {
  std::string name;
  Scenario* scenario;
  std::string contender;
  Cell cell;
};

// Throws UserError that names the file, the line and what is wrong there.
std::vector<GuardedCell> read_guarded_cells(const std::filesystem::path& path,
                                            const Scenarios& scenarios);

int guard(const GuardOptions& options);

}  // namespace handoff::lab
