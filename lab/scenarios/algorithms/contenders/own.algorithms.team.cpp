// SPDX-License-Identifier: MIT
// On a team, of which the caller is a member.
#include <handoff/team/thread_team.hpp>

#include "scenarios/algorithms/own.hpp"

namespace handoff::lab::algorithms {
namespace {

struct Team {
  explicit Team(std::size_t width) : threads({.width = width}) {}
  ThreadTeam threads;
};

}  // namespace

Operation contender(const Task& task) { return measure<Own<Team>>(task); }

}  // namespace handoff::lab::algorithms
