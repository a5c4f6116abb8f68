// SPDX-License-Identifier: MIT
//
// reduce, transform_reduce and count_if of the standard, on the threads of any Bulk or any
// Executor.
//
//   const double sum = handoff::reduce(pool, weights, 0.0);
//   const double norm = handoff::transform_reduce(
//       team, v, 0.0, std::plus<>(), [](double x) { return x * x; });
//   const auto open = handoff::count_if(pool, orders, &Order::is_open);
//
// For: values of elements combined into one. Not for: loops over indices, or a combine that takes
// only the result so far and one value more (parallel_reduce).
//
// - Concurrency, small inputs, exceptions, options.until: as in graph/for_each.hpp.
// - Order: the operation must be associative. It need not commute, but for std::plus and other
//   commutative operations of the standard library on numbers.
// - The result depends on nothing but the arguments: it is combined from parts that follow from the
//   number of elements, in their order, behind the initial value, which counts once. So a sum of
//   floating point numbers is the same on any width, and the same in each run.
// - Blocks: until every element is done. Allocates: partial results, at most 256, from
//   options.scratch, where threads are handed something; an Executor's loop once.
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
#include <handoff/core/internal/reduction.hpp>
#include <handoff/core/internal/standard_operation.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/graph/algorithm_options.hpp>
#include <handoff/graph/detail/scratch_parts.hpp>
#include <handoff/graph/detail/serial_start.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {

// Few parts of few elements, so that none of them is tiny; else as many as parallel_reduce has.
inline std::size_t parts_of(std::size_t count) noexcept {
  constexpr std::size_t many = 16384;
  return min<std::size_t>(count, count < many ? 64 : 256);
}

template <class E, class Source, class T, class Map, class Combine>
T reduce_in(E& executor, const Source& source, std::size_t count, T total, Map& map,
            Combine& combine, const AlgorithmOptions& options) {
  using Item = decltype(source.at(0));
  using Mapped = std::invoke_result_t<Map&, Item>;
  const std::size_t members = members_of(executor);
  if (count == 0) return total;
  const bool is_small =
      is_cheap<Combine, T, Mapped> && is_cheap<Map, Item> && count <= few_cheap_items;
  const ReductionParts parts(count, is_small ? 1 : parts_of(count));
  // The sum of integers is the same however they are grouped.
  constexpr bool is_exact = std::is_integral_v<T> && std::is_integral_v<std::decay_t<Mapped>>;
  const auto take = [&](IndexRange items) {
    total = static_cast<T>(
        detail::invoke(combine, std::move(total), reduce_items<T>(source, items, map, combine)));
  };
  auto alone = [&](IndexRange block) {
    if constexpr (is_exact) {
      take({parts.of(block.first).first, parts.of(block.last - 1).last});
    } else {
      for (const std::size_t part : block) take(parts.of(part));
    }
    return true;
  };
  if (is_small) {
    refuse_late(options.until);
    alone({0, 1});
    return total;
  }
  const std::size_t done = serial_start(parts.count, members, options.until, alone).done;
  if (done == parts.count) return total;
  const ScratchParts<T> results(options.scratch, parts.count - done);
  const auto reduce_part = [&](std::size_t part) {
    results[part].set(reduce_items<T>(source, parts.of(done + part), map, combine));
  };
  detail::run_all_parts(executor, parts.count - done, reduce_part, {.until = options.until});
  for (std::size_t part = 0; part < parts.count - done; ++part) {
    total =
        static_cast<T>(detail::invoke(combine, std::move(total), std::move(results[part].get())));
  }
  return total;
}

}  // namespace detail

// init, combined by reduce_op with transform_op(element) for each element in [first, last).
template <class E, class I, class S, class T, class Reduce, class Transform>
  requires detail::AlgorithmSpan<I, S>
T transform_reduce(E& executor, I first, S last, T init, Reduce&& reduce_op,
                   Transform&& transform_op, const AlgorithmOptions& options = {}) {
  constexpr bool is_transform = std::is_invocable_v<Transform&, std::iter_reference_t<I>>;
  static_assert(is_transform, "transform_reduce: the second function takes an element");
  if constexpr (is_transform) {
    using Mapped = std::invoke_result_t<Transform&, std::iter_reference_t<I>>;
    constexpr bool is_reduce = std::is_convertible_v<Mapped, T> &&
                               std::is_invocable_r_v<T, Reduce&, T, T> &&
                               std::is_invocable_r_v<T, Reduce&, T, Mapped>;
    static_assert(is_reduce,
                  "reduce: the operation takes two values of the initial value's type, to which "
                  "the elements convert, and gives one");
    if constexpr (is_reduce) {
      return detail::reduce_in(executor, detail::Elements<I>{first},
                               detail::distance_of(first, last), std::move(init), transform_op,
                               reduce_op, options);
    }
  }
}

// The same for each element of a range.
template <class E, detail::NoIterator R, class T, class Reduce, class Transform>
T transform_reduce(E& executor, R&& range, T init, Reduce&& reduce_op, Transform&& transform_op,
                   const AlgorithmOptions& options = {}) {
  if constexpr (detail::is_algorithm_range<R>()) {
    return handoff::transform_reduce(executor, std::begin(range), std::end(range), std::move(init),
                                     reduce_op, transform_op, options);
  }
}

// init, combined with each element in [first, last).
template <class E, class I, class S, class T, class Op = std::plus<>>
  requires detail::AlgorithmSpan<I, S>
T reduce(E& executor, I first, S last, T init, Op&& op = {}, const AlgorithmOptions& options = {}) {
  return handoff::transform_reduce(executor, first, last, std::move(init), op, std::identity(),
                                   options);
}

// The same for each element of a range.
template <class E, detail::NoIterator R, class T, class Op = std::plus<>>
T reduce(E& executor, R&& range, T init, Op&& op = {}, const AlgorithmOptions& options = {}) {
  return handoff::transform_reduce(executor, range, std::move(init), op, std::identity(), options);
}

// How many elements in [first, last) there are of which pred(proj(element)) is true.
template <class E, class I, class S, class Pred, class Proj = std::identity>
  requires detail::AlgorithmSpan<I, S>
std::iter_difference_t<I> count_if(E& executor, I first, S last, Pred&& pred, Proj proj = {},
                                   const AlgorithmOptions& options = {}) {
  using Count = std::iter_difference_t<I>;
  constexpr bool is_predicate =
      std::is_invocable_r_v<bool, Pred&, std::invoke_result_t<Proj&, std::iter_reference_t<I>>>;
  static_assert(is_predicate,
                "count_if: the predicate takes what the projection makes of an element, and gives "
                "a bool");
  if constexpr (is_predicate) {
    const auto one_if = [&pred, &proj](std::iter_reference_t<I> element) {
      return static_cast<bool>(detail::invoke(
                 pred, detail::invoke(proj, std::forward<std::iter_reference_t<I>>(element))))
                 ? Count{1}
                 : Count{0};
    };
    return handoff::transform_reduce(executor, first, last, Count{0}, std::plus<>(), one_if,
                                     options);
  }
}

// The same for the elements of a range.
template <class E, detail::NoIterator R, class Pred, class Proj = std::identity>
auto count_if(E& executor, R&& range, Pred&& pred, Proj proj = {},
              const AlgorithmOptions& options = {}) {
  if constexpr (detail::is_algorithm_range<R>()) {
    return handoff::count_if(executor, std::begin(range), std::end(range), pred, std::move(proj),
                             options);
  }
}

}}  // namespace handoff::HANDOFF_ABI
