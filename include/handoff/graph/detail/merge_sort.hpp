// SPDX-License-Identifier: MIT
//
// A stable merge sort by one thread, whose items are all there whatever the comparison throws. Not
// for users.
//
// A slot has an item or is raw. Items go from slot to slot by relocate(), which cannot throw, so
// there is never a copy of one and never none. Each function here says where the items lie when it
// returns; when it throws, they lie in the same slots, in any order.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/invoke.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// What the functions here need of an item.
template <class T>
concept Relocatable = std::is_object_v<T> && std::is_nothrow_move_constructible_v<T> &&
                      std::is_nothrow_destructible_v<T>;

// From a slot to a raw one; then the first is raw.
template <Relocatable T>
void relocate(T* from, T* to) noexcept {
  ::new (static_cast<void*>(to)) T(std::move(*from));
  std::destroy_at(from);
}

// From [first, last) to the raw slots at `to`, which do not overlap. Returns the end of these.
template <Relocatable T>
T* relocate_all(T* first, T* last, T* to) noexcept {
  if constexpr (std::is_trivially_copyable_v<T>) {
    const auto count = static_cast<std::size_t>(last - first);
    if (count != 0) {
      __builtin_memcpy(static_cast<void*>(to), static_cast<const void*>(first), count * sizeof(T));
    }
    return to + count;
  } else {
    for (; first != last; ++first, ++to) detail::relocate(first, to);
    return to;
  }
}

// comp(proj(a), proj(b)), by several threads at once.
template <class Comp, class Proj>
struct ProjectedOrder {
  Comp& comp;
  Proj& proj;

  template <class A, class B>
  bool operator()(A&& a, B&& b) const {
    return static_cast<bool>(detail::invoke(comp, detail::invoke(proj, std::forward<A>(a)),
                                            detail::invoke(proj, std::forward<B>(b))));
  }
};

// An item on its way to another place, which it takes when this ends.
template <Relocatable T>
struct HeldItem {
  explicit HeldItem(T* from) noexcept : place(from) { detail::relocate(from, &item.value); }
  ~HeldItem() { detail::relocate(&item.value, place); }
  HeldItem(const HeldItem&) = delete;
  HeldItem& operator=(const HeldItem&) = delete;

  union Room {
    Room() noexcept {}
    ~Room() {}
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;
    T value;
  } item;
  T* place;  // a raw slot
};

// Items stay in their slots.
template <class T, class Less>
void sort_by_insertion(T* items, std::size_t count, Less& less) {
  for (std::size_t i = 1; i < count; ++i) {
    if (!less(items[i], items[i - 1])) continue;
    HeldItem<T> held(items + i);
    do {
      detail::relocate(held.place - 1, held.place);
      --held.place;
    } while (held.place != items && less(held.item.value, held.place[-1]));
  }
}

// Two stretches that are in order, to the raw slots at `out`; of equal items those of the first
// stretch come first.
template <class T, class Less>
void merge_to(T* first, T* first_end, T* second, T* second_end, T* out, Less& less) {
  struct Rest {
    T* first;
    T* first_end;
    T* second;
    T* second_end;
    T* out;
    ~Rest() {
      out = detail::relocate_all(first, first_end, out);
      detail::relocate_all(second, second_end, out);
    }
  } rest{first, first_end, second, second_end, out};
  if (first == first_end || second == second_end) return;
  if (!less(*second, first_end[-1])) return;
  while (rest.first != first_end && rest.second != second_end) {
    const bool from_second = less(*rest.second, *rest.first);
    if constexpr (std::is_trivially_copyable_v<T> && sizeof(T) <= 2 * sizeof(void*)) {
      // Without a branch, which would be mispredicted half of the time.
      const T* const next = from_second ? rest.second : rest.first;
      __builtin_memcpy(static_cast<void*>(rest.out), static_cast<const void*>(next), sizeof(T));
      rest.second += from_second ? 1 : 0;
      rest.first += from_second ? 0 : 1;
    } else if (from_second) {
      detail::relocate(rest.second++, rest.out);
    } else {
      detail::relocate(rest.first++, rest.out);
    }
    ++rest.out;
  }
}

// Stretches that insertion sorts faster.
template <class T>
inline constexpr std::size_t insertion_most = std::is_trivially_copyable_v<T> ? 16 : 8;

// The items of `data`, to the raw slots of `other` if `to_other`, else to `data`.
template <class T, class Less>
void merge_sort(T* data, T* other, std::size_t count, bool to_other, Less& less) {
  if (count <= insertion_most<T>) {
    struct Deliver {
      T* data;
      T* last;
      T* other;
      ~Deliver() {
        if (other != nullptr) detail::relocate_all(data, last, other);
      }
    } deliver{data, data + count, to_other ? other : nullptr};
    return detail::sort_by_insertion(data, count, less);
  }
  const std::size_t half = count / 2;
  T* const from = to_other ? data : other;
  T* const to = to_other ? other : data;
  detail::call_or([&] { detail::merge_sort(data, other, half, !to_other, less); },
                  [&]() noexcept {
                    detail::relocate_all(from, from + half, to);
                    if (to_other) detail::relocate_all(data + half, data + count, other + half);
                  });
  detail::call_or(
      [&] { detail::merge_sort(data + half, other + half, count - half, !to_other, less); },
      [&]() noexcept { detail::relocate_all(from, from + count, to); });
  detail::merge_to(from, from + half, from + half, from + count, to, less);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
