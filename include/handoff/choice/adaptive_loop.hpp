// SPDX-License-Identifier: MIT
//
// A loop that chooses at run time: serial, on a ThreadTeam, or on a ThreadPool.
//
//   handoff::AdaptiveLoop loop{team, pool};  // or one of them; kept as long as the loop is run
//   loop.run(n, [&](std::size_t i) { c[i] = a[i] + b[i]; });
//   loop.run(n, [&](handoff::IndexRange r) { add(a, b, c, r); }, {.until = stop});
//   handoff::adaptive_for(loop, pixels, [](Pixel& p) { p.dim(); });  // every form of parallel_for
//   log(handoff::to_string(loop.choice()));
//   handoff::adaptive_for(team, n, body);  // once: no memory, begins serially, hands over the rest
//
// It measures the first pieces of a loop, predicts the cost of the rest, and runs the rest in
// parallel if that pays. It remembers what each way takes, separately for each size of loop (by
// powers of two) and for loops inside other loops or tasks. It tries the ways again now and then,
// and forgets its figures when the load changes.
//
// For: a loop whose size or whose load you do not know when you write it. One AdaptiveLoop for each
//   loop of the program, as a member or a static. Not for: a loop that always takes milliseconds
//   (parallel_for), or one object for several loops, whose loads it would mix.
//
// Contract:
// - Concurrency: thread-safe. A lock protects its figures, but run() never waits for it: a run that
//   finds it locked is not remembered. A team runs one loop at a time.
// - Nesting: run() may be called in any task and in any block. There it never takes a team, so two
//   loops cannot wait for each other; a pool helps.
// - Order, body, indices, exceptions, until: as parallel_for (core/parallel_for.hpp). Run serially,
//   a loop looks at `until` between pieces of some microseconds; options.block is the least piece.
// - Blocks: as the chosen way. Allocates: nothing of its own.
// - Cost: of loops below 250 us one is measured for each 250 us of loops, at least one in 4096. A
//   measured loop costs two reads of the clock and about 300 ns, any other about 10 ns. Other ways
//   are tried for 1/256 of the time.
// - A run that throws, or that `until` ends, is not remembered.
// - Memory: about 10 KB.
//
// docs/design/adaptive_loop.md: how it chooses, and what it was measured against.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

#include <handoff/choice/detail/choice_policy.hpp>
#include <handoff/choice/detail/loop_memory.hpp>
#include <handoff/choice/loop_choice.hpp>
#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/core/run_options.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/pool/parallel_for.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/team/thread_team.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {

// The ways that a loop may take.
class LoopWays {
 public:
  // Either may be null.
  LoopWays(ThreadTeam* team, ThreadPool* pool) noexcept;

  // Which of them may be taken, inside parallel work and outside.
  const WaySpeeds& speeds(bool is_nested) const noexcept {
    return is_nested ? nested_speeds_ : speeds_;
  }
  bool has_any(bool is_nested) const noexcept {
    const WaySpeeds& each = speeds(is_nested);
    return each[index_of(LoopWay::team)] > 0 || each[index_of(LoopWay::pool)] > 0;
  }

  template <class Block>
  Tally run(LoopWay way, std::size_t count, const Block& block, const RunOptions& options) const {
    if (way == LoopWay::team) return LoopOn<ThreadTeam>::run(*team_, count, block, options);
    return LoopOn<ThreadPool>::run(*pool_, count, block, options);
  }

 private:
  ThreadTeam* team_;
  ThreadPool* pool_;
  WaySpeeds speeds_{1, 0, 0};
  WaySpeeds nested_speeds_{1, 0, 0};
};

// Whether the thread is inside a task of an executor, or a block of a team.
bool is_in_parallel_work() noexcept;

inline bool may_end(const RunOptions& options) noexcept {
  return options.until.has_deadline() || options.until.stop_possible();
}

// Notes what is left out, if `until` says so by now.
bool is_over(Tally& tally, std::size_t left, const RunOptions& options) noexcept;

inline double ns_between(sync::Deadline began, sync::Deadline ended) noexcept {
  return static_cast<double>((ended - began).count());
}

