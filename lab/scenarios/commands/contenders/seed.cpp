// SPDX-License-Identifier: MIT
// The article's versions, of which each has one thing more.
#include "scenarios/commands/seed_buckets.hpp"

namespace handoff::lab::commands {
namespace {

template <int kVersion>
struct Version {
  template <class Key>
  using Buckets = SeedBuckets<kVersion, Key>;
};

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>({
      // One thread, global new.
      {"seed.v1", measure<Version<1>::Buckets>},
      // One thread, linear memory.
      {"seed.v2", measure<Version<2>::Buckets>},
      // Global new, an atomic index.
      {"seed.v3", measure<Version<3>::Buckets>},
      // Linear memory by an atomic offset, an atomic index.
      {"seed.v4", measure<Version<4>::Buckets>},
      // As version 4, packets rounded up to cache lines.
      {"seed.v5", measure<Version<5>::Buckets>},
      // Linear memory of each thread, an atomic index.
      {"seed.v6", measure<Version<6>::Buckets>},
      // The same, 32 indices at a time for each thread and bucket.
      {"seed.v7", measure<Version<7>::Buckets>},
  })(task);
}

}  // namespace handoff::lab::commands
