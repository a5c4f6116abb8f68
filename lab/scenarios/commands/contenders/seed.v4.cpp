// SPDX-License-Identifier: MIT
// The article's version 4: linear memory by an atomic offset, an atomic index.
#include "scenarios/commands/seed_buckets.hpp"

namespace handoff::lab::commands {
namespace {

template <class Key>
using Version4 = SeedBuckets<4, Key>;

}  // namespace

Operation contender(const Task& task) { return measure<Version4>(task); }

}  // namespace handoff::lab::commands
