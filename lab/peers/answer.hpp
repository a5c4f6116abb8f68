// SPDX-License-Identifier: MIT
// What contenders answer, and what is right about it. Of numbered jobs each counts itself once.
#pragma once

#include "harness/standard.hpp"

namespace handoff::lab::peers {

struct Answer {
  std::uint64_t runs;
  std::uint64_t sum;  // of the jobs' numbers, each from 1 on
};

// The jobs 1 .. count, so many times.
constexpr Answer right_answer(std::size_t count, std::size_t times) {
  return {count * times, count * (count + 1) / 2 * times};
}

// What is wrong with a contender's count of its jobs, for the coordinator.
inline std::optional<std::string> fault_of(const Answer& answer, const Answer& right) {
  if (answer.runs != right.runs) {
    return "ran " + std::to_string(answer.runs) + " tasks of " + std::to_string(right.runs);
  }
  if (answer.sum != right.sum) return "ran some tasks twice and others not at all";
  return {};
}

// What a message adds to a sum by which messages are checked: folded, so that no two others come to
// as much as two that are lost or broken.
inline std::uint64_t fold(std::uint64_t content) {
  const std::uint64_t mixed = content * 0x9E3779B97F4A7C15;
  return mixed ^ (mixed >> 32);
}

}  // namespace handoff::lab::peers
