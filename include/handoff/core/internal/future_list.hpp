// SPDX-License-Identifier: MIT
//
// The Futures of any range, moved into a std::vector. Not for users, who give ranges to when_all()
// and when_any().
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/future.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class T>
inline constexpr bool is_future = false;
template <class R>
inline constexpr bool is_future<Future<R>> = true;

template <class Range>
using ItemOf = decltype(*std::begin(std::declval<Range&>()));

// Given away: a container by std::move(), or a view of Futures that stand elsewhere.
template <class Range>
concept FutureRange =
    !std::is_reference_v<Range> && !std::is_const_v<std::remove_reference_t<ItemOf<Range>>> &&
    is_future<std::remove_cvref_t<ItemOf<Range>>>;

template <class Range>
using ResultOf = typename std::remove_cvref_t<ItemOf<Range>>::value_type;

// All of them; an empty one is misuse.
template <FutureRange Range>
std::vector<Future<ResultOf<Range>>> future_list(Range&& range) {
  using List = std::vector<Future<ResultOf<Range>>>;
  List futures;
  if constexpr (std::is_same_v<Range, List>) {
    futures = std::forward<Range>(range);
  } else {
    if constexpr (requires { static_cast<std::size_t>(range.size()); }) {
      futures.reserve(static_cast<std::size_t>(range.size()));
    }
    for (auto&& future : range) futures.push_back(std::move(future));
  }
  for (const auto& future : futures) (void)future.is_ready();
  return futures;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
