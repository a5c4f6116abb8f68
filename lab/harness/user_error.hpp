// SPDX-License-Identifier: MIT
// What the user asked for cannot be done: one line that says what, where and what to do (exit 2).
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab {

struct UserError : std::runtime_error {
  using std::runtime_error::runtime_error;
  template <class First, class... More>
  UserError(fmt::format_string<First, More...> text, First&& first, More&&... more)
      : std::runtime_error(
            fmt::format(text, std::forward<First>(first), std::forward<More>(more)...)) {}
};

// For a name that does not exist: the one that was probably meant.
// "did you mean 'ikj'?" where a name is near enough, else "known: ikj, naive, tile".
std::string nearest_name(std::string_view wanted, std::span<const std::string> names);
// The same of things that have names.
template <class All, class Name>
std::string nearest_name(std::string_view wanted, const All& all, Name name) {
  std::vector<std::string> names;
  for (const auto& one : all) names.emplace_back(std::invoke(name, one));
  return nearest_name(wanted, names);
}

}  // namespace handoff::lab
