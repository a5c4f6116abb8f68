// SPDX-License-Identifier: MIT
// On a pool, whose caller is one of the threads that execute.
#include <handoff/pool/parallel_for.hpp>
#include <handoff/pool/thread_pool.hpp>

#include "scenarios/algorithms/own.hpp"

namespace handoff::lab::algorithms {
namespace {

struct Pool {
  explicit Pool(std::size_t width)
      : threads({.mode = PoolMode::stealing, .width = std::max<std::size_t>(width - 1, 1)}) {}
  ThreadPool threads;
};

}  // namespace

Operation contender(const Task& task) { return measure<Own<Pool>>(task); }

}  // namespace handoff::lab::algorithms
