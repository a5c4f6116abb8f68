// SPDX-License-Identifier: MIT
// Turns the lab's parameters and the load into a task.
#include "scenarios/replay/contender.hpp"

#include <sys/prctl.h>

#include <vector>

#include "peers/kernel.hpp"

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> input) {
  struct Bench {
    std::vector<replay::LoadPiece> pieces;
    std::vector<std::uint32_t> children;
    std::vector<replay::PieceAnswer> output;
    replay::Task task;
  };
  prctl(PR_SET_TIMERSLACK, 1UL);  // arrivals are waited for asleep, and are to be on time
  auto bench = std::make_shared<Bench>();
  const replay::LoadView load = replay::load_in(input);
  bench->pieces.assign(load.pieces.begin(), load.pieces.end());
  bench->children.assign(load.children.begin(), load.children.end());
  bench->output.resize(load.pieces.size());
  bench->task = {{bench->pieces, bench->children},
                 parameters.number("width"),
                 peers::burn_step_ns(),
                 bench->output};
  return {[bench, operation = replay::contender(bench->task)](Burst& burst) { operation(burst); },
          std::as_writable_bytes(std::span(bench->output))};
}
