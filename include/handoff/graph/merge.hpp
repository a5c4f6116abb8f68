// SPDX-License-Identifier: MIT
//
// Parallel merge, on the threads of a team, a pool, or whatever else runs loops.
//
//   handoff::merge(team, old_names, new_names, all.begin());
//   handoff::merge(pool, a, b, out, {}, &Order::price, &Order::price, {.until = 10ms});
//
// The arguments of std::ranges::merge behind an executor, and options behind them. Returns the ends
// of all three, as that does.
#pragma once

#include <cstddef>
#include <iterator>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/graph/algorithm_options.hpp>
#include <handoff/graph/detail/merge_sort.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// What merge() returns: as std::ranges::merge_result.
template <class I1, class I2, class O>
struct MergeResult {
  [[no_unique_address]] I1 in1;
  [[no_unique_address]] I2 in2;
  [[no_unique_address]] O out;
};

template <class E, std::random_access_iterator I1, std::sized_sentinel_for<I1> S1,
          std::random_access_iterator I2, std::sized_sentinel_for<I2> S2,
          std::random_access_iterator O, class Comp = std::ranges::less,
          class Proj1 = std::identity, class Proj2 = std::identity>
  requires std::mergeable<I1, I2, O, Comp, Proj1, Proj2>
MergeResult<I1, I2, O> merge(E& /*executor*/, I1 first1, S1 last1, I2 first2, S2 last2, O out,
                             Comp comp = {}, Proj1 proj1 = {}, Proj2 proj2 = {},
                             const AlgorithmOptions& /*options*/ = {}) {
  while (first1 != last1 || first2 != last2) {
    if (first1 == last1 || (first2 != last2 && detail::invoke(comp, detail::invoke(proj2, *first2),
                                                              detail::invoke(proj1, *first1)))) {
      *out = *first2;
      ++first2;
    } else {
      *out = *first1;
      ++first1;
    }
    ++out;
  }
  return {first1, first2, out};
}

template <class E, std::ranges::random_access_range R1, std::ranges::random_access_range R2,
          std::random_access_iterator O, class Comp = std::ranges::less,
          class Proj1 = std::identity, class Proj2 = std::identity>
  requires std::ranges::sized_range<R1> && std::ranges::sized_range<R2> &&
           std::mergeable<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>, O, Comp, Proj1,
                          Proj2>
auto merge(E& executor, R1&& r1, R2&& r2, O out, Comp comp = {}, Proj1 proj1 = {}, Proj2 proj2 = {},
           const AlgorithmOptions& options = {}) {
  const auto first1 = std::ranges::begin(r1);
  const auto first2 = std::ranges::begin(r2);
  return handoff::merge(
      executor, first1,
      first1 + static_cast<std::ranges::range_difference_t<R1>>(std::ranges::size(r1)), first2,
      first2 + static_cast<std::ranges::range_difference_t<R2>>(std::ranges::size(r2)), out,
      std::move(comp), std::move(proj1), std::move(proj2), options);
}

}}  // namespace handoff::HANDOFF_ABI
