// SPDX-License-Identifier: MIT
// Starts threads one after the other, and counts those that ran. A contender that has a prepare()
// of its own does not get this one.
#include "scenarios/spawn/contender.hpp"

#include <memory>
#include <span>

handoff::lab::Prepared handoff::lab::prepare(const Parameters& /*parameters*/,
                                             std::span<const std::byte> /*input*/) {
  const auto ran = std::make_shared<std::uint64_t>();
  const auto operation = [ran, start_one = spawn::contender()](Burst& burst) {
    *ran = 0;
    for (std::uint64_t i = 0; i < spawn::threads; ++i) {
      spawn::Word word;
      start_one(word);
      if (word.is_of_another_stack()) ++*ran;
    }
    burst.items(static_cast<double>(spawn::threads));
  };
  return {operation, std::as_writable_bytes(std::span(ran.get(), 1))};
}
