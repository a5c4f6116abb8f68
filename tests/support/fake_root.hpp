// SPDX-License-Identifier: MIT
//
// A folder that stands for "/", with the files that a test wants to be read.
#pragma once

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
    std::string name = (std::filesystem::temp_directory_path() / "fake_root_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), "mkdtemp " + name);
    }
    path_ = name;
    for (const File& file : files) {
      const std::filesystem::path path = path_ + file.path;
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path) << file.text;
    }
  }
  ~FakeRoot() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;

  const char* path() const { return path_.c_str(); }

 private:
  std::string path_;
};

}  // namespace handoff::test
