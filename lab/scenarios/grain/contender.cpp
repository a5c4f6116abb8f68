// SPDX-License-Identifier: MIT
// Turns the lab's parameters into a task.
#include "scenarios/grain/contender.hpp"

#include "scenarios/pools/kernel.hpp"

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte>) {
  struct Bench {
    pools::Answer output;
    grain::Task task;
  };
  auto bench = std::make_shared<Bench>();
  bench->task = {parameters.text("unit") == "index", parameters.number("width"),
                 pools::burn_step_ns(), &bench->output};
  return {[bench, operation = grain::contender(bench->task)](Burst& burst) { operation(burst); },
          std::as_writable_bytes(std::span(&bench->output, 1))};
}
