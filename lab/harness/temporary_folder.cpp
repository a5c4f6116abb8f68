// SPDX-License-Identifier: MIT
#include "harness/temporary_folder.hpp"
#include "harness/user_error.hpp"

namespace handoff::lab {

TemporaryFolder::TemporaryFolder(const std::string& name, const std::filesystem::path& within) {
  std::string pattern = (within / (name + ".XXXXXX")).string();
  if (mkdtemp(pattern.data()) == nullptr) {
    throw UserError("{}: cannot be written: {}", within.string(), std::strerror(errno));
  }
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code left_behind;
  std::filesystem::remove_all(path_, left_behind);
}

}  // namespace handoff::lab
