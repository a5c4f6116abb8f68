// SPDX-License-Identifier: MIT
//
// A system call that failed, as an exception: what() is "WHAT: the errno's words".
#pragma once

#include <handoff/config.hpp>
#include <string>
#include <system_error>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// `what`: which thing, by its path or name, what was done with it, and what to do instead.
inline std::system_error call_failed(int error, const std::string& what) {
  return {error, std::generic_category(), what};
}

}}}  // namespace handoff::HANDOFF_ABI::detail
