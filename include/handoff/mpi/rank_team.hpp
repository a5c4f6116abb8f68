// SPDX-License-Identifier: MIT
//
// The processes of an Open MPI job, on one machine or many, that divide one index range among
// themselves. Every rank makes the same calls, and mpirun starts the ranks.
//
//   handoff::RankTeam team{{.threads = 2}};
//   team.broadcast(std::span(a));                         // from rank 0 to all
//   std::vector<float> c(team.rank() == 0 ? rows * columns : 0);
//   team.run(rows, [&](handoff::IndexRange r, std::span<float> out) { multiply(a, r, out); }, c);
//   // On rank 0 c is complete now.
//
// For: loops that outgrow one machine. Not for: one machine (ThreadTeam), work that must survive a
// process that dies (ProcessTeam: a lost rank ends an MPI job; see `checkpoint`), rows of less than
// 10 us with results.
//
// Contract: bulk tier (core/bulk.hpp), where every call is made by all ranks, in the same order.
// - Concurrency: one thread of each rank calls, which may call MPI. During run() it calls MPI, and
//   threads of the team compute; other threads leave MPI alone. Inside a block run() is misuse.
// - Order: what came before run() on a rank happens before its blocks. On rank 0 all results are in
//   place before run() returns; other ranks may return earlier or later.
// - Blocks: every call, until all ranks have made it; run() until all blocks are done.
// - Allocates: run(), some memory; with results at most a few MiB a thread, or a block, which it
//   keeps for the next run.
// - Stopped or late: if one rank's `until` ends, no rank begins another block. Where one can end,
//   blocks are done in pieces of about 5 ms, and no fewer indices than `block`. Returns the Tally.
// - Exceptions: a block that throws counts as failed, whole; all others run. Then run() throws
//   WorkFailed on all ranks: rank, host and text of the first.
// - What is wrong on one rank (another count, another build, a checkpoint of another input, a
//   window that cannot be made) is thrown on all, with the same text.
// - A rank that dies ends the job, as mpirun kills the others. A rank of another machine that
//   answers no more during run() is lost: run() throws std::system_error (ETIMEDOUT) on all that
//   notice, and the program ends.
// - MPI is initialised, if the program has not, and then finalised when the program ends.
//
// Source: factoring, S. Flynn Hummel, E. Schonberg, L. Flynn, 1992: docs/design/rank_team.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/reduction.hpp>
#include <handoff/core/kernel.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/work_failed.hpp>
#include <handoff/mpi/rank_team_options.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {

// How a team of ranks calls any body: `out` is where the results of the block belong.
using RankBlockCall = void (*)(const void* body, IndexRange block, std::byte* out,
                               std::size_t bytes_per_index);

// A run, as all types of bodies have it.
struct RankJob {
  std::size_t count = 0;
  RankBlockCall call = nullptr;
  const void* body = nullptr;
  std::span<std::byte> results = {};  // on rank 0
  std::size_t value_bytes = 0;  // of each; 0: no results
};

}  // namespace detail

class RankTeam {
  class Ranks;

 public:
  // Throws std::system_error on all ranks if something is wrong on one.
  explicit RankTeam(const RankTeamOptions& options = {});
  ~RankTeam();
  RankTeam(RankTeam&&) noexcept;
  RankTeam& operator=(RankTeam&&) noexcept;

  // Which of the team's processes this is, from 0 on, and how many there are.
  [[nodiscard]] std::size_t rank() const noexcept;
  [[nodiscard]] std::size_t ranks() const noexcept;
  // Threads of this rank that compute; of all ranks.
  [[nodiscard]] std::size_t threads() const noexcept;
  [[nodiscard]] std::size_t width() const noexcept;

  // Calls body(IndexRange) for blocks that cover [0, count) exactly once, on all ranks' threads.
  // Returns on each what became of all indices.
  template <class Body>
  Tally run(std::size_t count, const Body& body, const RankRunOptions& options = {}) {
    static_assert(std::is_invocable_v<const Body&, IndexRange>,
                  "run: the body takes a handoff::IndexRange; with results also a std::span");
    return with_block_call(body, [&](BlockCall call, const void* work) {
      const auto block = [&](IndexRange range, std::byte*, std::size_t) { call(work, range); };
      return run_job(job_of(count, block), options);
    });
  }

