// SPDX-License-Identifier: MIT
//
// Parallel loops: their indices run on the threads of any Bulk or any Executor.
//
//   handoff::parallel_for(team, 0, n, [&](std::size_t i) { c[i] = a[i] + b[i]; });
//   handoff::parallel_for(team, 0, n, [&](handoff::IndexRange r) { add(a, b, c, r); });
//   handoff::parallel_for(team, pixels, &Pixel::dim);  // a range, or begin, end
//   handoff::parallel_for(team, 0, n, body, {.block = 64, .until = 10ms});
//   const double sum = handoff::parallel_reduce(
//       team, 0, n, 0.0, [&](std::size_t i) { return a[i]; }, std::plus<>());
//
// For: loops, nested ones too. On a ThreadPool: include pool/parallel_for.hpp, whose loop has no
// indirect call and no allocation.
//
// - Concurrency: any thread, any number at a time, as far as the executor allows; nested in the
//   body too, but for a ThreadTeam, which cannot be run from inside its own blocks.
// - Order: what came before the call happens before the body; every call of the body happens before
//   the return. Calls happen in no order among each other.
// - The caller works with the others, so the loop ends on any executor: also on one that refuses,
//   that runs functions at once, or that runs them when the loop is over or never.
// - Body: one object, called by several threads at once; it may be mutable. `auto` gets an index.
// - Indices may be of any integer types; what the body takes converts as in a call.
// - Indices are claimed in blocks, large ones first, so nobody has to say how large: down to one
//   index, or 1/512 of a member's share where that is more. Each thread begins in its own part, the
//   same in each loop, and then helps in the others': data stays in the caches of one CPU.
// - Blocks: until every index is done. options.until leaves out blocks that have not begun by then;
//   where it can end, blocks take about 50 us, and no less than options.block.
// - Allocates: on a Bulk nothing, on an Executor once; parallel_reduce its partial results.
// - Closed: an executor that refuses leaves the work to those that are there, the caller at least.
// - Exceptions: the first one is rethrown; blocks that nobody has claimed by then are left out.
//   What try_post() throws is taken for a refusal.
//
// The result of parallel_reduce depends on nothing but its arguments: it is combined from parts
// that follow from the number of indices, in their order, behind the initial value, which counts
// once. So `combine` must be associative but need not commute, and a sum of floating point numbers
// is the same on any width. What options.until would leave out makes it throw NotRun.
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/bulk.hpp>
#include <handoff/core/detail/lent_loop.hpp>
#include <handoff/core/executor.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/internal/reduction.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/run_options.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/sync/internal/atomic.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

// What a loop over integers calls: body(i) or body(IndexRange), by several threads at once. What
// takes both, as `auto`, gets an index.
template <class Body, class Index = std::size_t>
concept LoopBody = std::is_invocable_v<Body&, Index> || std::is_invocable_v<Body&, IndexRange>;

// What a loop can be given to.
template <class E>
concept RunsLoops = Bulk<E> || Executor<E>;

namespace detail {

// No block of a loop is less than this part of a member's share: members end together well enough,
// and do not take tiny items one by one, which are next to each other in memory.
inline constexpr std::size_t least_part = 512;

// What a loop goes over: indices from `first` on. loop(part, body) goes over a part of it,
// at(offset) is one of them.
template <class Index>
struct Indices {
  template <class Body>
  void loop(IndexRange part, Body& body) const {
    // Shifted here, or compilers add first to each vector of indices.
    const Index begin = at(part.first);
    const Index end = at(part.last);
    if constexpr (std::is_invocable_v<Body&, Index>) {
      for (Index index = begin; index < end; ++index) call_and_drop(body, Index{index});
    } else {
      call_and_drop(body,
                    IndexRange{static_cast<std::size_t>(begin), static_cast<std::size_t>(end)});
    }
  }
  Index at(std::size_t offset) const noexcept {
    return static_cast<Index>(static_cast<std::size_t>(first) + offset);
  }

  Index first;
};

// What iterators from `first` on lead to.
template <class Iterator>
struct Elements {
  using Offset = std::iter_difference_t<Iterator>;

  template <class Body>
  void loop(IndexRange part, Body& body) const {
    const Iterator end = first + static_cast<Offset>(part.last);
    for (Iterator each = first + static_cast<Offset>(part.first); each != end; ++each) {
      call_and_drop(body, *each);
    }
  }
  std::iter_reference_t<Iterator> at(std::size_t offset) const {
    return *(first + static_cast<Offset>(offset));
  }

