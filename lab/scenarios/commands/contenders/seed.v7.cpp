// SPDX-License-Identifier: MIT
// The article's version 7: linear memory of each thread, 32 indices at a time for each thread and
// bucket.
#include "scenarios/commands/seed_buckets.hpp"

namespace handoff::lab::commands {
namespace {

template <class Key>
using Version7 = SeedBuckets<7, Key>;

}  // namespace

Operation contender(const Task& task) { return measure<Version7>(task); }

}  // namespace handoff::lab::commands
