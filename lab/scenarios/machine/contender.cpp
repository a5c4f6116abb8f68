// SPDX-License-Identifier: MIT
// Hands the metric on, and counts as items what the answer says.
#include "scenarios/machine/contender.hpp"

#include <memory>
#include <span>

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  const auto answer = std::make_shared<machine::Answer>();
  const auto operation = [answer,
                          work = machine::contender(parameters.text("metric"))](Burst& burst) {
    *answer = work(burst);
    burst.items(static_cast<double>(answer->count));
  };
  return {operation, std::as_writable_bytes(std::span(answer.get(), 1))};
}
