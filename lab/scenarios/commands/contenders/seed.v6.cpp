// SPDX-License-Identifier: MIT
// The article's version 6: linear memory of each thread, an atomic index.
#include "scenarios/commands/seed_buckets.hpp"

namespace handoff::lab::commands {
namespace {

template <class Key>
using Version6 = SeedBuckets<6, Key>;

}  // namespace

Operation contender(const Task& task) { return measure<Version6>(task); }

}  // namespace handoff::lab::commands
