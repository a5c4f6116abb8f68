// SPDX-License-Identifier: MIT
//
// What differs in a unit that is compiled without exceptions: all of it. Not for users.
//
// The library itself is compiled with them. Such a unit says so when the program begins; from then
// on nothing is thrown, as an exception would pass through the unit and undo nothing there. What
// would be thrown ends the program instead, by the handler of misuse.hpp.
#pragma once

#include <exception>
#include <utility>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Whether a unit of the program is compiled without exceptions.
bool nothing_is_thrown() noexcept;
bool throw_nothing() noexcept;

#if !defined(__cpp_exceptions)
inline const bool without_exceptions = throw_nothing();
#endif

// What is being handled, which a function of the user's threw or passed on; or the end, if nothing
// is thrown in this program.
std::exception_ptr caught_failure() noexcept;

// Does not return, unless nothing is thrown.
template <class Error>
void throw_error([[maybe_unused]] const Error& error) {
#if defined(__cpp_exceptions)
  if (!nothing_is_thrown()) throw error;
#endif
}

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
