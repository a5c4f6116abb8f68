// SPDX-License-Identifier: MIT
//
// A run over an index range on a pool whose caller takes part and waits: ThreadPool::run() and
// parallel_for(). Not for users.
//
// Members are tasks of a group on the caller's stack: all leave before its wait returns, which
// helps as a TaskGroup's owner does.
// Concurrency: as core/bulk.hpp says. Allocates: nothing once the worker has its nodes.
#pragma once

#include <cstddef>

#include <handoff/config.hpp>
#include <handoff/core/internal/range_run.hpp>
#include <handoff/core/run_options.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/until.hpp>
#include <handoff/pool/detail/closure_maker.hpp>
#include <handoff/pool/detail/engine.hpp>
#include <handoff/pool/detail/group_tasks.hpp>
#include <handoff/pool/detail/task_place.hpp>
#include <handoff/pool/detail/worker.hpp>
#include <handoff/sync/cache_line.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class Block>
class WaitedRun {
 public:
  WaitedRun(Engine& engine, std::size_t count, const Block& block, const RunOptions& options,
            AtFailure at_failure) noexcept
      : group_(engine), block_(block), until_(options.until) {
    range_.open(count, engine.width() + 1, options.block, at_failure);
  }

  Tally run() noexcept {
    take_part();
    (void)group_.wait();  // nothing fails in it; what is dropped is done by the others
    return range_.settle();
  }

 private:
  // Null: there is no seat for the caller, which does it all.
  void take_part() noexcept {
    Worker* const worker = group_.worker_here();
    const auto call = [this, worker] {
      if (worker == nullptr) return;
      const auto part = [this]() noexcept { take_part(); };
      ClosureMaker<decltype(part)> maker;
      TaskPlace place = group_.reserve_in(*worker);  // never refused
      place.fill(maker, part).publish();
    };
    range_.work_and_call(worker == nullptr ? 0 : worker->member(), block_, until_, call);
  }

  // First, so that what all members touch lies in the fewest cache lines. run() has waited.
  alignas(sync::destructive_span) GroupTasks group_;
  const Block& block_;
  const Until until_;
  RangeRun range_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