  Iterator first;
};

inline RunOptions loop_options(const RunOptions& options, std::size_t count,
                               std::size_t members) noexcept {
  if (options.block != 0) return options;
  return {.block = options.until.can_end() ? 1 : count / (least_part * members),
          .until = options.until};
}

// In a Bulk a block that throws does not keep others from being run: here it does. A room may have
// a run that leaves them out, and counts them so.
template <class B, class Block>
Tally loop_on_bulk(B& bulk, std::size_t count, const Block& block, const RunOptions& options) {
  const RunOptions how = loop_options(options, count, max<std::size_t>(bulk.width(), 1));
  if constexpr (requires { run_until_failure(bulk, count, block, how); }) {
    return run_until_failure(bulk, count, block, how);
  } else {
    sync::atomic<bool> failed{false};
    const auto unless_failed = [&](IndexRange part) {
      if (failed.load(sync::order::relaxed)) return;  // order: relaxed, a hint
      call_or([&] { block(part); },
              [&]() noexcept { failed.store(true, sync::order::relaxed); });  // order: as above
    };
    return bulk.run(count, unless_failed, how);
  }
}

template <class E, class Block>
Tally loop_on_executor(E& executor, std::size_t count, const Block& block,
                       const RunOptions& options) {
  const std::size_t members = executor.width() + 1;
  Tally tally = LentLoop<E, Block>::run(executor, count, members, block,
                                        loop_options(options, count, members));
  if (tally.first_failure) std::rethrow_exception(std::move(tally.first_failure));
  return tally;
}

// How an executor runs a loop. A room may have a faster way for one of its own, in a header of its
// own.
template <class E>
struct LoopOn {
  using ForAll = void;

  template <class Block>
  static Tally run(E& executor, std::size_t count, const Block& block, const RunOptions& options) {
    if constexpr (Bulk<E>) {
      return detail::loop_on_bulk(executor, count, block, options);
    } else {
      return detail::loop_on_executor(executor, count, block, options);
    }
  }
};

template <class E>
concept LoopIsIncluded =
    !(requires { typename E::OwnLoop; } && requires { typename LoopOn<E>::ForAll; });

template <class T>
concept LoopIndex = std::integral<T> && !std::same_as<std::remove_cv_t<T>, bool>;

// An end that is not above first: 0.
template <LoopIndex Index, LoopIndex First, LoopIndex Last>
std::size_t count_between(First first, Last last) {
  if (std::cmp_greater_equal(first, last)) return 0;
  if (std::is_unsigned_v<Index> && std::cmp_less(first, 0)) {
    misuse("parallel_for: it begins below 0, and the type of its end has no sign");
  }
  return static_cast<std::size_t>(static_cast<Index>(last)) -
         static_cast<std::size_t>(static_cast<Index>(first));
}

// The same between iterators.
template <class Iterator, class Last>
std::size_t distance_of(Iterator first, Last last) {
  return last - first <= 0 ? 0 : static_cast<std::size_t>(last - first);
}

// A loop over `count` items. All blocks call the same body, which may change.
template <class E, class Source, class Body>
Tally loop_over(E& executor, const Source& source, std::size_t count, Body& body,
                const RunOptions& options) {
  static_assert(RunsLoops<E>,
                "parallel_for: runs on a ThreadTeam, a ThreadPool, or another Bulk or Executor");
  static_assert(LoopIsIncluded<E>,
                "parallel_for: include the executor's header for loops, e.g. "
                "<handoff/pool/parallel_for.hpp>");
  if constexpr (RunsLoops<E>) {
    const auto block = [source, &body](IndexRange part) { source.loop(part, body); };
    return count == 0 ? Tally{} : LoopOn<E>::run(executor, count, block, options);
  }
}

template <class R>
concept LoopRange = requires(R& range) {
  { std::begin(range) } -> std::random_access_iterator;
  { std::end(range) } -> std::sized_sentinel_for<decltype(std::begin(range))>;
};

}  // namespace detail

