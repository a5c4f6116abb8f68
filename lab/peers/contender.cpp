// SPDX-License-Identifier: MIT
// One of the pools in one of the scenarios. handoff_pool_contender() compiles it once for each such
// pair, as a program of its own, and says which one it is.
#include HANDOFF_POOL_HEADER
#include HANDOFF_MEASURE_HEADER

namespace handoff::lab::HANDOFF_SCENARIO {

Operation contender(const Task& task) { return measure<peers::HANDOFF_POOL>(task); }

}  // namespace handoff::lab::HANDOFF_SCENARIO
