// SPDX-License-Identifier: MIT
//
// The loops of core/parallel_for.hpp on a ThreadPool: without an indirect call, without an
// allocation, and with a caller that helps.
//
//   handoff::parallel_for(pool, 0, n, [&](std::size_t i) { c[i] = a[i] + b[i]; });
//   handoff::parallel_for(pool, 0, n, [&](handoff::IndexRange r) { add(a, b, c, r); });
//   handoff::parallel_for(pool, pixels, [](Pixel& p) { p.dim(); }, {.until = stop});
//   const double sum = handoff::parallel_reduce(
//       pool, 0, n, 0.0, [&](std::size_t i) { return a[i]; }, std::plus<>());
//
// For: loops in and around tasks, nested ones too. Not for: the same loop again and again in a
// program that does nothing else (ThreadTeam).
//
// Contract: as core/parallel_for.hpp, and:
// - Idle workers are called one by one, while blocks remain.
// - Blocks: until every index is done, as TaskGroup::wait() does.
// - Allocates: nothing once the worker has its nodes; parallel_reduce its partial results.
// - Closed: works on, on the threads that are left, the caller at least.
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/range_run.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/core/run_options.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/pool/detail/engine.hpp>
#include <handoff/pool/detail/waited_run.hpp>
#include <handoff/pool/thread_pool.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <std::derived_from<ThreadPool> Pool>
struct LoopOn<Pool> {
  template <class Block>
  static Tally run(Pool& pool, std::size_t count, const Block& block, const RunOptions& options) {
    Tally tally =
        WaitedRun<Block>(engine_of(pool), count, block,
                         loop_options(options, count, pool.width() + 1), AtFailure::rest_left_out)
            .run();
    if (tally.first_failure) std::rethrow_exception(std::move(tally.first_failure));
    return tally;
  }
};

}}}  // namespace handoff::HANDOFF_ABI::detail