// body(i) for each i in [first, last), or body(IndexRange) for blocks that cover it. What became of
// the indices: all are done, unless options.until left some out.
template <class E, detail::LoopIndex First, detail::LoopIndex Last, class Body>
Tally parallel_for(E& executor, First first, Last last, Body&& body,
                   const RunOptions& options = {}) {
  using Index = std::common_type_t<First, Last>;
  using Callable = std::remove_reference_t<Body>;
  constexpr bool is_body = LoopBody<Callable, Index>;
  static_assert(is_body, "parallel_for: the body takes an index, or a handoff::IndexRange");
  if constexpr (is_body) {
    const std::size_t count = detail::count_between<Index>(first, last);
    if constexpr (!std::is_invocable_v<Callable&, Index>) {
      if (count != 0 && std::cmp_less(first, 0))
        misuse("parallel_for: an IndexRange does not begin below 0");
    }
    const detail::Indices<Index> source{static_cast<Index>(first)};
    return detail::loop_over(executor, source, count, body, options);
  }
}

// body(*i) for each i in [first, last). `last` may be of another type, as cend() behind begin().
template <class E, std::random_access_iterator Iterator, std::sized_sentinel_for<Iterator> Last,
          class Body>
Tally parallel_for(E& executor, Iterator first, Last last, Body&& body,
                   const RunOptions& options = {}) {
  using Callable = std::remove_reference_t<Body>;
  constexpr bool is_body = std::is_invocable_v<Callable&, std::iter_reference_t<Iterator>>;
  static_assert(is_body, "parallel_for: the body takes what the iterators lead to");
  if constexpr (is_body) {
    const std::size_t count = detail::distance_of(first, last);
    return detail::loop_over(executor, detail::Elements<Iterator>{first}, count, body, options);
  }
}

// body(element) for each element of a vector, an array, a span, ...
template <class E, class Range, class Body>
Tally parallel_for(E& executor, Range&& range, Body&& body, const RunOptions& options = {}) {
  constexpr bool is_range = detail::LoopRange<Range>;
  static_assert(is_range,
                "parallel_for: a range is a vector, an array, a span: one whose iterators "
                "jump; copy others into a vector");
  if constexpr (is_range) {
    using Iterator = decltype(std::begin(range));
    constexpr bool is_body = std::is_invocable_v<Body&, std::iter_reference_t<Iterator>>;
    static_assert(is_body, "parallel_for: the body takes an element of the range");
    if constexpr (is_body) {
      const std::size_t count = detail::distance_of(std::begin(range), std::end(range));
      return detail::loop_over(executor, detail::Elements<Iterator>{std::begin(range)}, count, body,
                               options);
    }
  }
}

// Neither integers nor iterators that jump: says so.
template <class E, class First, class Last, class Body>
  requires(!(detail::LoopIndex<First> && detail::LoopIndex<Last>) &&
           !(std::random_access_iterator<First> && std::sized_sentinel_for<Last, First>) &&
           !detail::LoopRange<First>)
Tally parallel_for(E&, First, Last, Body&&, const RunOptions& = {}) {
  static_assert(detail::LoopIndex<First> && detail::LoopIndex<Last>,
                "parallel_for: from and to are integers, or iterators of a vector, an array, a "
                "span");
  return {};
}

