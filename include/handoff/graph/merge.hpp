// SPDX-License-Identifier: MIT
//
// merge of std::ranges, on the threads of any Bulk or any Executor.
//
//   handoff::merge(team, old_names, new_names, all.begin());
//   handoff::merge(pool, a, b, out, {}, &Order::price, &Order::price, {.until = 10ms});
//   handoff::merge(pool, a.begin(), a.end(), b.begin(), b.end(), out, std::greater<>());
//
// For: the arguments of std::ranges::merge behind an executor, and options behind them.
//
// - Concurrency: any thread, any number at a time, as far as the executor allows. Comparison and
//   projections are one object each, called by several threads at once. Nobody else touches the
//   output, which overlaps no input.
// - Order: both inputs are in order. The items of the first come before equal ones of the second.
// - Fewer than 4096 items, or 16,384 numbers, stay with the caller and wake nobody.
// - Blocks: until all is done. Allocates: nothing, on an Executor once.
// - Exceptions, and options.until (which throws NotRun): each item of the output is then as it was,
//   or assigned what belongs there. A small output is assigned up to the item that threw.
// - Inputs that are not in order, and a comparison that is no strict order, give an output in any
//   order, which has each item once.
// Source: S. Odeh, O. Green, Z. Mwassi, O. Shmueli and Y. Birk, "Merge Path - Parallel Merging Made
// Simple", 2012.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/internal/standard_operation.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/graph/algorithm_options.hpp>
#include <handoff/graph/detail/merge_cut.hpp>
#include <handoff/graph/detail/serial_start.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// What merge() returns, as std::ranges::merge_result: the ends of all three.
template <class I1, class I2, class O>
struct MergeResult {
  [[no_unique_address]] I1 in1;
  [[no_unique_address]] I2 in2;
  [[no_unique_address]] O out;
};

namespace detail {

template <class I1, class I2, class O, class Less>
void merge_block(I1 first1, I1 last1, I2 first2, I2 last2, O out, Less& second_is_less) {
  using T = std::iter_value_t<I1>;
  while (first1 != last1 && first2 != last2) {
    const bool from_second = second_is_less(*first2, *first1);
    if constexpr (std::is_same_v<std::iter_reference_t<I1>, std::iter_reference_t<I2>> &&
                  std::is_lvalue_reference_v<std::iter_reference_t<I1>> &&
                  std::is_trivially_copyable_v<T> && sizeof(T) <= 2 * sizeof(void*)) {
      // Without a branch, which would be mispredicted half of the time.
      *out = from_second ? *first2 : *first1;
      first2 += from_second ? 1 : 0;
      first1 += from_second ? 0 : 1;
    } else if (from_second) {
      *out = *first2;
      ++first2;
    } else {
      *out = *first1;
      ++first1;
    }
    ++out;
  }
  for (; first1 != last1; ++first1, ++out) *out = *first1;
  for (; first2 != last2; ++first2, ++out) *out = *first2;
}

template <class E, class I1, class I2, class O, class Less>
void merge(E& executor, I1 first1, std::size_t count1, I2 first2, std::size_t count2, O out,
           Less& second_is_less, std::size_t few, const Until& until) {
  constexpr std::size_t most_blocks = 128;
  const std::size_t count = count1 + count2;
  const std::size_t members = members_of(executor);
  if (count != 0) detail::refuse_late(until);
  if (count < few || members < 2) {
    return detail::merge_block(first1, detail::after(first1, count1), first2,
                               detail::after(first2, count2), out, second_is_less);
  }
  const std::size_t blocks = min(min(members * 16, most_blocks), count / 512);
  const auto begin = [&](std::size_t block) {
    return count / blocks * block + min(count % blocks, block);
  };
  std::size_t cut[most_blocks + 1] = {};  // of the first input
  for (std::size_t i = 1; i <= blocks; ++i) {
    cut[i] = detail::merge_cut(first1, count1, cut[i - 1], first2, count2,
                               begin(i - 1) - cut[i - 1], begin(i), second_is_less);
  }
  auto merge_one = [&](std::size_t i) {
    const std::size_t from = begin(i);
    const std::size_t to = begin(i + 1);
    detail::merge_block(detail::after(first1, cut[i]), detail::after(first1, cut[i + 1]),
                        detail::after(first2, from - cut[i]),
                        detail::after(first2, to - cut[i + 1]), detail::after(out, from),
                        second_is_less);
  };
  detail::run_all_parts(executor, blocks, merge_one, {.until = until});
}

}  // namespace detail

// Assigns the items of both ranges to those from `out` on, in the order of
// comp(proj2(b), proj1(a)).
template <class E, class I1, class S1, class I2, class S2, class O, class Comp = std::ranges::less,
          class Proj1 = std::identity, class Proj2 = std::identity>
  requires detail::AlgorithmSpan<I1, S1> && detail::AlgorithmSpan<I2, S2>
MergeResult<I1, I2, O> merge(E& executor, I1 first1, S1 last1, I2 first2, S2 last2, O out,
                             Comp comp = {}, Proj1 proj1 = {}, Proj2 proj2 = {},
                             const AlgorithmOptions& options = {}) {
  constexpr bool is_mergeable = std::mergeable<I1, I2, O, Comp, Proj1, Proj2>;
  static_assert(is_mergeable && std::random_access_iterator<O>,
                "merge: the output is an iterator that jumps and takes items of both ranges, and "
                "the comparison takes what the projections make of them");
  const std::size_t count1 = detail::distance_of(first1, last1);
  const std::size_t count2 = detail::distance_of(first2, last2);
  if constexpr (is_mergeable && std::random_access_iterator<O>) {
    constexpr bool is_cheap = detail::is_cheap<Comp, std::iter_reference_t<I1>> &&
                              detail::is_standard_operation<Proj1> &&
                              detail::is_standard_operation<Proj2>;
    auto second_is_less = [&](std::iter_reference_t<I2> b, std::iter_reference_t<I1> a) {
      return static_cast<bool>(detail::invoke(comp,
                                              detail::invoke(proj2, static_cast<decltype(b)>(b)),
                                              detail::invoke(proj1, static_cast<decltype(a)>(a))));
    };
    detail::merge(executor, first1, count1, first2, count2, out, second_is_less,
                  is_cheap ? detail::few_cheap_items : 4096, options.until);
  }
  return {detail::after(first1, count1), detail::after(first2, count2),
          detail::after(out, count1 + count2)};
}

// The same of two vectors, arrays, spans, ...
template <class E, detail::NoIterator R1, detail::NoIterator R2, class O,
          class Comp = std::ranges::less, class Proj1 = std::identity, class Proj2 = std::identity>
  requires std::random_access_iterator<O>
MergeResult<typename detail::IteratorOf<R1>::type, typename detail::IteratorOf<R2>::type, O> merge(
    E& executor, R1&& range1, R2&& range2, O out, Comp comp = {}, Proj1 proj1 = {},
    Proj2 proj2 = {}, const AlgorithmOptions& options = {}) {
  static_assert(detail::is_algorithm_range<R1>() && detail::is_algorithm_range<R2>());
  const auto all = handoff::merge(executor, std::begin(range1), std::end(range1),
                                  std::begin(range2), std::end(range2), out, std::move(comp),
                                  std::move(proj1), std::move(proj2), options);
  return {all.in1, all.in2, all.out};
}

}}  // namespace handoff::HANDOFF_ABI
