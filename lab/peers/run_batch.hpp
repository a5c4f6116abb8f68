// SPDX-License-Identifier: MIT
// A batch of jobs through a pool, in whichever of two forms it has:
//
//   void batch(count, steps)    all at once
//   void begin(count)           told before a batch how large it will be, where it asks for that,
//   void execute(job)           then for each job: runs job() on some thread, once,
//   void wait()                 until all executed jobs are done
#pragma once

#include <cstddef>

#include "peers/job.hpp"

namespace handoff::lab::peers {

template <class Pool>
concept RunsWholeBatches = requires(Pool& pool) { pool.batch(std::size_t{}, std::size_t{}); };
template <class Pool>
concept RunsBatches = RunsWholeBatches<Pool> || requires(Pool& pool) {
  pool.execute(Job{});
  pool.wait();
};

// The jobs 1 .. count, each with so many steps of work.
template <RunsBatches Pool>
void run_batch(Pool& pool, std::size_t count, std::size_t steps) {
  if constexpr (RunsWholeBatches<Pool>) {
    pool.batch(count, steps);
  } else {
    if constexpr (requires { pool.begin(count); }) pool.begin(count);
    for (std::size_t i = 1; i <= count; ++i) pool.execute(Job{i, steps});
    pool.wait();
  }
}

}  // namespace handoff::lab::peers
