// SPDX-License-Identifier: MIT
// The article's version 2: one thread, linear memory.
#include "scenarios/commands/seed_buckets.hpp"

namespace handoff::lab::commands {
namespace {

template <class Key>
using Version2 = SeedBuckets<2, Key>;

}  // namespace

Operation contender(const Task& task) { return measure<Version2>(task); }

}  // namespace handoff::lab::commands
