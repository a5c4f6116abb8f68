// SPDX-License-Identifier: MIT
// A folder that goes away with this object, with all that it holds.
#pragma once

#include <filesystem>
#include <string>

namespace handoff::lab {

class TemporaryFolder {
 public:
  // Its name begins so. Throws UserError where `within` takes no folder.
  explicit TemporaryFolder(const std::string& name, const std::filesystem::path& within =
                                                        std::filesystem::temp_directory_path());
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace handoff::lab
