// SPDX-License-Identifier: MIT
// The article's version 3: global new, an atomic index.
#include "scenarios/commands/seed_buckets.hpp"

namespace handoff::lab::commands {
namespace {

template <class Key>
using Version3 = SeedBuckets<3, Key>;

}  // namespace

Operation contender(const Task& task) { return measure<Version3>(task); }

}  // namespace handoff::lab::commands
