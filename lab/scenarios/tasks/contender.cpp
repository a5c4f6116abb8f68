// SPDX-License-Identifier: MIT
// Turns the lab's parameters into a task.
#include "scenarios/tasks/contender.hpp"

#include <cmath>
#include <memory>

#include "scenarios/pools/kernel.hpp"

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte>) {
  struct Bench {
    pools::Answer output;
    tasks::Task task;
  };
  auto bench = std::make_shared<Bench>();
  const double work_ns = static_cast<double>(parameters.number("work", 0));
  const auto steps = work_ns > 0 ? std::llround(work_ns / pools::burn_step_ns()) : 0;
  bench->task = {parameters.text("metric"),
                 parameters.number("width"),
                 parameters.number("count", 1),
                 static_cast<std::size_t>(steps),
                 parameters.text("state", "idle") == "idle",
                 &bench->output};
  return {[bench, operation = tasks::contender(bench->task)](Burst& burst) { operation(burst); },
          std::as_writable_bytes(std::span(&bench->output, 1))};
}
