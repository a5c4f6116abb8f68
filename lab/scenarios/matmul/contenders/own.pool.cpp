// SPDX-License-Identifier: MIT
// This library's pool: a loop whose caller works with its threads.
#include <algorithm>
#include <memory>

#include <handoff/pool/parallel_for.hpp>
#include <handoff/pool/thread_pool.hpp>

#include "scenarios/matmul/contender.hpp"

namespace handoff::lab::matmul {

Operation contender(const Task& task) {
  auto pool = std::make_shared<ThreadPool>(
      ThreadPoolOptions{.width = std::max<std::size_t>(task.width - 1, 1)});
  const std::size_t claim = task.claim_rows();
  return [&task, claim, pool, rows = task.rows()] {
    parallel_for(*pool, 0, (task.m + claim - 1) / claim, [&](IndexRange claims) {
      rows(claims.first * claim, std::min(claims.last * claim, task.m));
    });
  };
}

}  // namespace handoff::lab::matmul