// Runs pieces until all is done or what is left is handed over; `loop` is told what it took.
template <class Block>
Tally run_in_pieces(const LoopWays& ways, std::size_t count, const Block& block,
                    const RunOptions& options, const SerialPlan& plan, MeasuredLoop& loop) {
  const bool can_end = may_end(options);
  SerialPieces pieces(count, options.block, plan, can_end);
  Tally tally{.accepted = count};
  const sync::Deadline began = sync::clock::now();
  for (sync::Deadline last = began; !pieces.piece().empty();) {
    if (can_end && detail::is_over(tally, count - pieces.done(), options)) break;
    block(pieces.piece());
    const sync::Deadline now = sync::clock::now();
    const bool goes_on = pieces.note(detail::ns_between(last, now));
    last = now;
    if (goes_on) continue;
    const std::size_t done = pieces.done();
    const auto rest = [&block, done](IndexRange part) {
      block(IndexRange{part.first + done, part.last + done});
    };
    tally = ways.run(plan.offer.way, count - done, rest, options);
    tally.accepted += done;
    tally.done += done;
    const sync::Deadline ended = sync::clock::now();
    loop.rest_ns = pieces.rest_ns();
    loop.handed_over_ns = detail::ns_between(now, ended);
    loop.spent_ns = detail::ns_between(began, ended);
    loop.ns = pieces.serial_ns(loop.handed_over_ns);
    return tally;
  }
  tally.done = pieces.done();
  loop.ns = loop.spent_ns = pieces.elapsed_ns();
  return tally;
}

// In the caller alone.
template <class Block>
Tally run_serially(const LoopWays& ways, std::size_t count, const Block& block,
                   const RunOptions& options) {
  if (may_end(options)) {
    MeasuredLoop loop;
    return detail::run_in_pieces(ways, count, block, options, {}, loop);
  }
  block(IndexRange{0, count});
  return {.accepted = count, .done = count};
}

// A loop that is run once: it begins serially, and nothing is remembered.
struct OneLoop {
  using OwnLoop = void;
  LoopWays ways;
};

}  // namespace detail

class AdaptiveLoop {
 public:
  // parallel_for and parallel_reduce run on it, too.
  using OwnLoop = void;

  // Chooses among the caller alone and these, which outlive it.
  explicit AdaptiveLoop(ThreadTeam& team) noexcept : ways_(&team, nullptr) {}
  explicit AdaptiveLoop(ThreadPool& pool) noexcept : ways_(nullptr, &pool) {}
  AdaptiveLoop(ThreadTeam& team, ThreadPool& pool) noexcept : ways_(&team, &pool) {}
  AdaptiveLoop(const AdaptiveLoop&) = delete;
  AdaptiveLoop& operator=(const AdaptiveLoop&) = delete;

  // body(i) for each i in [0, count), or body(IndexRange) for ranges that cover it. What became of
  // the indices: all are done, unless options.until left some out.
  template <class Body>
  Tally run(std::size_t count, Body&& body, const RunOptions& options = {}) {
    return handoff::parallel_for(*this, std::size_t{0}, count, body, options);
  }

  // What the last loop that was measured led to.
  [[nodiscard]] LoopChoice choice() const noexcept;

  // What is known of loops of so many indices that are not inside other loops or tasks.
  [[nodiscard]] LoopChoice choice(std::size_t count) const noexcept;

 private:
  friend struct detail::LoopOn<AdaptiveLoop>;

  // Short loops are most of those that are run: what they pass is small and lies together.
  template <class Block>
  Tally run_block(std::size_t count, const Block& block, const RunOptions& options) {
    const bool is_serial = memory_.is_quick(detail::LoopMemory::slot_of(count, false), true);
    if (!is_serial && count > 1) [[unlikely]]
      return run_looking(count, block, options);
    return detail::run_serially(ways_, count, block, options);
  }

