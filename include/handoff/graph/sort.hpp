// SPDX-License-Identifier: MIT
//
// Parallel sorts, on the threads of a team, a pool, or whatever else runs loops.
//
//   handoff::sort(team, numbers);
//   handoff::sort(team, names, std::ranges::greater());
//   handoff::sort(pool, orders.begin(), orders.end(), {}, &Order::price);
//   handoff::stable_sort(pool, orders, {}, &Order::price, {.scratch = &resource, .until = 10ms});
//
// For: the arguments of std::ranges::sort and stable_sort behind an executor, and options behind
// them. Not for: ranges whose iterators do not jump (copy into a vector).
//
// - Concurrency: any thread; as many at a time as the executor allows. Comparison and projection
//   are one object each, called by several threads at once. Nobody else touches the range.
// - Order: stable_sort() keeps the order of equal items. sort() does not promise it.
// - Numbers in the order of < or > (std::ranges::less or greater, std::less, std::greater), which
//   are the items themselves or what the projection gives, are sorted by their digits. The
//   projection is called once an item then. NaN compare as if above all others; -0 equals 0.
// - Texts (std::string, std::string_view) in that order, which are the items or a member of theirs,
//   are sorted by their first eight characters behind those that all have in common, then compared.
// - A range that is ascending or descending, or made of few such stretches, is only looked through,
//   reversed and merged.
// - Small ranges are sorted by the caller alone. No thread is woken for them.
// - Blocks: until all is sorted. The caller works with the others.
// - Allocates: from options.scratch, as much as the range takes; for projected numbers and texts
//   32 bytes an item besides. Nothing for up to 8 items, and where the range is in order already.
// - Exceptions, and options.until (which throws NotRun): the range has all of its items then, in
//   any order. This holds also where a comparison or a projection throws. A move that throws is
//   undone; if what undoes it throws, too, that item's value is lost.
// - A comparison that is no strict order gives a range in any order.
// Source: the stable merges by parts are those of S. Odeh, O. Green, Z. Mwassi, O. Shmueli and
// Y. Birk, "Merge Path - Parallel Merging Made Simple", 2012.
#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/graph/algorithm_options.hpp>
#include <handoff/graph/detail/comparison_sort.hpp>
#include <handoff/graph/detail/merge_sort.hpp>
#include <handoff/graph/detail/number_sort.hpp>
#include <handoff/graph/detail/serial_start.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {

template <class E, class I, class Comp, class Proj>
void sort_range(E& executor, I first, std::size_t count, Comp& comp, Proj& proj,
                const AlgorithmOptions& options) {
  constexpr bool is_sortable = std::sortable<I, Comp, Proj>;
  static_assert(is_sortable,
                "sort: items can be moved, and the comparison takes two of what the projection "
                "makes of them");
  if constexpr (is_sortable) {
    if (count != 0) detail::refuse_late(options.until);
    if (count < 2) return;
    if constexpr (OrderedByNumbers<I, Comp, Proj>) {
      constexpr bool descends = is_descending<Comp, KeyOfItem<I, Proj>>;
      if constexpr (PlainIterator<I> && std::is_same_v<Proj, std::identity>) {
        detail::sort_numbers<descends>(executor, std::to_address(first), count, options);
      } else {
        detail::sort_by_numbers<descends>(executor, first, count, proj, options);
      }
    } else if constexpr (OrderedByTexts<I, Comp, Proj>) {
      constexpr bool descends = is_descending<Comp, KeyOfItem<I, Proj>>;
      detail::sort_by_texts<descends>(executor, first, count, proj, options);
    } else {
      ProjectedOrder<Comp, Proj> order{comp, proj};
      detail::sort_compared(executor, first, count, order, options);
    }
  }
}

}  // namespace detail

// Sorts [first, last) by comp(proj(a), proj(b)). Returns last.
template <class E, class I, class S, class Comp = std::ranges::less, class Proj = std::identity>
  requires detail::AlgorithmSpan<I, S>
I sort(E& executor, I first, S last, Comp comp = {}, Proj proj = {},
       const AlgorithmOptions& options = {}) {
  const std::size_t count = detail::distance_of(first, last);
  detail::sort_range(executor, first, count, comp, proj, options);
  return detail::after(first, count);
}

// Sorts a vector, an array, a span, ...
template <class E, detail::NoIterator R, class Comp = std::ranges::less, class Proj = std::identity>
detail::IteratorOf<R>::type sort(E& executor, R&& range, Comp comp = {}, Proj proj = {},
                                 const AlgorithmOptions& options = {}) {
  if constexpr (detail::is_algorithm_range<R>()) {
    return handoff::sort(executor, std::begin(range), std::end(range), std::move(comp),
                         std::move(proj), options);
  }
}

// The same, and equal items keep their order.
template <class E, class I, class S, class Comp = std::ranges::less, class Proj = std::identity>
  requires detail::AlgorithmSpan<I, S>
I stable_sort(E& executor, I first, S last, Comp comp = {}, Proj proj = {},
              const AlgorithmOptions& options = {}) {
  return handoff::sort(executor, first, last, std::move(comp), std::move(proj), options);
}

// The same of a vector, an array, a span, ...
template <class E, detail::NoIterator R, class Comp = std::ranges::less, class Proj = std::identity>
detail::IteratorOf<R>::type stable_sort(E& executor, R&& range, Comp comp = {}, Proj proj = {},
                                        const AlgorithmOptions& options = {}) {
  if constexpr (detail::is_algorithm_range<R>()) {
    return handoff::sort(executor, std::begin(range), std::end(range), std::move(comp),
                         std::move(proj), options);
  }
}

}}  // namespace handoff::HANDOFF_ABI
