// SPDX-License-Identifier: MIT
//
// Parallel partition, on the threads of a team, a pool, or whatever else runs loops.
//
//   const auto rest = handoff::partition(team, orders, &Order::is_open);
//   handoff::partition(pool, v.begin(), v.end(), [](int x) { return x < 0; }, {}, {.until = 10ms});
//
// The arguments of std::ranges::partition behind an executor, and options behind them. Returns what
// that returns: the items for which the predicate is false, which stand behind the others.
#pragma once

#include <cstddef>
#include <iterator>
#include <ranges>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/graph/algorithm_options.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

template <class E, std::random_access_iterator I, std::sized_sentinel_for<I> S,
          class Proj = std::identity, std::indirect_unary_predicate<std::projected<I, Proj>> Pred>
  requires std::permutable<I>
std::ranges::subrange<I> partition(E& /*executor*/, I first, S last, Pred pred, Proj proj = {},
                                   const AlgorithmOptions& /*options*/ = {}) {
  const I end = first + static_cast<std::iter_difference_t<I>>(detail::distance_of(first, last));
  I place = first;
  for (I each = first; each != end; ++each) {
    if (!detail::invoke(pred, detail::invoke(proj, *each))) continue;
    if (place != each) std::ranges::iter_swap(place, each);
    ++place;
  }
  return {place, end};
}

template <class E, std::ranges::random_access_range R, class Proj = std::identity,
          std::indirect_unary_predicate<std::projected<std::ranges::iterator_t<R>, Proj>> Pred>
  requires std::ranges::sized_range<R> && std::permutable<std::ranges::iterator_t<R>>
std::ranges::borrowed_subrange_t<R> partition(E& executor, R&& range, Pred pred, Proj proj = {},
                                              const AlgorithmOptions& options = {}) {
  const auto first = std::ranges::begin(range);
  return handoff::partition(
      executor, first,
      first + static_cast<std::ranges::range_difference_t<R>>(std::ranges::size(range)),
      std::move(pred), std::move(proj), options);
}

}}  // namespace handoff::HANDOFF_ABI
