// SPDX-License-Identifier: MIT
//
// find_if of std::ranges, on the threads of any Bulk or any Executor.
//
//   const auto late = handoff::find_if(pool, orders, [](const Order& o) { return o.is_late(); });
//
// For: the first of many elements, or of some that are expensive to look at. Not for: any match.
//
// - The first match is found, as by one thread, also when a later one is found before it. Elements
//   are looked at in blocks, from the front on; blocks behind a match are skipped. So the predicate
//   may be called for some elements behind the match, and is called for all before it.
// - Concurrency, small inputs: as in graph/for_each.hpp.
// - Exceptions: the first one is rethrown, also one that comes from an element behind the match.
// - options.until: NotRun, unless the match is known by then.
// - Blocks: until every element before the match is done. Allocates: nothing, on an Executor once.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/graph/algorithm_options.hpp>
#include <handoff/graph/detail/serial_start.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {

// Blocks of [0, count) in their order, until one has a match.
//
// Invariants
//   FI-1  Blocks are claimed in their order, and one that is claimed is looked at unless a match
//         before it is known. So all before the first match are looked at.
//   FI-2  The match only moves to the front.
class FirstMatch {
 public:
  FirstMatch(std::size_t first, std::size_t count, std::size_t block) noexcept
      : first_(first), count_(count), block_(block), match_(count) {}

  std::size_t blocks() const noexcept { return (count_ - first_ + block_ - 1) / block_; }

  // Looks at as many of the next blocks, by look(IndexRange), which returns the first match in it
  // or its end.
  template <class Look>
  void look_at_next(std::size_t how_many, Look& look) {
    for (; how_many != 0; --how_many) {
      // order: relaxed, the counter alone gives a block to a member.
      const std::size_t begin = first_ + block_ * next_.fetch_add(1, sync::order::relaxed);
      // order: relaxed, a hint: a match that is not seen costs a block that nobody needs.
      if (begin >= match_.load(sync::order::relaxed)) return;  // FI-2
      const std::size_t end = min(begin + block_, count_);
      const std::size_t found = look(IndexRange{begin, end});
      if (found != end) return keep(found);
    }
  }

  // Once the loop is over: the first match, or count. Throws NotRun if what came of the loop leaves
  // blocks before it out.
  std::size_t result(const Tally& tally) const {
    const std::size_t match = match_.load(sync::order::relaxed);  // order: relaxed, after the loop
    // order: relaxed, after the loop.
    const std::size_t claimed = next_.load(sync::order::relaxed);
    if (tally.done != blocks() && first_ + block_ * claimed < match) refuse_part(tally);
    return match;
  }

 private:
  void keep(std::size_t found) noexcept {
    std::size_t before = match_.load(sync::order::relaxed);  // order: relaxed, a first guess
    // order: relaxed, the end of the loop publishes it.
    while (found < before && !match_.compare_exchange_weak(before, found, sync::order::relaxed,
                                                           sync::order::relaxed)) {
    }
  }

  const std::size_t first_;
  const std::size_t count_;
  const std::size_t block_;
  sync::atomic<std::size_t> next_{0};
  sync::atomic<std::size_t> match_;
};

// So many items that a block takes some microseconds, but that each member has several.
inline std::size_t block_to_find(const SerialStart& start, std::size_t left, std::size_t members) {
  if (start.done == 0) return 1;
  return max<std::size_t>(min(start.items_worth_it(), left / (8 * members)), 1);
}

template <class E, class I, class Pred, class Proj>
std::size_t find_if(E& executor, I first, std::size_t count, Pred& pred, Proj& proj,
                    const AlgorithmOptions& options) {
  const std::size_t members = members_of(executor);
  const auto is_match = [first, &pred, &proj](std::size_t i) {
    return static_cast<bool>(detail::invoke(pred, detail::invoke(proj, *after(first, i))));
  };
  const auto look = [&is_match](IndexRange block) {
    std::size_t i = block.first;
    for (; block.last - i >= 4; i += 4) {  // a branch for the end costs as much as a predicate
      if (is_match(i)) return i;
      if (is_match(i + 1)) return i + 1;
      if (is_match(i + 2)) return i + 2;
      if (is_match(i + 3)) return i + 3;
    }
    while (i != block.last && !is_match(i)) ++i;
    return i;
  };
  std::size_t match = count;
  auto alone = [&](IndexRange block) {
    const std::size_t found = look(block);
    if (found != block.last) match = found;
    return found == block.last;
  };
  const SerialStart start = serial_start(count, members, options.until, alone);
  if (start.done == count) return match;
  FirstMatch matches(start.done, count, block_to_find(start, count - start.done, members));
  const auto body = [&](IndexRange blocks) { matches.look_at_next(blocks.size(), look); };
  return matches.result(handoff::parallel_for(executor, std::size_t{0}, matches.blocks(), body,
                                              {.until = options.until}));
}

}  // namespace detail

// The first in [first, last) of which pred(proj(element)) is true; last if there is none.
template <class E, class I, class S, class Pred, class Proj = std::identity>
  requires detail::AlgorithmSpan<I, S>
I find_if(E& executor, I first, S last, Pred&& pred, Proj proj = {},
          const AlgorithmOptions& options = {}) {
  constexpr bool is_predicate =
      std::is_invocable_r_v<bool, Pred&, std::invoke_result_t<Proj&, std::iter_reference_t<I>>>;
  static_assert(is_predicate,
                "find_if: the predicate takes what the projection makes of an element, and gives "
                "a bool");
  if constexpr (is_predicate) {
    const std::size_t count = detail::distance_of(first, last);
    return detail::after(first, detail::find_if(executor, first, count, pred, proj, options));
  }
}

// The same in a range.
template <class E, detail::NoIterator R, class Pred, class Proj = std::identity>
detail::IteratorOf<R>::type find_if(E& executor, R&& range, Pred&& pred, Proj proj = {},
                                    const AlgorithmOptions& options = {}) {
  if constexpr (detail::is_algorithm_range<R>()) {
    return handoff::find_if(executor, std::begin(range), std::end(range), pred, std::move(proj),
                            options);
  }
}

}}  // namespace handoff::HANDOFF_ABI
