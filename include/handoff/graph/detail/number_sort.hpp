// SPDX-License-Identifier: MIT
//
// Sorts whose order is that of numbers: which they are, and how they come to be sorts by digits.
// Not for users.
//
// Numbers in an array are sorted where they are. For other items, or numbers that a projection
// makes of them, pairs of a key and an index are sorted; then each item is moved once to its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/graph/algorithm_options.hpp>
#include <handoff/graph/detail/comparison_sort.hpp>
#include <handoff/graph/detail/digit_sort.hpp>
#include <handoff/graph/detail/merge_sort.hpp>
#include <handoff/graph/detail/scratch_array.hpp>
#include <handoff/graph/detail/serial_start.hpp>
#include <handoff/graph/detail/stretches.hpp>
#include <handoff/graph/detail/whole_loop.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Whether Comp compares two T by < or by >.
template <class Comp, class T>
inline constexpr bool is_ascending =
    std::is_same_v<Comp, std::ranges::less> || std::is_same_v<Comp, std::less<>> ||
    std::is_same_v<Comp, std::less<T>>;
template <class Comp, class T>
inline constexpr bool is_descending =
    std::is_same_v<Comp, std::ranges::greater> || std::is_same_v<Comp, std::greater<>> ||
    std::is_same_v<Comp, std::greater<T>>;

template <class I, class Proj>
using KeyOfItem = std::remove_cvref_t<std::invoke_result_t<Proj&, std::iter_reference_t<I>>>;

template <class I, class Comp, class Proj>
concept OrderedByNumbers =
    SortedByDigits<KeyOfItem<I, Proj>> &&
    (is_ascending<Comp, KeyOfItem<I, Proj>> || is_descending<Comp, KeyOfItem<I, Proj>>);

// The order in which digits sort: what is not a number is above all others, and equal to its like.
template <class T, bool descends>
struct NumberOrder {
  constexpr bool operator()(T a, T b) const noexcept {
    if constexpr (descends) {
      return is_below(b, a);
    } else {
      return is_below(a, b);
    }
  }
  static constexpr bool is_below(T a, T b) noexcept {
    if constexpr (std::is_floating_point_v<T>) {
      return a < b || (b != b && a == a);
    } else {
      return a < b;
    }
  }
};

// Few stretches are merged faster than all is sorted by digits.
inline constexpr std::size_t most_number_stretches = 4;

template <class E, class I, class Less>
bool sort_ordered_numbers(E& executor, I first, std::size_t count, Less& less,
                          const AlgorithmOptions& options) {
  if (count > few_numbers && members_of(executor) > 1) {
    return detail::sort_stretches(executor, first, count, less, most_number_stretches, options);
  }
  return detail::next_turn(first, 0, count - 1, false, less) == count - 1;
}

template <bool descends, class E, class T>
void sort_numbers(E& executor, T* items, std::size_t count, const AlgorithmOptions& options) {
  constexpr KeyOrder order = key_order_of<T>(descends);
  const DigitSort& sort = digit_sort_of<T>();
  if (count <= few_numbers_inserted) {
    return sort.sort(items, nullptr, count, order, ~std::uint64_t{0}, false);
  }
  NumberOrder<T, descends> less;
  if (detail::sort_ordered_numbers(executor, items, count, less, options)) return;
  const ScratchArray<T> room(options.scratch, count);
  detail::sort_by_digits(executor, sort, order, items, room.data(), count, options);
}

// Moves the items to where their keys are.
template <class E, class I>
void place_items(E& executor, I first, KeyedIndex* keys, std::size_t count,
                 const AlgorithmOptions& options) {
  using T = std::iter_value_t<I>;
  if constexpr (SafelyMoved<I> && PlainIterator<I>) {
    const ScratchArray<T> room(options.scratch, count);
    T* const items = std::to_address(first);
    detail::whole_loop_over(executor, count, [&](IndexRange part) noexcept {
      for (std::size_t i = part.first; i != part.last; ++i) {
        detail::relocate(items + keys[i].index, room.data() + i);
      }
    });
    detail::whole_loop_over(executor, count, [&](IndexRange part) noexcept {
      detail::relocate_all(room.data() + part.first, room.data() + part.last, items + part.first);
    });
  } else {
    detail::permute(first, [keys](std::size_t i) -> std::size_t& { return keys[i].index; }, count);
  }
}

template <bool descends, class E, class I, class Proj>
void sort_by_numbers(E& executor, I first, std::size_t count, Proj& proj,
                     const AlgorithmOptions& options) {
  using Number = KeyOfItem<I, Proj>;
  auto less = [&proj, order = NumberOrder<Number, descends>()](auto&& a, auto&& b) {
    return order(detail::invoke(proj, a), detail::invoke(proj, b));
  };
  if (count <= few_numbers_inserted)
    return detail::sort_alone(executor, first, count, less, options);
  if (detail::sort_ordered_numbers(executor, first, count, less, options)) return;
  const ScratchArray<KeyedIndex> keys(options.scratch, count);
  auto take_keys = [&](IndexRange part) {
    for (std::size_t i = part.first; i != part.last; ++i) {
      const Number number = detail::invoke(proj, *detail::after(first, i));
      ::new (static_cast<void*>(keys.data() + i))
          KeyedIndex{detail::key_of(number, key_order_of<Number>(descends)), i};
    }
  };
  if (count <= few_numbers) {
    take_keys({0, count});
  } else {
    detail::run_all_parts(executor, count, take_keys, {.until = options.until});
  }
  {
    const ScratchArray<KeyedIndex> room(options.scratch, count);
    detail::sort_by_digits(executor, sort_of_keyed_indices, {}, keys.data(), room.data(), count,
                           options);
  }
  detail::place_items(executor, first, keys.data(), count, options);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
