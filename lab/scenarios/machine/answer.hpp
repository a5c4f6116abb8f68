// SPDX-License-Identifier: MIT
// What an operation of `machine` consists of, and what it has to come to.
#pragma once

#include "harness/standard.hpp"

namespace handoff::lab::machine {

struct Answer {
  std::uint64_t count;   // loads, ways of a line, calls
  std::uint64_t before;  // loads that came before these in the chase
  std::uint64_t
      result;  // where it stands then; the turn that is next; the sum of what was returned
};

inline constexpr std::uint64_t loads = 20'000;
inline constexpr std::uint64_t round_trips = 10'000;
inline constexpr std::uint64_t calls = 10'000;

}  // namespace handoff::lab::machine
