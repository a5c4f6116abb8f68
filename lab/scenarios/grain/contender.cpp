// SPDX-License-Identifier: MIT
// Turns the lab's parameters into a task.
#include "peers/kernel.hpp"
#include "scenarios/grain/measure.hpp"

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte>) {
  struct Bench {
    peers::Answer output;
    std::vector<grain::Tiny> items;
    grain::Task task;
  };
  auto bench = std::make_shared<Bench>();
  const std::string metric = parameters.text("metric");
  const bool loop = metric == "loop";
  if (loop) bench->items.resize(parameters.number("count"));
  bench->task = {metric,
                 parameters.text("unit", "index") == "index",
                 parameters.number("width"),
                 loop ? 0 : peers::burn_step_ns(),
                 &bench->output,
                 bench->items};
  return {[bench, operation = grain::contender(bench->task)](Burst& burst) { operation(burst); },
          loop ? std::as_writable_bytes(std::span(bench->items))
               : std::as_writable_bytes(std::span(&bench->output, 1))};
}
