// SPDX-License-Identifier: MIT
// For tests: files written and read as they should be, and a Lie that spoils them.
#pragma once

#include "scenarios/files/blocking.hpp"

namespace handoff::lab::files {

struct InTurn {
  static void run(std::size_t count, const std::function<void(std::size_t)>& job) {
    for (std::size_t i = 0; i < count; ++i) job(i);
  }
};

using Honest = Blocking<InTurn>;

}  // namespace handoff::lab::files
