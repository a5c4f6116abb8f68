// SPDX-License-Identifier: MIT
// cp of coreutils, told to copy bytes and not to share blocks: that is what is compared.
#include "scenarios/files/copying.hpp"

namespace handoff::lab::files {

std::unique_ptr<Way> contender(const Task& /*task*/) {
  return std::make_unique<Copying>("cp", std::vector<std::string>{"-a", "--reflink=never"});
}

}  // namespace handoff::lab::files
