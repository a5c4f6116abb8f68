// SPDX-License-Identifier: MIT
// What a contender of `replay` is given: a load to replay. It hands its pool to measure().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "harness/contender.hpp"
#include "scenarios/replay/load.hpp"

namespace handoff::lab::replay {

struct Task {
  LoadView load;
  std::size_t width;  // threads that execute pieces
  double step_ns;     // of burn()
  std::span<PieceAnswer> output;
};

// A piece: computes until the thread has had a CPU for so many ns. Steps that are counted in
// advance would be as much work, but not as much time: CPUs change their speed by a third within
// tenths of a second, and what a way takes would be what its CPUs did in that moment. `step_ns` is
// of burn().
void work(std::uint64_t seed, std::uint64_t ns, double step_ns);

// Written by the contender, usually `return measure<Pool>(task);`. The task outlives it.
Operation contender(const Task& task);

}  // namespace handoff::lab::replay
