// SPDX-License-Identifier: MIT
//
// A run over an index range on a pool: what ThreadPool::run() and start() do. Not for users.
//
// A started run is one task in the pool's queue, which knows nothing but this. The worker that runs
// it calls the next member while blocks are left, into its own deque, where idle workers steal; so
// a member that nobody has stolen is run by the worker that called it, and nobody waits for a
// queue. The members are counted, and the last one to leave tells.
// Concurrency: as core/bulk.hpp says. Allocates: nothing of its own.
#pragma once

#include <cstddef>

#include <handoff/config.hpp>
#include <handoff/core/bulk.hpp>
#include <handoff/core/internal/range_run.hpp>
#include <handoff/core/kernel.hpp>
#include <handoff/core/run_options.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/stop_token.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class Engine;
struct Worker;

class PoolRun {
 public:
  PoolRun() noexcept : members_(0) {}
  PoolRun(const PoolRun&) = delete;
  PoolRun& operator=(const PoolRun&) = delete;

  // Throws std::bad_alloc if the queue cannot grow.
  Status start(Engine& engine, std::size_t count, BulkWork& work, const RunOptions& options);

 private:
  static Outcome begin(Task& task);
  static Outcome drop_all(Task& task, Outcome why) noexcept;
  static Outcome drop_member(Task& task, Outcome why) noexcept;
  static constexpr TaskKind kFirst{&begin, &drop_all, nullptr};
  static constexpr TaskKind kMember{&begin, &drop_member, nullptr};

  void take_part() noexcept;
  void call_next(Worker& worker);
  void run_own(Worker& worker) noexcept;
  void leave() noexcept;

  Engine* engine_ = nullptr;
  BulkWork* work_ = nullptr;
  sync::StopToken stop_;  // of the options
  RunOptions options_;
  sync::atomic<std::size_t> members_;  // called and not gone
  RangeRun range_;
};

// The caller takes part and waits (waited_run.hpp).
Tally run_in_pool(Engine& engine, std::size_t count, BlockCall call, const void* work,
                  const RunOptions& options) noexcept;

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
