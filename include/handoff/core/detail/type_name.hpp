// SPDX-License-Identifier: MIT
//
// The name of a type, for people and for files: a text in which the compiler has written
// "F = the name". Not for users.
#pragma once

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class F>
constexpr const char* type_name() noexcept {
  return __PRETTY_FUNCTION__;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
