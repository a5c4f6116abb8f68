// SPDX-License-Identifier: MIT
//
// Processes that divide one index range among themselves. Any of them may be killed at any moment:
// the range is done all the same.
//
//   struct Rows {
//     const float* a;  // both in shared memory that was mapped before the team was made
//     float* c;
//   };
//   void compute_rows(handoff::IndexRange range, const Rows& rows) {
//     for (const std::size_t i : range) rows.c[i] = 2 * rows.a[i];
//   }
//
//   handoff::ProcessTeam team{{.width = 8}};
//   handoff::Tally tally = team.run<compute_rows>(row_count, Rows{a, c});
//
// For: kernels that may crash, leak or hang; libraries that take a whole process with them.
// Not for: kernels that are trusted (ThreadTeam: no copies, no start); work below 10 us a block.
//
// Contract: bulk tier, in the kernel form (core/kernel.hpp).
// - Concurrency: run() by any thread; one run at a time, the others wait. From inside a kernel it
//   is misuse.
// - The caller of run() is no member: it sleeps until all is over or a worker has died.
// - Idle: where each worker has a CPU, workers spin for at most 200 us after a run, then sleep.
// - A kernel is called for a block again if the process that had it ended before the block was
//   done. So it writes only what belongs to its own indices, as if for the first time, or commits
//   once (docs/design/process_team.md shows both). What it wrote elsewhere may be there twice.
// - A block whose kernel ended ProcessTeamOptions::tries processes is given up: it counts as
//   failed, and lost() has its indices and the signal. All other blocks are done; with
//   OnCrash::reset_all they count as failed too. Where each index matters, ask for
//   `RunOptions::block = 1`; a run has at most max_blocks blocks.
// - A worker that is at a block for longer than `limit` is killed; then as above. One that is
//   stopped (SIGSTOP) is one that is late. Without a limit a kernel that hangs is waited for.
// - No worker left, and none to be had: what is done stays done, the rest counts as cancelled, and
//   run() throws std::system_error.
// - Order: what came before run() happens before every block; every block before run() returns.
// - Exceptions: a block that throws is counted as failed, whole; all others run. Then run() throws
//   the first failure, a WorkFailed. After run(), also if it threw, tally() and lost() have the
//   figures.
// - Stopped or late: blocks that have begun run to their end; the rest is cancelled or expired.
// - Allocates: the constructor; run(), in the caller's process.
//
// The workers are another program, if ProcessTeamOptions::program names one (worker_program.hpp).
// Else they are forks of this program as it was when the team was made, by way of one process that
// does nothing but fork: make the team early, while the program is small and has few threads.
// - They have the memory of that moment. What they write is seen by others only in memory that is
//   shared (SharedMemory). What was mapped before the team was made lies at the same address there,
//   so arguments may hold pointers into it. What came later is handed over when a SharedSpan first
//   asks for it; run() refuses pointers into it (EFAULT).
// - Arguments are copied byte by byte, at most 4096 bytes.
// - They have standard input, output and error (/dev/null for one that this program has closed) and
//   what is needed here, but no other descriptor.
// - They have one thread; locks that other threads held at that moment stay held. exit() in a
//   kernel calls no handler and no destructor of the program.
// - They block all signals but those of faults and limits, and end with this process, at once,
//   however it ends: within the time that the system needs to tell.
// - The program has one more child, the fork server: waiting for any child finds it. Its end, and
//   that of the workers, is asked for by a descriptor, so a program that ignores SIGCHLD, or waits
//   for any child, disturbs nothing.
//
// Source: claims by compare-and-swap, given back when the kernel says that their process is gone:
//   docs/design/process_team.md.
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
  // With so many workers: ProcessTeam team(4).
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
