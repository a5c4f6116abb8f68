// SPDX-License-Identifier: MIT
//
// Sorts whose order is that of numbers: which they are, and how they come to be sorts by digits.
// Not for users.
//
// Numbers in an array are sorted where they are. For other items, or numbers that a projection
// makes of them, pairs of a key and an index are sorted; then each item is moved once to its place.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>  // std::char_traits
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
      // NOLINTNEXTLINE(misc-redundant-expression): NaN
      return a < b || (b != b && a == a);
    } else {
      return a < b;
    }
  }
};

// More stretches of numbers are sorted by digits faster than they are merged.
inline constexpr std::size_t most_number_stretches = 4;

// True: the range was in order, or consisted of few stretches that were, and is sorted now.
template <class E, class I, class Less>
bool sort_if_ordered(E& executor, I first, std::size_t count, Less& less, std::size_t most,
                     const AlgorithmOptions& options) {
  if (count > few_numbers && members_of(executor) > 1) {
    return detail::sort_stretches(executor, first, count, less, most, options);
  }
  return detail::next_turn(first, 0, count - 1, false, less) == count - 1;
}

template <bool descends, class E, class T>
void sort_numbers(E& executor, T* items, std::size_t count, const AlgorithmOptions& options) {
  constexpr DigitOrder order = key_order_of<T>(descends);
  const DigitSort& sort = digit_sort_of<T>();
  if (count <= few_numbers_inserted) {
    return sort.sort(items, nullptr, count, order, ~std::uint64_t{0}, false);
  }
  NumberOrder<T, descends> less;
  if (detail::sort_if_ordered(executor, items, count, less, most_number_stretches, options)) return;
  const ScratchArray<T> room(options.scratch, count);
  detail::sort_by_digits(executor, sort, order, items, room.data(), count, options);
}

// Fewer texts are compared.
inline constexpr std::size_t few_texts = 64;

// Up to eight characters, the first one the highest.
inline std::uint64_t text_key(const char* text, std::size_t size, std::size_t from) noexcept {
  std::uint64_t key = 0;
  if (size >= from + sizeof key) {
    __builtin_memcpy(&key, text + from, sizeof key);
  } else if (size > from) {
    __builtin_memcpy(&key, text + from, size - from);
  }
  return std::endian::native == std::endian::little ? __builtin_bswap64(key) : key;
}

// Keys of items: the numbers themselves.
template <class Proj, class Number, bool descends>
struct NumberKeys {
  static constexpr bool is_whole = true;  // equal keys are of equal items
  Proj& proj;

  template <class Item>
  Number number(Item&& item) const {
    return detail::invoke(proj, std::forward<Item>(item));
  }
  template <class Item>
  std::uint64_t key(Item&& item) const {
    return detail::key_of(number(item), key_order_of<Number>(descends));
  }
  template <class A, class B>
  bool operator()(A&& a, B&& b) const {
    return NumberOrder<Number, descends>()(number(a), number(b));
  }
};

// The first characters behind those that all texts have in common.
template <class Proj, bool descends>
struct TextKeys {
  static constexpr bool is_whole = false;
  Proj& proj;
  std::size_t in_common = 0;

  template <class Item>
  std::uint64_t key(Item&& item) const noexcept {
    const auto& text = detail::invoke(proj, item);
    const std::uint64_t key = detail::text_key(text.data(), text.size(), in_common);
    return descends ? ~key : key;
  }
  template <class A, class B>
  bool operator()(A&& a, B&& b) const noexcept {
    const auto& one = detail::invoke(proj, a);
    const auto& other = detail::invoke(proj, b);
    return descends ? one.compare(other) > 0 : one.compare(other) < 0;
  }
};

// Sorts what has equal keys, by less(index, index).
template <class Less>
void sort_equal_keys(KeyedIndex* keys, KeyedIndex* room, std::size_t count, Less& less) noexcept {
  for (std::size_t first = 0; first < count;) {
    std::size_t last = first + 1;
    while (last < count && keys[last].key == keys[first].key) ++last;
    if (last - first > 1) detail::merge_sort(keys + first, room + first, last - first, false, less);
    first = last;
  }
}

// Moves the items to where their keys are.
template <class E, class I>
void place_items(E& executor, I first, KeyedIndex* keys, std::size_t count,
                 const AlgorithmOptions& options) {
  using T = std::iter_value_t<I>;
  if constexpr (SafelyMoved<I> && PlainIterator<I>) {
    const ScratchArray<T> away(options.scratch, count);
    T* const items = std::to_address(first);
    detail::whole_loop_over(executor, count, [&](IndexRange part) noexcept {
      for (std::size_t i = part.first; i != part.last; ++i) {
        detail::relocate(items + keys[i].index, away.data() + i);
      }
    });
    detail::whole_loop_over(executor, count, [&](IndexRange part) noexcept {
      detail::relocate_all(away.data() + part.first, away.data() + part.last, items + part.first);
    });
  } else {
    detail::permute(first, [keys](std::size_t i) -> std::size_t& { return keys[i].index; }, count);
  }
}

