// SPDX-License-Identifier: MIT
//
// Loops whose indices are shared out to a pool.
//
//   handoff::parallel_for(pool, 0, n, [&](std::size_t i) { c[i] = a[i] + b[i]; });
//   handoff::parallel_for(pool, 0, n, [&](handoff::IndexRange r) { add(a, b, c, r); });
//   const double sum = handoff::parallel_reduce(
//       pool, 0, n, 0.0, [&](std::size_t i) { return a[i]; }, std::plus<>());
//
// For: loops in and around tasks, nested ones too. Not for: the same loop again and again in a
// program that does nothing else (ThreadTeam).
//
// Contract: executor tier.
// - Concurrency: any thread, any number at a time; nested in the body too.
// - Order: what came before the call happens before the body; every call of the body happens before
//   the return. Calls happen in no order among each other.
// - The caller works with the others. Indices are claimed in blocks, large ones first, so nobody
//   has to say how large: down to one index, or 1/512 of a member's share where that is more. Idle
//   workers are called one by one, while blocks remain.
// - Blocks: until every index is done, as TaskGroup::wait() does.
// - Allocates: nothing once the worker has its nodes; parallel_reduce its partial results.
// - Closed: works on, on the threads that are left, the caller at least.
// - Exceptions: the first one is rethrown; blocks that nobody has claimed by then are left out.
//
// The result of parallel_reduce depends on nothing but its arguments: it is combined from parts
// that follow from the number of indices, in their order. So `combine` must be associative but need
// not commute, and a sum of floating point numbers is the same on any width.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/detail/block_claims.hpp>
#include <handoff/core/detail/min_max.hpp>
#include <handoff/core/index_range.hpp>
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
    claims_.open(count, members, count / (kLeastPart * members));
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
      const IndexRange indices{first_ + block.first, first_ + block.last};
      if constexpr (std::is_invocable_v<const Body&, IndexRange>) {
        body_(indices);
      } else {
        for (const std::size_t index : indices) body_(index);
      }
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

  // No block is less than this part of a member's share: members end together well enough, and do
  // not take tiny items one by one, which are next to each other in memory.
  static constexpr std::size_t kLeastPart = 512;

  const std::size_t first_;
  const Body& body_;
  BlockClaims claims_;
  sync::atomic<std::ptrdiff_t> more_;  // who may still be called
  TaskGroup group_;  // last: its destructor waits for those who use the rest
};

}  // namespace detail

// body(i) for each i in [first, last), or body(IndexRange) for blocks that cover it.
template <class Body>
  requires(std::is_invocable_v<const Body&, std::size_t> ||
           std::is_invocable_v<const Body&, IndexRange>)
void parallel_for(ThreadPool& pool, std::size_t first, std::size_t last, const Body& body) {
  if (first >= last) return;
  detail::Loop<Body>(pool, first, last - first, body).run();
}

// combine(... combine(combine(identity, map(first)), map(first + 1)) ..., map(last - 1)), with
// brackets elsewhere.
template <class T, class Map, class Combine>
  requires std::is_invocable_r_v<T, const Combine&, T,
                                 std::invoke_result_t<const Map&, std::size_t>>
T parallel_reduce(ThreadPool& pool, std::size_t first, std::size_t last, T identity, const Map& map,
                  const Combine& combine) {
  if (first >= last) return identity;
  constexpr std::size_t most_parts = 256;
  const std::size_t count = last - first;
  const std::size_t parts = detail::min(count, most_parts);
  const std::size_t size = count / parts;
  const std::size_t larger = count % parts;  // as many parts have one more
  struct Part {
    T value;
  };
  std::vector<Part> results(parts, Part{identity});
  parallel_for(pool, 0, parts, [&](std::size_t part) {
    std::size_t index = first + part * size + detail::min(part, larger);
    const std::size_t end = index + size + (part < larger ? 1 : 0);
    T value = identity;
    for (; index < end; ++index) value = combine(std::move(value), map(index));
    results[part].value = std::move(value);
  });
  T total = std::move(identity);
  for (Part& part : results) total = combine(std::move(total), std::move(part.value));
  return total;
}

}}  // namespace handoff::HANDOFF_ABI
