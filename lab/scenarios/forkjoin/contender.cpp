// SPDX-License-Identifier: MIT
// Turns the lab's parameters into a task.
#include "scenarios/forkjoin/contender.hpp"

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  return prepared(forkjoin::contender,
                  forkjoin::Task{parameters.text("problem"), parameters.number("width")});
}
