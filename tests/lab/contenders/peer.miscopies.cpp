// SPDX-License-Identifier: MIT
// For tests: a copy by cp without -a, so that its times are others.
#include "scenarios/files/copying.hpp"

namespace handoff::lab::files {

std::unique_ptr<Way> contender(const Task& /*task*/) {
  return std::make_unique<Copying>("cp", std::vector<std::string>{"-r"});
}

}  // namespace handoff::lab::files
