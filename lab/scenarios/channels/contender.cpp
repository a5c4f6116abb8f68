// SPDX-License-Identifier: MIT
// Turns the lab's parameters into a task.
#include "scenarios/channels/contender.hpp"

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  return prepared(channels::contender,
                  channels::Task{parameters.number("producers"), parameters.number("consumers")});
}
