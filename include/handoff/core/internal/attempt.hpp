// SPDX-License-Identifier: MIT
//
// Calls of functions that may throw, where exceptions are on. Not for users.
#pragma once

#include <utility>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct IsLost {
  void operator()() const noexcept {}
};

// True if function() returned; else what it threw is std::current_exception() in failed(). Without
// that it is lost: there is no memory, or no thread.
template <class Function, class Failed = IsLost>
bool attempt(Function&& function, Failed&& failed = {}) noexcept {
#if defined(__cpp_exceptions)
  try {
    function();
  } catch (...) {
    failed();
    return false;
  }
#else
  function();
  (void)failed;
#endif
  return true;
}

// Calls function(); if it throws, thrown() is called before the exception goes on.
template <class Function, class Thrown>
void call_or(Function&& function, Thrown thrown) {
  struct Guard {
    Thrown thrown;
    bool returned = false;
    ~Guard() {
      if (!returned) thrown();
    }
  } guard{std::move(thrown)};
  function();
  guard.returned = true;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
