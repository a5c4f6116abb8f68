// SPDX-License-Identifier: MIT
// CommandBucket, dispatched by all threads, each to a list of its own.
#include "scenarios/commands/own_buckets.hpp"

namespace handoff::lab::commands {

Operation contender(const Task& task) { return measure<OwnBucketsInLists>(task); }

}  // namespace handoff::lab::commands
