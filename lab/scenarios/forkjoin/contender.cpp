// SPDX-License-Identifier: MIT
// Turns the lab's parameters into a task.
#include "scenarios/forkjoin/contender.hpp"

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte>) {
  struct Bench {
    forkjoin::Answer output;
    forkjoin::Task task;
  };
  auto bench = std::make_shared<Bench>();
  bench->task = {parameters.text("problem"), parameters.number("width"), &bench->output};
  return {[bench, operation = forkjoin::contender(bench->task)](Burst& burst) { operation(burst); },
          std::as_writable_bytes(std::span(&bench->output, 1))};
}
