// SPDX-License-Identifier: MIT
// This library's team: members that claim blocks of a loop's indices.
#include "peers/own_team.hpp"
#include "scenarios/grain/measure.hpp"

namespace handoff::lab::grain {

Operation contender(const Task& task) { return measure<peers::OwnTeam>(task); }

}  // namespace handoff::lab::grain
