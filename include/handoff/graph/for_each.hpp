// SPDX-License-Identifier: MIT
//
// for_each and transform of std::ranges, on the threads of any Bulk or any Executor.
//
//   handoff::for_each(pool, pixels, [](Pixel& pixel) { pixel.dim(); });
//   handoff::transform(pool, names, lengths.begin(), &std::string::size);
//   handoff::transform(team, a, b, c.begin(), std::plus<>());
//   handoff::for_each(team, first, last, f, &Order::price, {.until = 10ms});
//
// For: one call per element, on ranges of any size. Not for: loops over indices, or loops that want
// blocks (parallel_for), which begin in parallel at once, however small they are.
//
// - Concurrency: any thread, any number at a time, as far as the executor allows; nested in the
//   function too, but for a ThreadTeam inside its own blocks.
// - Order: what came before the call happens before the function; every call of it happens before
//   the return. Calls happen in no order among each other.
// - The function and the projection: one object each, called by several threads at once; they may
//   be mutable. What the function of for_each returns is dropped.
// - Small inputs stay with the caller, and wake nobody: until some microseconds of work are left,
//   measured while it works; or 16,384 numbers, if the function is one of the standard library's.
//   Fewer than eight items a member are handed over at once.
// - transform: the output begins where one of the inputs does, or overlaps neither.
// - Blocks: until every element is done. Allocates: nothing, on an Executor once.
// - Exceptions: the first one is rethrown; what nobody has begun by then is left out. Each element
//   of the output is then as it was, or assigned. options.until does the same, by a NotRun.
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
#include <handoff/core/internal/standard_operation.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/graph/algorithm_options.hpp>
#include <handoff/graph/detail/serial_start.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// Where transform of two ranges has come to: what std::ranges::in_in_out_result is, whose header
// costs a unit 5,000 lines.
template <class I1, class I2, class O>
struct InInOut {
  I1 in1;
  I2 in2;
  O out;
};

namespace detail {

// Whether F and the projection are known to be cheap on what the iterator leads to.
template <class F, class I, class Proj>
inline constexpr bool is_cheap_of =
    is_cheap<F, std::iter_reference_t<I>> && is_cheap<Proj, std::iter_reference_t<I>>;

template <class E, class I, class F, class Proj>
void for_each(E& executor, I first, std::size_t count, F& f, Proj& proj,
              const AlgorithmOptions& options) {
  constexpr bool is_function =
      std::is_invocable_v<F&, std::invoke_result_t<Proj&, std::iter_reference_t<I>>>;
  static_assert(is_function,
                "for_each: the function takes what the projection makes of an element");
  if constexpr (is_function) {
    auto body = [first, &f, &proj](IndexRange block) {
      const I end = after(first, block.last);
      for (I each = after(first, block.first); each != end; ++each) {
        call_and_drop(f, detail::invoke(proj, *each));
      }
    };
    run_blocks<is_cheap_of<F, I, Proj>>(executor, count, body, options);
  }
}

template <class E, class I, class O, class Op, class Proj>
void transform(E& executor, I first, std::size_t count, O out, Op& op, Proj& proj,
               const AlgorithmOptions& options) {
  static_assert(std::random_access_iterator<O>,
                "transform: the output is an iterator that jumps, such as that of a vector which "
                "has room for all");
  constexpr bool is_function =
      std::is_invocable_v<Op&, std::invoke_result_t<Proj&, std::iter_reference_t<I>>>;
  static_assert(is_function,
                "transform: the function takes what the projection makes of an element");
  if constexpr (is_function && std::random_access_iterator<O>) {
    auto body = [first, out, &op, &proj](IndexRange block) {
      const I end = after(first, block.last);
      O to = after(out, block.first);
      for (I each = after(first, block.first); each != end; ++each, ++to) {
        *to = detail::invoke(op, detail::invoke(proj, *each));
      }
    };
    run_blocks<is_cheap_of<Op, I, Proj>>(executor, count, body, options);
  }
}

template <class E, class I1, class I2, class O, class Op, class Proj1, class Proj2>
void transform(E& executor, I1 first1, I2 first2, std::size_t count, O out, Op& op, Proj1& proj1,
               Proj2& proj2, const AlgorithmOptions& options) {
  static_assert(std::random_access_iterator<O>,
                "transform: the output is an iterator that jumps, such as that of a vector which "
                "has room for all");
  constexpr bool is_function =
      std::is_invocable_v<Op&, std::invoke_result_t<Proj1&, std::iter_reference_t<I1>>,
                          std::invoke_result_t<Proj2&, std::iter_reference_t<I2>>>;
  static_assert(is_function,
                "transform: the function takes what the projections make of an element of each "
                "input");
  if constexpr (is_function && std::random_access_iterator<O>) {
    auto body = [first1, first2, out, &op, &proj1, &proj2](IndexRange block) {
      const I1 end = after(first1, block.last);
      I2 second = after(first2, block.first);
      O to = after(out, block.first);
      for (I1 each = after(first1, block.first); each != end; ++each, ++second, ++to) {
        *to = detail::invoke(op, detail::invoke(proj1, *each), detail::invoke(proj2, *second));
      }
    };
    run_blocks<is_cheap_of<Op, I1, Proj1> && is_cheap_of<Op, I2, Proj2>>(executor, count, body,
                                                                         options);
  }
}

}  // namespace detail

