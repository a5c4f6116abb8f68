// SPDX-License-Identifier: MIT
//
// partition of std::ranges, on the threads of any Bulk or any Executor.
//
//   const auto closed = handoff::partition(team, orders, &Order::is_open);
//   handoff::partition(pool, v.begin(), v.end(), [](int x) { return x < 0; });
//   handoff::partition(pool, orders, is_cheap, &Order::price, {.until = 10ms});
//
// For: the arguments of std::ranges::partition behind an executor, and options behind them. Not
// for: keeping the order among the items (stable_sort by the predicate).
//
// - Concurrency: any thread, any number at a time, as far as the executor allows. Predicate and
//   projection are one object each, called by several threads at once, once an item. Nobody else
//   touches the range.
// - Order: those for which the predicate is true come first. Among each other they are in no order,
//   and it may be another one each time.
// - Small ranges stay with the caller and wake nobody: until some microseconds of work are left,
//   measured while it works.
// - Blocks: until all is done. Allocates: nothing, on an Executor once a loop.
// - Exceptions, and options.until (which throws NotRun): the range has all of its items then, in
//   any order. A swap that throws is undone; if what undoes it throws, too, an item's value is
//   lost.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/graph/algorithm_options.hpp>
#include <handoff/graph/detail/serial_start.hpp>
#include <handoff/graph/detail/swap_items.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {

// The first `split` items of [begin, split) and [split, end) are those that are true.
struct SplitPart {
  std::size_t begin;
  std::size_t split;
  std::size_t end;
};

// Partitions [part.begin, part.end), of which what is before `from` is done.
template <class I, class Test>
void split_part(I first, SplitPart& part, std::size_t from, Test& test) {
  using T = std::iter_value_t<I>;
  I place = detail::after(first, part.split);
  I each = detail::after(first, from);
  const I end = detail::after(first, part.end);
  if constexpr (std::is_trivially_copyable_v<T> && sizeof(T) <= 2 * sizeof(void*) &&
                PlainIterator<I>) {
    for (; each != end; ++each) {
      // Without a branch. Both are false, or the same, unless this one is true.
      const bool is_true = test(*each);
      T held(std::move(*each));
      *each = std::move(*place);
      *place = std::move(held);
      place += is_true ? 1 : 0;
    }
  } else {
    for (; each != end; ++each) {
      if (!test(*each)) continue;
      if (place != each) detail::swap_items(place, each);
      ++place;
    }
  }
  part.split = static_cast<std::size_t>(place - first);
}

// Items in several stretches, one behind the other.
class Misplaced {
 public:
  void add(std::size_t begin, std::size_t end) noexcept {
    if (begin >= end) return;
    begin_[stretches_] = begin;
    count_ += end - begin;
    end_[stretches_++] = count_;
  }
  std::size_t count() const noexcept { return count_; }

  // Goes through them from one of them on.
  class Walk {
   public:
    Walk(const Misplaced& items, std::size_t item) noexcept : items_(items), item_(item) {
      while (items_.end_[stretch_] <= item_) ++stretch_;
    }
    std::size_t next() noexcept {
      if (items_.end_[stretch_] == item_) ++stretch_;
      const std::size_t before = stretch_ == 0 ? 0 : items_.end_[stretch_ - 1];
      return items_.begin_[stretch_] + (item_++ - before);
    }

   private:
    const Misplaced& items_;
    std::size_t item_;
    std::size_t stretch_ = 0;
  };

  static constexpr std::size_t most = 130;

 private:
  std::size_t stretches_ = 0;
  std::size_t count_ = 0;
  std::size_t begin_[most];
  std::size_t end_[most];  // of the items up to there
};

// Swaps what stands on the wrong side of where the true ones end. Returns that place.
template <class E, class I>
std::size_t join_parts(E& executor, I first, const SplitPart* part, std::size_t parts,
                       const Until& until) {
  std::size_t place = 0;
  for (std::size_t i = 0; i < parts; ++i) place += part[i].split - part[i].begin;
  Misplaced before;  // false
  Misplaced behind;  // true
  for (std::size_t i = 0; i < parts; ++i) {
    before.add(part[i].split, min(part[i].end, place));
    behind.add(max(part[i].begin, place), part[i].split);
  }
  auto swap_block = [&](IndexRange block) {
    Misplaced::Walk one(before, block.first);
    Misplaced::Walk other(behind, block.first);
    for (std::size_t i = block.first; i != block.last; ++i) {
      detail::swap_items(detail::after(first, one.next()), detail::after(first, other.next()));
    }
  };
  if (before.count() != 0) {
    detail::run_all_parts(executor, before.count(), swap_block, {.block = 4096, .until = until});
  }
  return place;
}

// Returns how many are true.
template <class E, class I, class Test>
std::size_t partition(E& executor, I first, std::size_t count, Test& test, const Until& until) {
  constexpr std::size_t most_parts = 128;
  const std::size_t members = members_of(executor);
  SplitPart part[most_parts + 1] = {};
  auto alone = [&](IndexRange block) {
    part[0].end = block.last;
    detail::split_part(first, part[0], block.first, test);
    return true;
  };
  if (members < 2 || count < few_items_a_member * members) {
    if (count != 0) detail::refuse_late(until);
    alone({0, count});
    return part[0].split;
  }
  const std::size_t done = detail::serial_start(count, members, until, alone).done;
  if (done == count) return part[0].split;
  const std::size_t parts = min(min(8 * members, most_parts), count - done);
  const std::size_t size = (count - done) / parts;
  auto split = [&](std::size_t i) {
    SplitPart& own = part[i + 1];
    detail::split_part(first, own, own.begin, test);
  };
  for (std::size_t i = 0; i < parts; ++i) {
    const std::size_t begin = done + i * size;
    part[i + 1] = {begin, begin, i + 1 == parts ? count : begin + size};
  }
  detail::run_all_parts(executor, parts, split, {.until = until});
  return detail::join_parts(executor, first, part, parts + 1, until);
}

}  // namespace detail

// Moves the items of [first, last) for which pred(proj(item)) is true before the others. Returns
// these others.
template <class E, class I, class S, class Pred, class Proj = std::identity>
  requires detail::AlgorithmSpan<I, S>
std::ranges::subrange<I> partition(E& executor, I first, S last, Pred pred, Proj proj = {},
                                   const AlgorithmOptions& options = {}) {
  const std::size_t count = detail::distance_of(first, last);
  const I end = detail::after(first, count);
  constexpr bool is_predicate =
      std::permutable<I> && std::indirect_unary_predicate<Pred, std::projected<I, Proj>>;
  static_assert(is_predicate,
                "partition: items can be swapped, and the predicate takes what the projection "
                "makes of one");
  if constexpr (is_predicate) {
    auto test = [&](std::iter_reference_t<I> item) {
      return static_cast<bool>(
          detail::invoke(pred, detail::invoke(proj, static_cast<decltype(item)>(item))));
    };
    return {detail::after(first, detail::partition(executor, first, count, test, options.until)),
            end};
  } else {
    return {end, end};
  }
}

// The same of a vector, an array, a span, ...
template <class E, detail::NoIterator R, class Pred, class Proj = std::identity>
  requires std::ranges::range<R>
std::ranges::borrowed_subrange_t<R> partition(E& executor, R&& range, Pred pred, Proj proj = {},
                                              const AlgorithmOptions& options = {}) {
  static_assert(detail::is_algorithm_range<R>());
  return handoff::partition(executor, std::begin(range), std::end(range), std::move(pred),
                            std::move(proj), options);
}

}}  // namespace handoff::HANDOFF_ABI
