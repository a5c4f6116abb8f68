// SPDX-License-Identifier: MIT
// Makes a scenario's task of the lab's parameters. handoff_scenario() compiles it for each scenario
// whose contenders are given nothing else.
#include HANDOFF_TASK_HEADER

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  return prepared(HANDOFF_SCENARIO::contender, parameters);
}