// f(proj(element)) for each element in [first, last). Returns last.
template <class E, class I, class S, class F, class Proj = std::identity>
  requires detail::AlgorithmSpan<I, S>
I for_each(E& executor, I first, S last, F&& f, Proj proj = {},
           const AlgorithmOptions& options = {}) {
  const std::size_t count = detail::distance_of(first, last);
  detail::for_each(executor, first, count, f, proj, options);
  return detail::after(first, count);
}

// The same for each element of a vector, an array, a span, ...
template <class E, detail::NoIterator R, class F, class Proj = std::identity>
detail::IteratorOf<R>::type for_each(E& executor, R&& range, F&& f, Proj proj = {},
                                     const AlgorithmOptions& options = {}) {
  if constexpr (detail::is_algorithm_range<R>()) {
    return handoff::for_each(executor, std::begin(range), std::end(range), f, std::move(proj),
                             options);
  }
}

// Assigns op(proj(element)) for each element in [first, last) to the elements from `out` on.
// Returns the ends of both.
template <class E, class I, class S, class O, class Op, class Proj = std::identity>
  requires detail::AlgorithmSpan<I, S>
std::ranges::in_out_result<I, O> transform(E& executor, I first, S last, O out, Op&& op,
                                           Proj proj = {}, const AlgorithmOptions& options = {}) {
  const std::size_t count = detail::distance_of(first, last);
  detail::transform(executor, first, count, out, op, proj, options);
  return {detail::after(first, count), detail::after(out, count)};
}

// The same for each element of a range.
template <class E, detail::NoIterator R, std::random_access_iterator O, class Op,
          class Proj = std::identity>
detail::IteratorOf<R>::template with<O> transform(E& executor, R&& range, O out, Op&& op,
                                                  Proj proj = {},
                                                  const AlgorithmOptions& options = {}) {
  if constexpr (detail::is_algorithm_range<R>()) {
    return handoff::transform(executor, std::begin(range), std::end(range), out, op,
                              std::move(proj), options);
  }
}

// Assigns op(proj1(element of the first), proj2(element of the second)) to the elements from `out`
// on, as far as the shorter one goes. Returns the ends of all three.
template <class E, class I1, class S1, class I2, class S2, std::random_access_iterator O, class Op,
          class Proj1 = std::identity, class Proj2 = std::identity>
  requires detail::AlgorithmSpan<I1, S1> && detail::AlgorithmSpan<I2, S2>
InInOut<I1, I2, O> transform(E& executor, I1 first1, S1 last1, I2 first2, S2 last2, O out, Op&& op,
                             Proj1 proj1 = {}, Proj2 proj2 = {},
                             const AlgorithmOptions& options = {}) {
  const std::size_t count =
      detail::min(detail::distance_of(first1, last1), detail::distance_of(first2, last2));
  detail::transform(executor, first1, first2, count, out, op, proj1, proj2, options);
  return {detail::after(first1, count), detail::after(first2, count), detail::after(out, count)};
}

// The same for two ranges.
template <class E, detail::NoIterator R1, detail::NoIterator R2, std::random_access_iterator O,
          class Op, class Proj1 = std::identity, class Proj2 = std::identity>
auto transform(E& executor, R1&& range1, R2&& range2, O out, Op&& op, Proj1 proj1 = {},
               Proj2 proj2 = {}, const AlgorithmOptions& options = {}) {
  if constexpr (detail::is_algorithm_range<R1>() && detail::is_algorithm_range<R2>()) {
    using Ends =
        InInOut<typename detail::IteratorOf<R1>::type, typename detail::IteratorOf<R2>::type, O>;
    const auto ends =
        handoff::transform(executor, std::begin(range1), std::end(range1), std::begin(range2),
                           std::end(range2), out, op, std::move(proj1), std::move(proj2), options);
    return Ends{ends.in1, ends.in2, ends.out};
  }
}

}}  // namespace handoff::HANDOFF_ABI
