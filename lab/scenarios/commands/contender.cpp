// SPDX-License-Identifier: MIT
// Turns the lab's parameters into a task.
#include "scenarios/commands/contender.hpp"

#include <memory>
#include <span>

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  struct Bench {
    commands::Answer output{};
    commands::Task task;
  };
  auto bench = std::make_shared<Bench>();
  bench->task = {.metric = parameters.text("metric"),
                 .threads = parameters.number("threads"),
                 .calls = parameters.number("calls"),
                 .key_bits = parameters.number("key_bits"),
                 .work = parameters.number("work"),
                 .keys = parameters.text("keys", "article") == "random" ? commands::Keys::random
                                                                        : commands::Keys::article,
                 .output = &bench->output};
  constexpr std::size_t all = 4 * commands::kChunk;
  if (bench->task.calls % all != 0) throw Unavailable("calls is no multiple of 200");
  return {[bench, operation = commands::contender(bench->task)](Burst& burst) { operation(burst); },
          std::as_writable_bytes(std::span(&bench->output, 1))};
}
