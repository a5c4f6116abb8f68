// SPDX-License-Identifier: MIT
//
// The loops of core/parallel_for.hpp on a ThreadPool: without an indirect call, without an
// allocation, and with a caller that helps.
//
//   handoff::parallel_for(pool, 0, n, [&](std::size_t i) { c[i] = a[i] + b[i]; });
//   handoff::parallel_for(pool, 0, n, [&](handoff::IndexRange r) { add(a, b, c, r); });
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
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/sync/detail/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {

// One loop: claims, and the chain of workers that are called to it.
template <class Body>
class Loop {
 public:
  Loop(ThreadPool& pool, std::size_t first, std::size_t count, const Body& body)
      : first_(first), body_(body), more_(static_cast<std::ptrdiff_t>(pool.width())), group_(pool) {
    const std::size_t members = pool.width() + 1;
    claims_.open(count, members, count / (least_part * members));
  }

  void run() {
    try {
      work();
    } catch (...) {
      (void)claims_.close();
      group_.cancel();
      throw;  // the group waits in its destructor
    }
    (void)group_.wait();
  }

 private:
  // Each who comes claims a block, calls the next one if there is more, and works on.
  void work() {
    IndexRange block = claims_.claim();
    if (block.empty()) return;
    call_next();
    for (; !block.empty(); block = claims_.claim()) {
      // Shifted here, or compilers add first_ to each vector of indices.
      call_body(body_, IndexRange{first_ + block.first, first_ + block.last});
    }
  }

  void call_next() {
    // order: relaxed, a number of helpers.
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

  const std::size_t first_;
  const Body& body_;
  BlockClaims claims_;
  sync::atomic<std::ptrdiff_t> more_;  // who may still be called
  TaskGroup group_;  // last: its destructor waits for those who use the rest
};

}  // namespace detail

// body(i) for each i in [first, last), or body(IndexRange) for blocks that cover it.
template <RunsLoops Pool, LoopBody Body>
  requires std::derived_from<Pool, ThreadPool>
void parallel_for(Pool& pool, std::size_t first, std::size_t last, const Body& body) {
  if (first >= last) return;
  detail::Loop<Body>(pool, first, last - first, body).run();
}

}}  // namespace handoff::HANDOFF_ABI
