// SPDX-License-Identifier: MIT
// What is wrong with a contender's count of its tasks, for the coordinator.
#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include <fmt/format.h>

#include "peers/answer.hpp"

namespace handoff::lab::peers {

inline std::optional<std::string> fault_of(std::span<const std::byte> bytes, const Answer& right) {
  Answer answer{};
  std::memcpy(&answer, bytes.data(), sizeof answer);
  if (answer.runs != right.runs) {
    return fmt::format("ran {} tasks of {}", answer.runs, right.runs);
  }
  if (answer.sum != right.sum) return "ran some tasks twice and others not at all";
  return {};
}

}  // namespace handoff::lab::peers
