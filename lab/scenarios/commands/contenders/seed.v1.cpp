// SPDX-License-Identifier: MIT
// The article's version 1: one thread, global new.
#include "scenarios/commands/seed_buckets.hpp"

namespace handoff::lab::commands {
namespace {

template <class Key>
using Version1 = SeedBuckets<1, Key>;

}  // namespace

Operation contender(const Task& task) { return measure<Version1>(task); }

}  // namespace handoff::lab::commands
