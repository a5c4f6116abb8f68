// SPDX-License-Identifier: MIT
//
// Processes that divide one index range among themselves. If some are killed, at any moment, the
// others still do the whole range.
//
//   struct Rows {
//     const float* a;  // both in shared memory that was mapped before the team was made
//     float* c;
//   };
//   void compute_rows(handoff::IndexRange range, const Rows& rows) {
//     for (const std::size_t i : range) rows.c[i] = 2 * rows.a[i];
//   }
//   handoff::ProcessTeam team{{.width = 8}};
//   handoff::Tally tally = team.run<compute_rows>(row_count, Rows{a, c});
//
// For: kernels that may crash, leak or hang; libraries that end the whole process. Not for: kernels
// that you trust (ThreadTeam: no copies, no start-up); blocks of less than 10 us.
//
// Contract: bulk tier, in the kernel form (core/kernel.hpp).
// - Concurrency: any thread may call run(). One run is on at a time; the other calls wait. Inside a
//   kernel run() is misuse.
// - Order: what came before run() happens before every block; every block happens before run()
//   returns.
// - Blocks: run(), until each index has its outcome. The caller sleeps meanwhile and runs no block.
// - Allocates: the constructor, and a run() that gives up a block or fails.
// - If a worker dies, another worker does its block again from the beginning. So a kernel writes
//   only what belongs to its own indices, or commits once (docs/guide/processes.md).
// - A block that has ended ProcessTeamOptions::tries workers is given up. It counts as failed, and
//   lost() has its indices and the signal. If each index matters, ask for `RunOptions::block = 1`;
//   a run has at most max_blocks blocks.
// - A worker that is at one block for longer than `limit` is killed. Without a limit run() waits
//   for a kernel that hangs or is stopped.
// - If no worker is left and none can be had, the rest counts as cancelled, and run() throws
//   std::system_error.
// - Exceptions: a block that throws counts as failed, whole; all others run. Then run() throws the
//   first failure, a WorkFailed.
// - Workers are forks of this program as it was when the team was made, so make the team early; or
//   they are another program (worker_program.hpp). What a worker has: docs/guide/processes.md.
//
// Source: a word for each block, claimed by compare-and-swap: docs/design/process_team.md.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/kernel.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/run_options.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/work_failed.hpp>
#include <handoff/process/detail/kernel_signature.hpp>
#include <handoff/process/process_team_options.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

class ProcessTeam {
  class Master;

 public:
  // The most workers of a team.
  static constexpr std::size_t max_width = 1024;
  // The most blocks of a run, each of which is done, given again or lost as a whole. A run that
  // would have more gets larger ones.
  static constexpr std::size_t max_blocks = 65536;
  // The most bytes of a kernel's arguments.
  static constexpr std::size_t max_arguments = 4096;

  // Starts the fork server and the workers. Throws std::system_error, std::bad_alloc, with nothing
  // left behind.
  explicit ProcessTeam(const ProcessTeamOptions& options = {});
  // With this many workers: ProcessTeam team(4).
  explicit ProcessTeam(std::size_t width) : ProcessTeam(ProcessTeamOptions{.width = width}) {}
  // Ends the workers, and waits until they are gone.
  ~ProcessTeam();
  ProcessTeam(ProcessTeam&&) noexcept;
  ProcessTeam& operator=(ProcessTeam&&) noexcept;

  // Workers: what was asked for, or fewer where they could not be started.
  [[nodiscard]] std::size_t width() const noexcept;

  // Calls kernel(IndexRange, const Arguments&) in the workers, for blocks that cover [0, count).
  // Returns what became of the indices; throws what the contract above says.
  template <auto kernel, class Arguments>
  Tally run(std::size_t count, const Arguments& arguments, const RunOptions& options = {}) {
    static_assert(
        std::is_trivially_copyable_v<Arguments>,
        "run: a kernel's arguments are copied byte by byte to other processes: hand it numbers, "
        "and pointers and spans into shared memory");
    static_assert(KernelOf<kernel, Arguments>,
                  "run: a kernel is a function (IndexRange, const Arguments&) that returns void");
    static_assert(sizeof(Arguments) <= max_arguments && alignof(Arguments) <= 64,
                  "run: at most 4096 bytes of arguments: hand it a pointer into shared memory");
    return run_blocks(count, &call_kernel<kernel, Arguments>, std::addressof(arguments),
                      sizeof(Arguments), options);
  }

  // The same by the kernel's name, where ProcessTeamOptions::program says which program has it
  // (worker_program.hpp).
  template <class Arguments>
  Tally run(std::string_view kernel, std::size_t count, const Arguments& arguments,
            const RunOptions& options = {}) {
    static_assert(std::is_trivially_copyable_v<Arguments>,
                  "run: a kernel's arguments are copied byte by byte to other processes: hand it "
                  "numbers, and SharedSpans");
    static_assert(sizeof(Arguments) <= max_arguments && alignof(Arguments) <= 64,
                  "run: at most 4096 bytes of arguments: hand it a SharedSpan");
    if (!detail::is_kernel_name(kernel)) {
      misuse("run: the name of a kernel has 1 to 47 bytes and no spaces");
    }
    return run_named(count, detail::KernelSignature::of<Arguments>(kernel),
                     std::addressof(arguments), options);
  }

  // What became of the indices of the last run(), also if it threw. Not while one is on.
  [[nodiscard]] Tally tally() const noexcept;

  // The blocks that the last run() gave up, in the order of their ends. Not while one is on.
  [[nodiscard]] const std::vector<LostWork>& lost() const noexcept;

 private:
  Tally run_named(std::size_t count, const detail::KernelSignature& kernel, const void* arguments,
                  const RunOptions& options);
  Tally run_blocks(std::size_t count, BlockCall call, const void* arguments, std::size_t bytes,
                   const RunOptions& options);

  std::unique_ptr<Master> master_;
};

}}  // namespace handoff::HANDOFF_ABI
