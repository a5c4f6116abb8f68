// SPDX-License-Identifier: MIT
// What the user asked for cannot be done: one line that says what, where and what to do (exit 2).
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace handoff::lab {

struct UserError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// For a name that does not exist: the one that was probably meant.
// "did you mean 'ikj'?" where a name is near enough, else "known: ikj, naive, tile".
std::string nearest_name(std::string_view wanted, std::span<const std::string> names);

}  // namespace handoff::lab
