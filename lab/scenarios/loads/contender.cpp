// SPDX-License-Identifier: MIT
// Turns the lab's parameters into a task.
#include "scenarios/loads/contender.hpp"

#include <memory>

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte>) {
  struct Bench {
    std::size_t shift = 0;
    loads::Answer output;
    loads::Task task;
  };
  auto bench = std::make_shared<Bench>();
  const loads::Load load = loads::draw(parameters.number("seed"), parameters.number("draw"));
  bench->task = {load, loads::pieces_of(load), parameters.number("width"), &bench->shift,
                 &bench->output};
  if (load.by_memory) loads::have_memory();
  return {[bench, operation = loads::contender(bench->task)](Burst& burst) { operation(burst); },
          std::as_writable_bytes(std::span(&bench->output, 1))};
}
