// SPDX-License-Identifier: MIT
//
// A text of several parts, for what is rarely said: a tenth of the code of a chain of `+`, which
// each program that links the library would have.
#pragma once

#include <handoff/config.hpp>
#include <initializer_list>
#include <string>
#include <string_view>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

[[gnu::cold]] std::string joined(std::initializer_list<std::string_view> parts);

}}}  // namespace handoff::HANDOFF_ABI::sync
