// SPDX-License-Identifier: MIT
// This library's pool, mode stealing, for code that knows std::future only.
#include <handoff/pool/submit_std.hpp>

#include "peers/own_pool.hpp"
#include "scenarios/tasks/measure.hpp"

namespace handoff::lab::tasks {
namespace {

struct StdFutures : peers::OwnPool<PoolMode::stealing> {
  using OwnPool::OwnPool;
  std::future<std::uint64_t> submit(Job job) { return submit_std(pool(), job); }
};

}  // namespace

Operation contender(const Task& task) { return measure<StdFutures>(task); }

}  // namespace handoff::lab::tasks
