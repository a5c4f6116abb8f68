// SPDX-License-Identifier: MIT
// Turns the lab's parameters into a task.
#include "scenarios/processes/contender.hpp"

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  return prepared(processes::contender,
                  processes::Task{parameters.text("metric"), parameters.number("bytes")});
}