namespace detail {

// Throws NotRun, for a reduction of which a part is left out.
[[noreturn]] void refuse_part(const Tally& tally);

// A loop over parts of something, all of which are needed.
template <class E, class Body>
void run_all_parts(E& executor, std::size_t parts, Body& body, const RunOptions& options) {
  const Tally tally = handoff::parallel_for(executor, std::size_t{0}, parts, body, options);
  if (tally.done != parts) refuse_part(tally);
}

// In parts, each on one thread, which begins with what its first item is mapped to.
template <class E, class Source, class T, class Map, class Combine>
T reduce_parts(E& executor, const Source& source, std::size_t count, T total, Map& map,
               Combine& combine, const RunOptions& options) {
  const ReductionParts parts(count, reduction_parts_of(count));
  std::vector<PartOfReduction<T>> results(parts.count);
  const auto reduce_part = [&](std::size_t part) {
    results[part].set(reduce_items<T>(source, parts.of(part), map, combine));
  };
  detail::run_all_parts(executor, parts.count, reduce_part,
                        {.block = options.block / parts.size, .until = options.until});
  for (PartOfReduction<T>& part : results) {
    total = static_cast<T>(detail::invoke(combine, std::move(total), std::move(part.get())));
  }
  return total;
}

// In the caller, some items after the others: what all threads do is to map them.
template <class E, class Source, class T, class Map, class Combine>
T reduce_in_order(E& executor, const Source& source, std::size_t count, T total, Map& map,
                  Combine& combine, const RunOptions& options) {
  using Mapped = std::decay_t<decltype(detail::invoke(map, source.at(0)))>;
  constexpr std::size_t most_items = 16384;
  std::vector<PartOfReduction<Mapped>> results(min(count, most_items));
  for (std::size_t first = 0; first < count; first += most_items) {
    const std::size_t items = min(count - first, most_items);
    const auto map_one = [&](std::size_t item) {
      results[item].set(detail::invoke(map, source.at(first + item)));
    };
    detail::run_all_parts(executor, items, map_one, options);
    for (std::size_t i = 0; i < items; ++i) {
      total =
          static_cast<T>(detail::invoke(combine, std::move(total), std::move(results[i].get())));
    }
  }
  return total;
}

template <class E, class Source, class T, class Map, class Combine>
T reduce(E& executor, const Source& source, std::size_t count, T initial, Map& map,
         Combine& combine, const RunOptions& options) {
  static_assert(RunsLoops<E>,
                "parallel_reduce: runs on a ThreadTeam, a ThreadPool, or another Bulk or Executor");
  static_assert(LoopIsIncluded<E>,
                "parallel_reduce: include the executor's header for loops, e.g. "
                "<handoff/pool/parallel_for.hpp>");
  using Item = decltype(source.at(0));
  constexpr bool is_map = std::is_invocable_v<Map&, Item>;
  static_assert(is_map, "parallel_reduce: map takes an index, or an element of the range");
  if constexpr (is_map && RunsLoops<E>) {
    using Mapped = std::invoke_result_t<Map&, Item>;
    constexpr bool is_combine = std::is_invocable_r_v<T, Combine&, T, Mapped>;
    static_assert(is_combine,
                  "parallel_reduce: combine takes the initial value's type and what map returns, "
                  "and gives the first");
    if (count == 0) return initial;
    if constexpr (is_combine && std::is_convertible_v<Mapped, T> &&
                  std::is_invocable_r_v<T, Combine&, T, T>) {
      return detail::reduce_parts(executor, source, count, std::move(initial), map, combine,
                                  options);
    } else if constexpr (is_combine) {
      return detail::reduce_in_order(executor, source, count, std::move(initial), map, combine,
                                     options);
    }
  }
}

}  // namespace detail

// combine(... combine(combine(initial, map(first)), map(first + 1)) ..., map(last - 1)), with
// brackets elsewhere: there combine takes two values of the initial value's type, to which what map
// returns converts. A combine that takes no two of them, but only one and what map returns, is
// called by the caller alone, in just this order. map and combine are one object each, called by
// several threads at once; they may be mutable.
template <class E, detail::LoopIndex First, detail::LoopIndex Last, class T, class Map,
          class Combine>
T parallel_reduce(E& executor, First first, Last last, T initial, Map&& map, Combine&& combine,
                  const RunOptions& options = {}) {
  using Index = std::common_type_t<First, Last>;
  return detail::reduce(executor, detail::Indices<Index>{static_cast<Index>(first)},
                        detail::count_between<Index>(first, last), std::move(initial), map, combine,
                        options);
}

// The same of map(*i) for each i in [first, last).
template <class E, std::random_access_iterator Iterator, std::sized_sentinel_for<Iterator> Last,
          class T, class Map, class Combine>
T parallel_reduce(E& executor, Iterator first, Last last, T initial, Map&& map, Combine&& combine,
                  const RunOptions& options = {}) {
  return detail::reduce(executor, detail::Elements<Iterator>{first},
                        detail::distance_of(first, last), std::move(initial), map, combine,
                        options);
}

// The same of map(element) for each element of a vector, an array, a span, ...
template <class E, class Range, class T, class Map, class Combine>
  requires(!detail::LoopIndex<std::remove_cvref_t<Range>>)
T parallel_reduce(E& executor, Range&& range, T initial, Map&& map, Combine&& combine,
                  const RunOptions& options = {}) {
  constexpr bool is_range = detail::LoopRange<Range>;
  static_assert(is_range,
                "parallel_reduce: a range is a vector, an array, a span: one whose iterators jump; "
                "copy others into a vector");
  if constexpr (is_range) {
    return handoff::parallel_reduce(executor, std::begin(range), std::end(range),
                                    std::move(initial), map, combine, options);
  }
}

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
