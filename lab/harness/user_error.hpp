// SPDX-License-Identifier: MIT
// What the user asked for cannot be done: one line that says what, where and what to do (exit 2).
#pragma once

#include <stdexcept>

namespace handoff::lab {

struct UserError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace handoff::lab