// Sorts by the keys of the items. False: too many are alike, and nothing has been moved.
template <class E, class I, class Keys>
bool sort_by_keys(E& executor, I first, std::size_t count, const Keys& key,
                  const AlgorithmOptions& options) {
  using T = std::iter_value_t<I>;
  const ScratchArray<KeyedIndex> keys(options.scratch, count);
  const ScratchArray<KeyedIndex> room(options.scratch, count);
  auto take_keys = [&](IndexRange part) {
    for (std::size_t i = part.first; i != part.last; ++i) {
      ::new (static_cast<void*>(keys.data() + i)) KeyedIndex{key.key(*detail::after(first, i)), i};
    }
  };
  const auto by_index = [&key](auto items) {
    return [&key, items](const KeyedIndex& a, const KeyedIndex& b) {
      return key(*detail::after(items, a.index), *detail::after(items, b.index));
    };
  };
  const DigitSort& sort = sort_of_keyed_indices;
  if (count <= few_numbers || members_of(executor) < 2) {
    take_keys({0, count});
    sort.sort(keys.data(), room.data(), count, {}, sort.differing(keys.data(), 0, count, {}),
              false);
    if constexpr (!Keys::is_whole) {
      auto less = by_index(first);
      detail::sort_equal_keys(keys.data(), room.data(), count, less);
    }
  } else {
    detail::run_all_parts(executor, count, take_keys, {.until = options.until});
    DigitSortByAll<E> all(executor, sort, {}, keys.data(), room.data(), count, options);
    if constexpr (SafelyMoved<I> && PlainIterator<I>) {
      const ScratchArray<T> away(options.scratch, count);
      auto less = by_index(away.data());
      const auto join = [&](KeyedIndex* bucket, KeyedIndex* other, std::size_t items) noexcept {
        if constexpr (!Keys::is_whole) detail::sort_equal_keys(bucket, other, items, less);
      };
      if (all.run_with(std::to_address(first), away.data(), join)) return true;
    }
    if constexpr (!Keys::is_whole) return false;
    all.run();
  }
  detail::place_items(executor, first, keys.data(), count, options);
  return true;
}

template <bool descends, class E, class I, class Proj>
void sort_by_numbers(E& executor, I first, std::size_t count, Proj& proj,
                     const AlgorithmOptions& options) {
  const NumberKeys<Proj, KeyOfItem<I, Proj>, descends> keys{proj};
  if (count <= few_numbers_inserted) {
    return detail::sort_alone(executor, first, count, keys, options);
  }
  if (detail::sort_if_ordered(executor, first, count, keys, most_number_stretches, options)) return;
  detail::sort_by_keys(executor, first, count, keys, options);
}

// Texts in the order of their characters as unsigned ones.
template <class T>
concept SortedByCharacters = requires(const T& text) {
  requires std::is_same_v<typename T::traits_type, std::char_traits<char>>;
  { text.data() } -> std::same_as<const char*>;
  { text.size() } -> std::same_as<std::size_t>;
  { text.compare(text) } -> std::same_as<int>;
};

// Where a projection is a member, or nothing: it cannot throw when items are away.
template <class I, class Comp, class Proj>
concept OrderedByTexts =
    SortedByCharacters<KeyOfItem<I, Proj>> &&
    (is_ascending<Comp, KeyOfItem<I, Proj>> || is_descending<Comp, KeyOfItem<I, Proj>>) &&
    (std::is_same_v<Proj, std::identity> || std::is_member_object_pointer_v<Proj>) &&
    SafelyMoved<I> && PlainIterator<I>;

// How many characters all texts begin with.
template <class E, class I, class Proj>
std::size_t characters_in_common(E& executor, I first, std::size_t count, Proj& proj,
                                 const Until& until) {
  constexpr std::size_t most_parts = 64;
  const auto& pattern = detail::invoke(proj, *first);
  std::size_t in_common[most_parts];
  const std::size_t parts = count <= few_numbers ? 1 : min(4 * members_of(executor), most_parts);
  auto look = [&](std::size_t part) {
    std::size_t least = pattern.size();
    const std::size_t end = part + 1 == parts ? count : count / parts * (part + 1);
    for (std::size_t i = count / parts * part; i != end && least != 0; ++i) {
      const auto& text = detail::invoke(proj, *detail::after(first, i));
      least = min(least, text.size());
      std::size_t same = 0;
      while (same < least && text.data()[same] == pattern.data()[same]) ++same;
      least = same;
    }
    in_common[part] = least;
  };
  if (parts == 1) {
    look(0);
  } else {
    detail::run_all_parts(executor, parts, look, {.until = until});
  }
  for (std::size_t part = 1; part < parts; ++part) {
    in_common[0] = min(in_common[0], in_common[part]);
  }
  return in_common[0];
}

template <bool descends, class E, class I, class Proj>
void sort_by_texts(E& executor, I first, std::size_t count, Proj& proj,
                   const AlgorithmOptions& options) {
  TextKeys<Proj, descends> keys{proj};
  if (count <= few_texts) return detail::sort_alone(executor, first, count, keys, options);
  if (detail::sort_if_ordered(executor, first, count, keys, most_stretches, options)) return;
  keys.in_common = detail::characters_in_common(executor, first, count, proj, options.until);
  if (detail::sort_by_keys(executor, first, count, keys, options)) return;
  detail::sort_compared(executor, first, count, keys, options);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
