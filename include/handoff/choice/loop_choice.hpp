// SPDX-License-Identifier: MIT
//
// What an AdaptiveLoop chose for its loop, and why.
//
//   const handoff::LoopChoice choice = loop.choice();
//   if (choice.way == handoff::LoopWay::team) ...
//   log(handoff::to_string(choice));  // "team, the fastest measured: 52 us; serial 98 us, ..."
//
// A plain value: a copy of the loop's figures at that moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// How a loop can be run.
enum class LoopWay : std::uint8_t {
  serial,  // the caller alone; what is left of a loop that turns out long is handed over
  team,    // a ThreadTeam, from the first index on
  pool,    // a ThreadPool, from the first index on
};
inline constexpr std::size_t loop_way_count = 3;

// Why this way.
enum class ChoiceReason : std::uint8_t {
  not_run,   // no loop of this size has been run and measured so far
  only_way,  // nothing else may be taken here
  cheapest,  // of the ways that were measured it takes the least time, by the last looks at each
  checking,  // another way is being measured, to see whether the choice still holds
  drifted,   // the load changed, so what was known of the other ways was forgotten
};

struct LoopChoice {
  // What is known of one way for the last number of indices.
  struct Way {
    bool available = false;  // there is such a way, and it may be taken here
    bool measured = false;   // else the time is predicted
    double ns = 0;           // what the whole loop takes; 0: not known
  };

  // Which the next loop of this size takes, and why.
  LoopWay way = LoopWay::serial;
  ChoiceReason reason = ChoiceReason::not_run;

  std::size_t count = 0;  // indices of the last loop that was measured

  // What is known of each way.
  Way serial = {};
  Way team = {};
  Way pool = {};

  double predicted_ns = 0;  // for the last loop that was measured, before it ran; 0: nothing
  double measured_ns = 0;  // what it took
  std::uint64_t calls_since_checked = 0;  // loops since another way was measured last
};

// The enumerator's name.
const char* to_string(LoopWay way) noexcept;
const char* to_string(ChoiceReason reason) noexcept;

// One line for a log: the way, the reason, what each way takes, when it was checked last.
std::string to_string(const LoopChoice& choice);

}}  // namespace handoff::HANDOFF_ABI
