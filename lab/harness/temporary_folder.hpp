// SPDX-License-Identifier: MIT
// A folder that goes away with this object, with all that it holds.
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab {

class TemporaryFolder : Pinned {
 public:
  // Its name begins so. Throws UserError where `within` takes no folder.
  explicit TemporaryFolder(const std::string& name, const std::filesystem::path& within =
                                                        std::filesystem::temp_directory_path());
  ~TemporaryFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace handoff::lab
