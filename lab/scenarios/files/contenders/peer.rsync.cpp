// SPDX-License-Identifier: MIT
// rsync between two folders of one machine, where it copies whole files.
#include "scenarios/files/copying.hpp"

namespace handoff::lab::files {

std::unique_ptr<Way> contender(const Task& /*task*/) {
  return std::make_unique<Copying>("rsync", std::vector<std::string>{"-aHS", "--whole-file"}, true);
}

}  // namespace handoff::lab::files
