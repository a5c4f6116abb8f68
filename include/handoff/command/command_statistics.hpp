// SPDX-License-Identifier: MIT
//
// What a command bucket counts besides its Tally: of the present recording, and of its last sort
// and dispatch.
#pragma once

#include <cstddef>
#include <cstdint>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// How a recording came into the order of its keys.
enum class CommandSort : std::uint8_t {
  none,    // it was not sorted: in the order of recorders
  sorted,  // it was found in order
  merged,  // from a few stretches that were in order
  few,     // by insertion, as they were few
  radix,   // by digits, on one thread
  split,   // by digits, after several threads had divided it by key
};

struct CommandStatistics {
  // Once the frame is over, nothing is left of these three.
  std::uint64_t recorders = 0;      // that added something
  std::uint64_t commands = 0;       // with a key
  std::uint64_t appended = 0;       // to others
  std::uint64_t segments = 0;       // pieces of memory that recorders took
  std::uint64_t memory = 0;         // bytes of these
  std::uint64_t refused = 0;        // commands that were not taken, as the bucket was full
  CommandSort sort = CommandSort::none;
  std::uint64_t folded = 0;         // commands that merge() made part of others
  std::uint64_t dispatches = 0;        // of this recording
  std::uint64_t key_changes = 0;    // in the last dispatch: how often its filter was called
};

// How many commands there were before a merge and how many after it.
struct CommandMerge {
  std::size_t before = 0;
  std::size_t after = 0;
};

}}  // namespace handoff::HANDOFF_ABI
