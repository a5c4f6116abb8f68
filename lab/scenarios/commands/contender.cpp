// SPDX-License-Identifier: MIT
// Turns the lab's parameters into a task.
#include "scenarios/commands/contender.hpp"

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  using commands::Keys;
  const std::size_t calls = parameters.number("calls");
  if (calls % (4 * commands::kChunk) != 0) throw Unavailable("calls is no multiple of 200");
  return prepared(
      commands::contender,
      commands::Task{
          .metric = parameters.text("metric"),
          .threads = parameters.number("threads"),
          .calls = calls,
          .key_bits = parameters.number("key_bits"),
          .work = parameters.number("work"),
          .keys = parameters.text("keys", "article") == "random" ? Keys::random : Keys::article});
}
