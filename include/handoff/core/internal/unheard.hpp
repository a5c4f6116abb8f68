// SPDX-License-Identifier: MIT
//
// How a room says that nobody takes an exception any more (core/on_unheard.hpp). Not for users.
#pragma once

#include <exception>
#include <string_view>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// What threw, in the words of the sentence; names of users come as they are.
struct Thrower {
  const char* type;  // "ThreadPool"
  std::string_view name = {};  // the object's
  const char* some = "a task";
  const char* the = "the task";  // in front of its own name
  std::string_view own = {};
  const char* remedy = "";  // "call wait()"
};

// Tells the handler.
[[gnu::cold]] void unheard(const std::exception_ptr& error, const Thrower& thrower) noexcept;

}}}  // namespace handoff::HANDOFF_ABI::detail
