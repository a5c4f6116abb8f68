// SPDX-License-Identifier: MIT
//
// A folder that stands for "/", with the files that a test wants to be read.
#pragma once

#include "support/files.hpp"
#include "support/test.hpp"

namespace handoff::test {

// Gone with the object.
class FakeRoot {
 public:
  struct File {
    std::string path;
    std::string text;
  };

  explicit FakeRoot(const std::vector<File>& files) {
    for (const File& file : files) {
      const std::filesystem::path path = folder_.path() + file.path;
      std::filesystem::create_directories(path.parent_path());
      put(path, file.text);
    }
  }

  const char* path() const { return folder_.path().c_str(); }

 private:
  const Folder folder_;
};

}  // namespace handoff::test
