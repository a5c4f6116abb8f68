// SPDX-License-Identifier: MIT
//
// Threads that divide one index range among themselves: each claims blocks until none is left.
//
//   handoff::ThreadTeam team{{.width = 8}};
//   team.run(rows, [&](handoff::IndexRange r) { for (auto i : r) compute_row(a[i], b, c[i]); });
//
// For: loops over rows, pixels, particles, files, run again and again without starting threads.
// Not for: tasks of different kinds, or tasks that make tasks (a pool); not for a range that one
// thread finishes within some microseconds (a plain loop).
//
// Contract: bulk tier (core/bulk.hpp).
// - Concurrency: run() and start() by any thread; one run at a time, the others wait for their
//   turn, those of start() in the order in which they came. From inside a block or a completion of
//   the same team, however deep, run() is misuse; start() is not, and other teams may be run there,
//   nested in one order everywhere, as locks are.
// - The caller of run() is a member: a team of `width` starts width - 1 threads. Members beyond the
//   CPUs that this process may use sleep, unless a run makes no progress for some hundred
//   microseconds because its blocks wait for something. Then all of them join in.
// - start() returns at once, and the started threads do all the work; where the caller's CPU is
//   free, one more of them takes part. A team of one has no started threads: start() does the work
//   itself, or leaves it to the thread that ends the current run.
// - Order: what came before run() or start() happens before every block; every block happens before
//   run() returns, or before the completion. Blocks run in no order among themselves; nor do the
//   completions of several runs.
// - Blocks: run(), until every index is accounted for; start() never. Members between runs spin for
//   some microseconds (only where each can have a CPU) and then sleep at no cost.
// - Allocates: the constructor; run() and start() nothing.
// - Stopped or late: blocks that have begun run to their end, about 50 us where `until` can end;
//   the rest is cancelled or expired. A started run that waits for its turn looks when that comes.
// - Exceptions: a block that throws is counted as failed, whole; all others run; then run()
//   rethrows the first that was thrown, and a completion finds it in its Tally. After run(),
//   tally() has the figures.
// - Closing: the destructor waits for the runs that were started, completions too. From then
//   on start(), which only a completion can still call, says `closed`.
// - fork(): the child must not use the team; there its end does nothing.
// - pthread_cancel() of a thread in a block ends the program: ask a stop token.
//
// Source: the claims are guided self-scheduling with affinity (docs/design/bulk.md); the gate that
// lets late members miss a run is described in docs/design/thread_team.md.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/bulk.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/internal/wrong_field.hpp>
#include <handoff/core/kernel.hpp>
#include <handoff/core/run_options.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/sync/internal/sanitizer.hpp>
#include <handoff/sync/stop_token.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

// What a team may be told when it is made.
struct ThreadTeamOptions {
  // What debuggers and `top` show for the threads.
  std::string name = "handoff-team";

  // Members, with the caller; 0: as many as this process may use CPUs (affinity cut by the cgroup
  // quota). At most ThreadTeam::max_width.
  std::size_t width = 0;
  [[no_unique_address]] detail::CalledWidth threads = {};  // no field

  // Where the threads may run: thread i on cpus[i % size] alone; empty: anywhere.
  std::vector<int> cpus = {};
};

class ThreadTeam {
  class Members;
  class Turns;

 public:
  // The most members of a team.
  static constexpr std::size_t max_width = 4096;

  // If the system refuses a thread the team works with those it got: see width(). Throws
  // std::system_error if one of `cpus` is none that a thread may run on, and std::bad_alloc; either
  // way nothing is left behind.
  explicit ThreadTeam(const ThreadTeamOptions& options = {});
  // With this many members: ThreadTeam team(4).
  explicit ThreadTeam(std::size_t width) : ThreadTeam(ThreadTeamOptions{.width = width}) {}
  ~ThreadTeam();
  ThreadTeam(ThreadTeam&&) noexcept;
  ThreadTeam& operator=(ThreadTeam&&) noexcept;

  // Members, with the caller: what was asked for, or fewer where the system refused threads.
  [[nodiscard]] std::size_t width() const noexcept;

  // Calls body(IndexRange) for blocks that cover [0, count) exactly once, on several threads at
  // once. Returns what became of the indices.
  template <class Body>
  Tally run(std::size_t count, const Body& body, const RunOptions& options = {}) {
    static_assert(std::is_invocable_v<const Body&, IndexRange>,
                  "run: the body takes a handoff::IndexRange; parallel_for() takes single indices");
    return run_body(count, body, options, false);
  }

  // The same for a kernel: kernel(IndexRange, const Arguments&).
  template <auto kernel, class Arguments>
  Tally run(std::size_t count, const Arguments& arguments, const RunOptions& options = {}) {
    static_assert(
        std::is_trivially_copyable_v<Arguments>,
        "run: a kernel's arguments are copied byte by byte, also to other processes: hand "
        "it pointers, spans and numbers");
    static_assert(KernelOf<kernel, Arguments>,
                  "run: a kernel is a function (IndexRange, const Arguments&) that returns void");
    const sync::Waited waited(members_.get());
    return run_blocks(count, &call_kernel<kernel, Arguments>, std::addressof(arguments), options);
  }

  // What the team keeps of a started run.
  class BulkStorage {
   public:
    BulkStorage() noexcept = default;
    BulkStorage(const BulkStorage&) = delete;
    BulkStorage& operator=(const BulkStorage&) = delete;

   private:
    friend class Members;
    friend class Turns;
    std::size_t count_ = 0;
    BulkWork* work_ = nullptr;
    sync::StopToken stop_;  // of the options
    RunOptions options_;
    BulkStorage* next_ = nullptr;  // of those that wait for their turn
  };

  // Begins a run and returns. ok: work.ended() will be called, once. closed: it will not. Both
  // references must hold until then. BulkOperation makes this from two functions.
  Status start(std::size_t count, BulkWork& work, BulkStorage& storage,
               const RunOptions& options = {});

  // What became of the indices of the last run(), also if it threw; what a parallel_for() that
  // threw left out is cancelled. Not while one is on.
  [[nodiscard]] Tally tally() const noexcept;

 private:
  // For parallel_for(): once a block has thrown no other one begins.
  template <class Body>
  friend Tally run_until_failure(ThreadTeam& team, std::size_t count, const Body& body,
                                 const RunOptions& options) {
    return team.run_body(count, body, options, true);
  }
  template <class Body>
  Tally run_body(std::size_t count, const Body& body, const RunOptions& options,
                 bool rest_left_out) {
    const sync::Waited waited(members_.get());
    return with_block_call(body, [&](BlockCall call, const void* work) {
      return run_blocks(count, call, work, options, rest_left_out);
    });
  }
  Tally run_blocks(std::size_t count, BlockCall call, const void* work, const RunOptions& options,
                   bool rest_left_out = false);

  std::unique_ptr<Members> members_;
};

static_assert(Bulk<ThreadTeam>);

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
