// SPDX-License-Identifier: MIT
//
// A swap that loses nothing, and which iterators lead to the items of an array. Not for users.
#pragma once

#include <iterator>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/attempt.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class I>
concept PlainIterator =
    std::contiguous_iterator<I> && std::is_same_v<std::iter_reference_t<I>, std::iter_value_t<I>&>;

// Two items of a range. If a move throws, both are still there, as far as a second one undoes it.
template <class I>
void swap_items(I a, I b) {
  if constexpr (noexcept(std::ranges::iter_swap(a, b))) {
    std::ranges::iter_swap(a, b);
  } else {
    std::iter_value_t<I> held(std::ranges::iter_move(a));
    const auto put_to = [&](I place) noexcept {
      detail::attempt([&] { *place = std::move(held); });
    };
    detail::call_or([&] { *a = std::ranges::iter_move(b); }, [&]() noexcept { put_to(a); });
    detail::call_or([&] { *b = std::move(held); }, [&]() noexcept { put_to(b); });
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail
