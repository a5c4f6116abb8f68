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

#include <handoff/config.hpp>
#include <handoff/core/detail/block_claims.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/core/run_options.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/until.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/detail/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// One loop: claims, and the chain of workers that are called to it.
template <class Block>
class Loop {
 public:
  Loop(ThreadPool& pool, std::size_t count, const Block& block, const RunOptions& options)
      : engine_(engine_of(pool)),
        block_(block),
        until_(options.until),
        may_end_(options.until.has_deadline() || options.until.stop_possible()),
        more_(static_cast<std::ptrdiff_t>(pool.width())),
        cancelled_(0),
        expired_(0),
        group_(pool) {
    const std::size_t members = pool.width() + 1;
    claims_.open(count, members, block_of(options, count, members));
  }

  Tally run() {
    try {
      work();
    } catch (...) {
      (void)claims_.close();  // equivalent(swap): claims and group know nothing of each other
      group_.cancel();  // equivalent(delete): only speed: a call finds the claims closed
      throw;  // the group waits in its destructor
    }
    group_.wait();
    // order: relaxed, all are done.
    const std::size_t cancelled = cancelled_.load(sync::order::relaxed);
    const std::size_t expired = expired_.load(sync::order::relaxed);  // order: relaxed, as above
    const std::size_t count = claims_.count();
    return {.accepted = count,
            .done = count - cancelled - expired,
            .cancelled = cancelled,
            .expired = expired};
  }

 private:
  // Each member claims a block, calls the next one if there is more, and works on.
  void work() {
    const std::size_t member = member_here();
    IndexRange part = claim(member);
    if (part.empty()) return;
    call_next();
    for (; !part.empty(); part = claim(member)) block_(part);
  }

  std::size_t member_here() const noexcept {
    const Worker* const worker = engine_.worker_here();
    return worker == nullptr ? 0 : worker->member();
  }

  IndexRange claim(std::size_t member) {
    if (may_end_) [[unlikely]]
      end_if_over();
    return claims_.claim(member);
  }

  // What nobody has claimed by then is left out.
  void end_if_over() noexcept {
    const bool stopped = until_.stop_requested();
    if (!stopped && !(until_.has_deadline() && sync::clock::now() >= until_.deadline())) return;
    const std::size_t left = claims_.close();
    // order: relaxed, the group's end comes after it.
    if (left != 0) (stopped ? cancelled_ : expired_).store(left, sync::order::relaxed);
  }

  void call_next() {
    // order: relaxed, a number of helpers.
    // equivalent(bound): one helper more may be called, which finds the blocks that others leave
    if (!claims_.left() || more_.fetch_sub(1, sync::order::relaxed) <= 0) return;
    group_.run([this] {
      try {
        work();
      } catch (...) {
        (void)claims_.close();
        throw;
      }
    });
  }

  const Engine& engine_;
  const Block& block_;
  const Until until_;
  const bool may_end_;
  BlockClaims claims_;
  sync::atomic<std::ptrdiff_t> more_;  // helpers that may still be called
  sync::atomic<std::size_t> cancelled_;  // indices left out
  sync::atomic<std::size_t> expired_;
  TaskGroup group_;  // last: its destructor waits for the users of the rest
};

template <std::derived_from<ThreadPool> Pool>
struct LoopOn<Pool> {
  template <class Block>
  static Tally run(Pool& pool, std::size_t count, const Block& block, const RunOptions& options) {
    return Loop<Block>(pool, count, block, options).run();
  }
};

}}}  // namespace handoff::HANDOFF_ABI::detail
