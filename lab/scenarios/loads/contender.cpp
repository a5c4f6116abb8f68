// SPDX-License-Identifier: MIT
// Turns the lab's parameters into a task.
#include "scenarios/loads/contender.hpp"

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  const loads::Load load = loads::draw(parameters.number("seed"), parameters.number("draw"));
  if (load.by_memory) loads::have_memory();
  return prepared(loads::contender,
                  loads::Task{load, loads::pieces_of(load), parameters.number("width"),
                              std::make_shared<std::size_t>()});
}
