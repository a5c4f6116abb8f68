// SPDX-License-Identifier: MIT
// Turns the lab's parameters into a task.
#include "scenarios/messages/contender.hpp"

#include <memory>
#include <span>

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  struct Bench {
    messages::Answer output{};
    messages::Task task;
  };
  auto bench = std::make_shared<Bench>();
  bench->task = {.metric = parameters.text("metric"),
                 .producers = parameters.number("producers", 1),
                 .consumers = parameters.number("consumers", 1),
                 .bytes = parameters.number("bytes", messages::paced_bytes),
                 .batches = parameters.text("publish", "single") == "batch",
                 .sleeps = parameters.text("consumer", "spins") == "sleeps",
                 .load = static_cast<double>(parameters.number("load", 100)),
                 .output = &bench->output};
  return {[bench, operation = messages::contender(bench->task)](Burst& burst) { operation(burst); },
          std::as_writable_bytes(std::span(&bench->output, 1))};
}
