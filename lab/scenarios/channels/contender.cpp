// SPDX-License-Identifier: MIT
// Turns the lab's parameters into a task.
#include "scenarios/channels/contender.hpp"

#include <memory>
#include <span>

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  struct Bench {
    channels::Answer output{};
    channels::Task task{};
  };
  auto bench = std::make_shared<Bench>();
  bench->task = {parameters.number("producers"), parameters.number("consumers"), &bench->output};
  return {[bench, operation = channels::contender(bench->task)](Burst& burst) { operation(burst); },
          std::as_writable_bytes(std::span(&bench->output, 1))};
}
