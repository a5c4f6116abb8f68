// SPDX-License-Identifier: MIT
// This library's team of processes: the caller is none of them. Only for a kernel whose whole
// result lies in memory that it was given: elsewhere a worker's writes are its own.
#include <memory>
#include <system_error>

#include <handoff/process/process_team.hpp>

#include "scenarios/try/contender.hpp"

namespace handoff::lab::trial {
namespace {

struct Nothing {};

void run_block(IndexRange range, const Nothing& /*nothing*/) {
  run_items_throwing(range.first, range.last);
}

}  // namespace

Operation contender(const Task& task) {
  if (!task.in_given_memory) {
    throw Unavailable(
        "its result does not lie in memory that processes share: set result_bytes, and write the "
        "whole result to what setup() is given");
  }
  try {
    // A worker that a kernel ends is no accident here: the first time is told.
    auto team = std::make_shared<ProcessTeam>(
        ProcessTeamOptions{.width = task.width, .tries = 1, .on_fewer = OnFewerWorkers::refuse});
    return [&task, team] {
      static_cast<void>(team->run<run_block>(task.items, Nothing{}, {.block = task.block}));
    };
  } catch (const std::system_error& error) {
    throw Unavailable(error.what());
  }
}

}  // namespace handoff::lab::trial
