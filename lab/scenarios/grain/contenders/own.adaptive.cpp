// SPDX-License-Identifier: MIT
// This library's adaptive loop: it chooses among the caller alone, a team and a pool as it runs.
#include "peers/own_adaptive.hpp"
#include "scenarios/grain/measure.hpp"

namespace handoff::lab::grain {

Operation contender(const Task& task) { return measure<peers::OwnAdaptive>(task); }

}  // namespace handoff::lab::grain
