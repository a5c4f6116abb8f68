// SPDX-License-Identifier: MIT
// Turns the lab's parameters into a task.
#include "scenarios/processes/contender.hpp"

#include <memory>
#include <span>

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  struct Bench {
    processes::Answer output{};
    processes::Task task{};
  };
  auto bench = std::make_shared<Bench>();
  bench->task = {parameters.text("metric"), parameters.number("bytes"), &bench->output};
  return {
      [bench, operation = processes::contender(bench->task)](Burst& burst) { operation(burst); },
      std::as_writable_bytes(std::span(&bench->output, 1))};
}
