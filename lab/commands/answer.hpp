// SPDX-License-Identifier: MIT
// What `run` prints for people: of an overview the ladder, of all else the tables.
#pragma once

#include <string>
#include <vector>

#include "commands/options.hpp"
#include "harness/contender_list.hpp"
#include "report/result.hpp"

namespace handoff::lab {

// For stdout as it is. `contenders` are those that the build knows: it says which were not built.
// `busy` says what others took of the CPUs, and who; without it the ladder says how much.
// `seconds`: that measuring took; 0: not known.
[[nodiscard]] std::string answer_text(const Result& result, const RunOptions& options,
                                      const std::vector<Contender>& contenders,
                                      const std::string& busy = {}, double seconds = 0);

}  // namespace handoff::lab
