// SPDX-License-Identifier: MIT
// CommandBucket: recorded, sorted by all threads, dispatched by one; or dispatched by all threads,
// each to a list of its own.
#include "scenarios/commands/own_buckets.hpp"

namespace handoff::lab::commands {

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>(
      {{"own.bucket", measure<OwnBuckets>},
       {"own.bucket.parallel_submit", measure<OwnBucketsInLists>}})(task);
}

}  // namespace handoff::lab::commands
