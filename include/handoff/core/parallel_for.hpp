// SPDX-License-Identifier: MIT
//
// Loops whose indices are shared out to others: to any Bulk, to any Executor.
//
//   handoff::parallel_for(team, 0, n, [&](std::size_t i) { c[i] = a[i] + b[i]; });
//   handoff::parallel_for(team, 0, n, [&](handoff::IndexRange r) { add(a, b, c, r); });
//   const double sum = handoff::parallel_reduce(
//       team, 0, n, 0.0, [&](std::size_t i) { return a[i]; }, std::plus<>());
//
// For: loops, nested ones too. Not for: what becomes of each index (Bulk::run() has the Tally). On
// a ThreadPool: include pool/parallel_for.hpp, whose loop has no indirect call and no allocation.
//
// - Concurrency: any thread, any number at a time, as far as the executor allows; nested in the
//   body too, but for a ThreadTeam, which cannot be run from inside its own blocks.
// - Order: what came before the call happens before the body; every call of the body happens before
//   the return. Calls happen in no order among each other.
// - The caller works with the others, so the loop ends on any executor: also on one that refuses,
//   that runs functions at once, or that runs them when the loop is over or never.
// - Indices are claimed in blocks, large ones first, so nobody has to say how large: down to one
//   index, or 1/512 of a member's share where that is more.
// - Blocks: until every index is done.
// - Allocates: on a Bulk nothing, on an Executor once; parallel_reduce its partial results.
// - Closed: an executor that refuses leaves the work to those that are there, the caller at least.
// - Exceptions: the first one is rethrown; blocks that nobody has claimed by then are left out.
//   What try_post() throws is taken for a refusal.
//
// The result of parallel_reduce depends on nothing but its arguments: it is combined from parts
// that follow from the number of indices, in their order. So `combine` must be associative but need
// not commute, and a sum of floating point numbers is the same on any width.
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/bulk.hpp>
#include <handoff/core/detail/attempt.hpp>
#include <handoff/core/detail/lent_loop.hpp>
#include <handoff/core/detail/min_max.hpp>
#include <handoff/core/executor.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/sync/detail/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// What a loop calls: body(i) or body(IndexRange), by several threads at once.
template <class Body>
concept LoopBody =
    std::is_invocable_v<const Body&, std::size_t> || std::is_invocable_v<const Body&, IndexRange>;

// What a loop can be given to.
template <class E>
concept RunsLoops = Bulk<E> || Executor<E>;

namespace detail {

// No block of a loop is less than this part of a member's share: members end together well enough,
// and do not take tiny items one by one, which are next to each other in memory.
inline constexpr std::size_t least_part = 512;

template <class Body>
void call_body(const Body& body, IndexRange indices) {
  if constexpr (std::is_invocable_v<const Body&, IndexRange>) {
    body(indices);
  } else {
    for (const std::size_t index : indices) body(index);
  }
}

// In a Bulk a block that throws does not keep others from being run: here it does.
template <class B, class Body>
void loop_on_bulk(B& bulk, std::size_t first, std::size_t count, const Body& body) {
  sync::atomic<bool> failed{false};
  const auto block = [&, first](IndexRange part) {
    if (failed.load(sync::order::relaxed)) return;  // order: relaxed, a hint
    call_or(
        [&] { call_body(body, IndexRange{first + part.first, first + part.last}); },
        [&]() noexcept { failed.store(true, sync::order::relaxed); });  // order: relaxed, a hint
  };
  const std::size_t members = max<std::size_t>(bulk.width(), 1);
  (void)bulk.run(count, block, RunOptions{.block = count / (least_part * members)});
}

template <class E, class Body>
void loop_on_executor(E& executor, std::size_t first, std::size_t count, const Body& body) {
  struct Work {
    const Body& body;
    std::size_t first;
  } const work{body, first};
  constexpr BlockCall call = [](const void* given, IndexRange part) {
    const Work& mine = *static_cast<const Work*>(given);
    call_body(mine.body, IndexRange{mine.first + part.first, mine.first + part.last});
  };
  const std::size_t helpers = executor.width();
  const LentLoop::Ref loop =
      LentLoop::make(count, count / (least_part * (helpers + 1)), helpers, call, &work);
  if (std::exception_ptr failure = (*loop).run(executor)) {
    std::rethrow_exception(std::move(failure));
  }
}

// A room may have a faster loop for an executor of its own, in a header of its own.
template <class E>
concept HasOwnLoop = requires { typename E::OwnLoop; };

}  // namespace detail

// body(i) for each i in [first, last), or body(IndexRange) for blocks that cover it.
template <RunsLoops E, LoopBody Body>
void parallel_for(E& executor, std::size_t first, std::size_t last, const Body& body) {
  static_assert(!detail::HasOwnLoop<E>,
                "include the parallel_for.hpp of the executor's room, as pool/parallel_for.hpp");
  if (first >= last) return;
  if constexpr (Bulk<E>) {
    detail::loop_on_bulk(executor, first, last - first, body);
  } else {
    detail::loop_on_executor(executor, first, last - first, body);
  }
}

// combine(... combine(combine(identity, map(first)), map(first + 1)) ..., map(last - 1)), with
// brackets elsewhere.
template <RunsLoops E, class T, class Map, class Combine>
  requires std::is_invocable_r_v<T, const Combine&, T,
                                 std::invoke_result_t<const Map&, std::size_t>>
T parallel_reduce(E& executor, std::size_t first, std::size_t last, T identity, const Map& map,
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
  parallel_for(executor, 0, parts, [&](std::size_t part) {
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
