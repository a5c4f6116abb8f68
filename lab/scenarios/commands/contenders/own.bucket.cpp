// SPDX-License-Identifier: MIT
// CommandBucket: recorded, sorted by all threads, dispatched by one.
#include "scenarios/commands/own_buckets.hpp"

namespace handoff::lab::commands {

Operation contender(const Task& task) { return measure<OwnBuckets>(task); }

}  // namespace handoff::lab::commands
