// SPDX-License-Identifier: MIT
//
// The stable sort by comparison, of any items and iterators. Not for users.
//
// Items that lie in an array and that a move cannot lose are merged where they are. Others are
// moved to an array and back. Where a move may throw, their indices are sorted, and then each item
// is moved once to its place.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/graph/algorithm_options.hpp>
#include <handoff/graph/detail/merge_rounds.hpp>
#include <handoff/graph/detail/merge_sort.hpp>
#include <handoff/graph/detail/scratch_array.hpp>
#include <handoff/graph/detail/serial_start.hpp>
#include <handoff/graph/detail/stretches.hpp>
#include <handoff/graph/detail/swap_items.hpp>
#include <handoff/graph/detail/whole_loop.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// So few items the caller compares alone: some 100 us of work, where a thread that sleeps needs 10
// to come.
inline constexpr std::size_t few_compared_items = 2048;

// Where moving an item away and back cannot throw.
template <class I>
concept SafelyMoved =
    Relocatable<std::iter_value_t<I>> &&
    std::is_nothrow_constructible_v<std::iter_value_t<I>, std::iter_rvalue_reference_t<I>> &&
    std::is_nothrow_assignable_v<std::iter_reference_t<I>, std::iter_value_t<I>>;

// Reverses the stretches that descend.
template <class E, class I>
void reverse_stretches(E& executor, I first, const Stretches& stretches, const Until& until) {
  constexpr std::size_t least = 4096;  // pairs, by one thread
  for (std::size_t i = 0; i < stretches.count; ++i) {
    if (!stretches.descends[i]) continue;
    const I begin = detail::after(first, i == 0 ? 0 : stretches.end[i - 1]);
    const I last = detail::after(first, stretches.end[i] - 1);
    auto reverse = [&](IndexRange part) {
      for (std::size_t pair = part.first; pair != part.last; ++pair) {
        detail::swap_items(detail::after(begin, pair),
                           last - static_cast<std::iter_difference_t<I>>(pair));
      }
    };
    const auto pairs = static_cast<std::size_t>(last - begin + 1) / 2;
    detail::run_all_parts(executor, pairs, reverse, {.block = least, .until = until});
  }
}

// The items of a range, in an array of their own.
template <class E, class I>
class TakenItems {
  using T = std::iter_value_t<I>;

 public:
  TakenItems(E& executor, I first, std::size_t count, const ScratchMemory& scratch)
      : executor_(executor), first_(first), items_(scratch, count) {
    move_all([](I from, T* to) noexcept {
      ::new (static_cast<void*>(to)) T(std::ranges::iter_move(from));
    });
  }
  ~TakenItems() {
    move_all([](I to, T* from) noexcept {
      *to = std::move(*from);
      std::destroy_at(from);
    });
  }
  TakenItems(const TakenItems&) = delete;
  TakenItems& operator=(const TakenItems&) = delete;

  T* data() const noexcept { return items_.data(); }

 private:
  template <class Move>
  void move_all(Move move) noexcept {
    detail::whole_loop_over(executor_, items_.size(), [&](IndexRange part) noexcept {
      for (std::size_t i = part.first; i != part.last; ++i) {
        move(detail::after(first_, i), items_.data() + i);
      }
    });
  }

  E& executor_;
  const I first_;
  const ScratchArray<T> items_;
};

// Moves the item at index(i) to i, for all i, along the cycles that these are.
template <class I, class Index>
void permute(I first, Index index, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (index(i) == i) continue;
    std::iter_value_t<I> held(std::ranges::iter_move(detail::after(first, i)));
    std::size_t place = i;  // whose item has been moved away
    detail::call_or(
        [&] {
          for (std::size_t from = index(i); from != i; from = index(place)) {
            *detail::after(first, place) = std::ranges::iter_move(detail::after(first, from));
            index(place) = place;
            place = from;
          }
          *detail::after(first, place) = std::move(held);
          index(place) = place;
        },
        [&]() noexcept {
          detail::attempt([&] { *detail::after(first, place) = std::move(held); });
        });
  }
}

// Calls sort(items, less) for an array of as many items as the range has, and brings the range into
// the order that the array has then.
template <class E, class I, class Less, class Sort>
void sort_as_array(E& executor, I first, std::size_t count, Less& less,
                   const AlgorithmOptions& options, Sort sort) {
  if constexpr (!SafelyMoved<I>) {
    ScratchArray<std::size_t> index(options.scratch, count);
    for (std::size_t i = 0; i < count; ++i) index.data()[i] = i;
    auto by_item = [&](std::size_t a, std::size_t b) {
      return less(*detail::after(first, a), *detail::after(first, b));
    };
    sort(index.data(), by_item);
    detail::permute(
        first, [&index](std::size_t i) -> std::size_t& { return index.data()[i]; }, count);
  } else if constexpr (PlainIterator<I>) {
    sort(std::to_address(first), less);
  } else {
    TakenItems<E, I> taken(executor, first, count, options.scratch);
    sort(taken.data(), less);
  }
}

// By the caller alone.
template <class E, class I, class Less>
void sort_alone(E& executor, I first, std::size_t count, Less& less,
                const AlgorithmOptions& options) {
  detail::sort_as_array(executor, first, count, less, options, [&](auto* items, auto& order) {
    using T = std::remove_pointer_t<decltype(items)>;
    if (count <= insertion_most<T>) return detail::sort_by_insertion(items, count, order);
    const ScratchArray<T> room(options.scratch, count);
    detail::merge_sort(items, room.data(), count, false, order);
  });
}

// True: the range consisted of `most` stretches at most, and is sorted now.
template <class E, class I, class Less>
bool sort_stretches(E& executor, I first, std::size_t count, Less& less, std::size_t most,
                    const AlgorithmOptions& options) {
  Stretches found = detail::find_stretches(executor, first, count, less, options.until);
  if (found.count == 0 || found.count > most) return false;
  detail::reverse_stretches(executor, first, found, options.until);
  if (found.count == 1) return true;
  detail::sort_as_array(executor, first, count, less, options, [&](auto* items, auto& order) {
    using T = std::remove_pointer_t<decltype(items)>;
    const ScratchArray<T> room(options.scratch, count);
    SortedArray<T> array{items, room.data(), count};
    detail::merge_stretches(executor, array, found.end, found.count, order, options.until);
  });
  return true;
}

template <class E, class I, class Less>
void sort_compared(E& executor, I first, std::size_t count, Less& less,
                   const AlgorithmOptions& options) {
  if (count <= few_compared_items || members_of(executor) < 2) {
    return detail::sort_alone(executor, first, count, less, options);
  }
  if (detail::sort_stretches(executor, first, count, less, most_stretches, options)) return;
  detail::sort_as_array(executor, first, count, less, options, [&](auto* items, auto& order) {
    using T = std::remove_pointer_t<decltype(items)>;
    const ScratchArray<T> room(options.scratch, count);
    detail::merge_sort_by_all(executor, items, room.data(), count, order, options.until);
  });
}

}}}  // namespace handoff::HANDOFF_ABI::detail