  // The same for a kernel: kernel(IndexRange, const Arguments&).
  template <auto kernel, class Arguments>
  Tally run(std::size_t count, const Arguments& arguments, const RankRunOptions& options = {}) {
    static_assert(KernelOf<kernel, Arguments>,
                  "run: a kernel is a function (IndexRange, const Arguments&) that returns void");
    return run(count, [&](IndexRange range) { kernel(range, arguments); }, options);
  }

  // With results: body(IndexRange, std::span<T>) writes those of its block to the span. On rank 0
  // `results`, a vector, an array or a span of T, has a place for each: `count` times as many as an
  // index has. Elsewhere only its type counts.
  template <class Body, class Results>
    requires requires(Results& results) { std::span(results); }
  Tally run(std::size_t count, const Body& body, Results&& results,
            const RankRunOptions& options = {}) {
    using T = typename decltype(std::span(results))::element_type;
    static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                  "run: results are copied byte by byte");
    static_assert(std::is_invocable_v<const Body&, IndexRange, std::span<T>>,
                  "run: with results the body takes a handoff::IndexRange and a std::span of them");
    const auto block = [&](IndexRange range, std::byte* out, std::size_t bytes_per_index) {
      detail::call_and_drop(
          body, range,
          std::span<T>(reinterpret_cast<T*>(out), range.size() * (bytes_per_index / sizeof(T))));
    };
    detail::RankJob job = job_of(count, block);
    job.results = std::as_writable_bytes(std::span(results));
    job.value_bytes = sizeof(T);
    return run_job(job, options);
  }

  // Rank 0's data to all; each has room for as many.
  template <class Data>
    requires requires(Data& data) { std::span(data); }
  void broadcast(Data&& data) {
    using T = typename decltype(std::span(data))::element_type;
    static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                  "broadcast: data are copied byte by byte");
    broadcast_bytes(std::as_writable_bytes(std::span(data)));
  }

  // combine(... combine(initial, map(0)) ..., map(count - 1)), with brackets elsewhere: they follow
  // from `count` alone, so all ranks get the same bits, at any number of ranks and on a ThreadTeam
  // (parallel_reduce). Throws WorkFailed if one of the functions did.
  template <class T, class Map, class Combine>
  T reduce(std::size_t count, T initial, const Map& map, const Combine& combine) {
    static_assert(std::is_trivially_copyable_v<T>, "reduce: values are copied byte by byte");
    if (count == 0) return initial;
    const detail::ReductionParts parts(count, detail::reduction_parts_of(count));
    std::vector<T> values(parts.count, initial);
    (void)run(
        parts.count,
        [&](IndexRange range, std::span<T> out) {
          for (std::size_t i = 0; i < range.size(); ++i) {
            out[i] = detail::reduce_items<T>(detail::PlainIndices{}, parts.of(range.first + i), map,
                                             combine);
          }
        },
        values);
    broadcast(values);
    for (const T& value : values) {
      initial = static_cast<T>(detail::invoke(combine, initial, value));
    }
    return initial;
  }

  // What became of the indices of the last run(), also if it threw.
  [[nodiscard]] Tally tally() const noexcept;
  // What the last run() took.
  [[nodiscard]] RankStatistics statistics() const noexcept;

 private:
  template <class Block>
  static detail::RankJob job_of(std::size_t count, const Block& block) {
    const auto call = [](const void* body, IndexRange range, std::byte* out, std::size_t bytes) {
      (*static_cast<const Block*>(body))(range, out, bytes);
    };
    return {.count = count, .call = call, .body = std::addressof(block)};
  }

  Tally run_job(const detail::RankJob& job, const RankRunOptions& options);
  void broadcast_bytes(std::span<std::byte> bytes);

  std::unique_ptr<Ranks> ranks_;
};

}}  // namespace handoff::HANDOFF_ABI
