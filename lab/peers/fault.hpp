// SPDX-License-Identifier: MIT
// What is wrong with a contender's count of its tasks, for the coordinator.
#pragma once

#include <optional>
#include <string>

#include <fmt/format.h>

#include "peers/answer.hpp"

namespace handoff::lab::peers {

inline std::optional<std::string> fault_of(const Answer& answer, const Answer& right) {
  if (answer.runs != right.runs) {
    return fmt::format("ran {} tasks of {}", answer.runs, right.runs);
  }
  if (answer.sum != right.sum) return "ran some tasks twice and others not at all";
  return {};
}

}  // namespace handoff::lab::peers
