// SPDX-License-Identifier: MIT
//
// What can be said of an exception where only a text goes: to another process, into a line.
#pragma once

#include <exception>
#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// keep(text) for the exception that is being handled.
template <class Keep>
void keep_failure_text(const Keep& keep) noexcept {
  try {
    throw;
  } catch (const std::exception& error) {
    keep(error.what());
  } catch (...) {
    keep("an exception that is no std::exception");
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail
