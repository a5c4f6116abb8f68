// SPDX-License-Identifier: MIT
//
// Names of others in lines of text: of files, of programs.
#pragma once

#include <handoff/config.hpp>
#include <string>
#include <string_view>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// With each byte that would break the line, or act on a terminal, as \xHH, and the backslash too:
// no two names look the same.
std::string escaped(std::string_view name);

}}}  // namespace handoff::HANDOFF_ABI::detail
