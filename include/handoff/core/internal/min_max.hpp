// SPDX-License-Identifier: MIT
//
// The lesser of two, the greater of two or more. Not for users, who have std::min and std::max.
//
// The same as those, whose header costs everybody who includes us 8,000 lines.
#pragma once

#include <type_traits>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class T>
constexpr T min(T a, std::type_identity_t<T> b) noexcept {
  return b < a ? b : a;
}

template <class T>
constexpr T max(T a, std::type_identity_t<T> b) noexcept {
  return a < b ? b : a;
}
template <class T, class... Rest>
constexpr T max(T a, std::type_identity_t<T> b, std::type_identity_t<T> c, Rest... rest) noexcept {
  return detail::max<T>(detail::max<T>(a, b), c, rest...);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
