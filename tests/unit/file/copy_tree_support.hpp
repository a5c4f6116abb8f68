// SPDX-License-Identifier: MIT
//
// What the tests of copy_tree() share.
#pragma once

#include "support/fast_place.hpp"
#include "support/test.hpp"
#include "unit/file/file_support.hpp"

namespace handoff::test {

inline struct stat look(const std::filesystem::path& path) {
  struct stat found{};
  EXPECT_EQ(lstat(path.c_str(), &found), 0) << path;
  return found;
}

class CopyTree : public testing::Test {
 protected:
  explicit CopyTree(const std::string& below = std::filesystem::temp_directory_path())
      : folder_(below) {
    std::filesystem::create_directory(from);
  }

  CopyTreeResult copy(CopyTreeOptions options = {}) {
    return copy_tree({from}, to, std::move(options));
  }
  // ... of which nothing is missing.
  CopyTreeResult copy_all(CopyTreeOptions options = {}) {
    CopyTreeResult result = copy(std::move(options));
    EXPECT_TRUE(result.ok()) << told(result);
    return result;
  }
  // No temporary name is left anywhere.
  void expect_clean() const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(base)) {
      EXPECT_FALSE(entry.path().filename().string().ends_with(".handoff~")) << entry.path();
    }
  }
  static std::string told(const CopyTreeResult& result) {
    std::string all = result.refusal;
    for (const CopyTreeProblem& problem : result.problems) all += problem.text() + '\n';
    return all;
  }

  Folder folder_;
  const std::filesystem::path base{folder_.path()};
  std::filesystem::path from{base / "from"};
  std::filesystem::path to{base / "to"};
};

// Those that make thousands of files do so in memory, and on the device in a deep run.
class CopyTreeOften : public CopyTree {
 protected:
  CopyTreeOften()
      : CopyTree(deep() ? std::filesystem::temp_directory_path().string() : fast_place()) {}
};

// Regular files below it, by their paths.
inline std::map<std::string, std::string> contents_below(const std::filesystem::path& root) {
  std::map<std::string, std::string> all;
  if (!std::filesystem::exists(root)) return all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.is_regular_file()) {
      all[entry.path().lexically_relative(root)] = contents(entry.path());
    }
  }
  return all;
}

}  // namespace handoff::test
