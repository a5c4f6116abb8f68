// SPDX-License-Identifier: MIT
//
// What a visitor may be called with: the value (or key and value), its number, and whether it is
// the last of this call; or with fewer of these, from the end. Not for users.
#pragma once

#include <cstdint>
#include <type_traits>

#include <handoff/config.hpp>
#include <handoff/core/internal/invoke.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class Visitor, class... Values>
concept CalledWith = std::is_invocable_v<Visitor&, Values&..., std::uint64_t, bool> ||
                     std::is_invocable_v<Visitor&, Values&..., std::uint64_t> ||
                     std::is_invocable_v<Visitor&, Values&...>;

template <class Visitor, class... Values>
[[gnu::always_inline]] inline void call_with(Visitor& visitor, std::uint64_t sequence,
                                             bool end_of_batch, Values&... values) {
  if constexpr (std::is_invocable_v<Visitor&, Values&..., std::uint64_t, bool>) {
    detail::call_and_drop(visitor, values..., std::uint64_t{sequence}, bool{end_of_batch});
  } else if constexpr (std::is_invocable_v<Visitor&, Values&..., std::uint64_t>) {
    detail::call_and_drop(visitor, values..., std::uint64_t{sequence});
  } else {
    detail::call_and_drop(visitor, values...);
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail
