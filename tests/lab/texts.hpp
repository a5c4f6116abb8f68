// SPDX-License-Identifier: MIT
// What tests of texts share: a file with one, and what a text says.
#pragma once

#include "support/fake_root.hpp"
#include "support/test.hpp"

namespace handoff::lab {

// Gone with the object.
class TextFile {
 public:
  explicit TextFile(const std::string& text) : folder_({test::FakeRoot::File{"/text", text}}) {}
  [[nodiscard]] std::filesystem::path path() const {
    return std::filesystem::path(folder_.path()) / "text";
  }

 private:
  test::FakeRoot folder_;
};

inline std::size_t times_in(const std::string& text, const std::string& words) {
  std::size_t times = 0;
  for (auto at = text.find(words); at != text.npos; at = text.find(words, at + 1)) ++times;
  return times;
}

inline testing::AssertionResult says(const std::string& text, const std::string& words) {
  const bool there = text.find(words) != text.npos;
  return (there ? testing::AssertionSuccess() : testing::AssertionFailure())
         << "'" << words << (there ? "' is in:\n" : "' is not in:\n") << text;
}

}  // namespace handoff::lab