  template <class Block>
  [[gnu::noinline]] Tally run_looking(std::size_t count, const Block& block,
                                      const RunOptions& options) {
    const bool is_nested = detail::is_in_parallel_work();
    const std::size_t slot = detail::LoopMemory::slot_of(count, is_nested);
    if (is_nested && (!ways_.has_any(true) || memory_.is_quick(slot, true))) {
      return detail::run_serially(ways_, count, block, options);
    }
    const detail::WaySpeeds& speeds = ways_.speeds(is_nested);
    const detail::LoopMemory::Step step = memory_.step(slot);
    if (memory_.is_quick(slot, false)) {
      return step.way == LoopWay::serial ? detail::run_serially(ways_, count, block, options)
                                         : ways_.run(step.way, count, block, options);
    }
    detail::MeasuredLoop loop{.way = step.way, .count = count, .calls = step.calls};
    Tally tally = run_measured(step, slot, speeds, block, options, loop);
    if (tally.done == count) (void)memory_.note(slot, speeds, loop);
    return tally;
  }

  template <class Block>
  Tally run_measured(const detail::LoopMemory::Step& step, std::size_t slot,
                     const detail::WaySpeeds& speeds, const Block& block, const RunOptions& options,
                     detail::MeasuredLoop& loop) {
    if (step.way == LoopWay::serial && (step.in_pieces || detail::may_end(options))) {
      detail::SerialPlan plan;
      (void)memory_.read_plan(slot, speeds, plan);  // taken: as if nothing were known
      return detail::run_in_pieces(ways_, loop.count, block, options, plan, loop);
    }
    const sync::Deadline began = sync::clock::now();
    Tally tally = step.way == LoopWay::serial
                      ? detail::run_serially(ways_, loop.count, block, options)
                      : ways_.run(step.way, loop.count, block, options);
    loop.ns = loop.spent_ns = detail::ns_between(began, sync::clock::now());
    return tally;
  }

  const detail::LoopWays ways_;
  mutable detail::LoopMemory memory_;
};

namespace detail {

template <>
struct LoopOn<AdaptiveLoop> {
  template <class Block>
  static Tally run(AdaptiveLoop& loop, std::size_t count, const Block& block,
                   const RunOptions& options) {
    return loop.run_block(count, block, options);
  }
};

template <>
struct LoopOn<OneLoop> {
  template <class Block>
  static Tally run(OneLoop& loop, std::size_t count, const Block& block,
                   const RunOptions& options) {
    const WaySpeeds& speeds = loop.ways.speeds(is_in_parallel_work());
    const SerialPlan plan = ChoicePolicy().serial_plan(speeds, first_guess);
    MeasuredLoop measured;
    return detail::run_in_pieces(loop.ways, count, block, options, plan, measured);
  }
};

inline AdaptiveLoop& adaptive(AdaptiveLoop& loop) noexcept { return loop; }
inline OneLoop adaptive(ThreadTeam& team) noexcept { return {{&team, nullptr}}; }
inline OneLoop adaptive(ThreadPool& pool) noexcept { return {{nullptr, &pool}}; }

}  // namespace detail

// What an adaptive loop chooses by and among: an AdaptiveLoop, which remembers; or a ThreadTeam or
// a ThreadPool, for a loop that is run once.
template <class W>
concept AdaptiveWays = requires(W& ways) { detail::adaptive(ways); };

// parallel_for() on what is chosen: over [0, count), over [first, last) of integers or of
// iterators, over the elements of a range.
template <AdaptiveWays W, detail::LoopIndex Count, class Body>
Tally adaptive_for(W& ways, Count count, Body&& body, const RunOptions& options = {}) {
  auto&& loop = detail::adaptive(ways);
  return handoff::parallel_for(loop, Count{0}, count, body, options);
}
template <AdaptiveWays W, class First, class Last, class Body>
  requires(!std::is_same_v<std::remove_cvref_t<Body>, RunOptions>)
Tally adaptive_for(W& ways, First first, Last last, Body&& body, const RunOptions& options = {}) {
  auto&& loop = detail::adaptive(ways);
  return handoff::parallel_for(loop, first, last, body, options);
}
template <AdaptiveWays W, detail::LoopRange Range, class Body>
Tally adaptive_for(W& ways, Range&& range, Body&& body, const RunOptions& options = {}) {
  auto&& loop = detail::adaptive(ways);
  return handoff::parallel_for(loop, range, body, options);
}

}}  // namespace handoff::HANDOFF_ABI
