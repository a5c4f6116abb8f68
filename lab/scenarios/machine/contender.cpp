// SPDX-License-Identifier: MIT
// Hands the metric on, and counts as items what the answer says.
#include "scenarios/machine/contender.hpp"

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  return answering([work = machine::contender(parameters.text("metric"))](Burst& burst) {
    const machine::Answer answer = work(burst);
    burst.items(static_cast<double>(answer.count));
    return answer;
  });
}
