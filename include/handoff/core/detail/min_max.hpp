// SPDX-License-Identifier: MIT
//
// The lesser and the greater of two. Not for users, who have std::min and std::max.
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

}}}  // namespace handoff::HANDOFF_ABI::detail
