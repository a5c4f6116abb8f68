// SPDX-License-Identifier: MIT
// Turns the lab's parameters into a task.
#include "scenarios/messages/contender.hpp"

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  return prepared(messages::contender,
                  messages::Task{.metric = parameters.text("metric"),
                                 .producers = parameters.number("producers", 1),
                                 .consumers = parameters.number("consumers", 1),
                                 .bytes = parameters.number("bytes", messages::paced_bytes),
                                 .batches = parameters.text("publish", "single") == "batch",
                                 .sleeps = parameters.text("consumer", "spins") == "sleeps",
                                 .load = static_cast<double>(parameters.number("load", 100))});
}
