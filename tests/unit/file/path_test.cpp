// SPDX-License-Identifier: MIT
//
// Temporary names: short enough for every file system, and whole letters.
#include "file/path.hpp"
#include "support/test.hpp"

namespace handoff { namespace {

using detail::temporary_name;

constexpr std::size_t kMost = 143;       // what eCryptfs takes
constexpr std::size_t kAround = 1 + 36;  // ".NAME.26 letters.handoff~"

TEST(TemporaryName, IsNewAndNoLongerThanAnyFileSystemTakes) {
  std::set<std::string> all;
  for (std::size_t length = 1; length <= 255; ++length) {
    const std::string name(length, 'n');
    const std::string temporary = temporary_name(name);
    EXPECT_EQ(temporary.size(), std::min(length + kAround, kMost)) << length;
    EXPECT_TRUE(temporary.starts_with("." + name.substr(0, kMost - kAround)) || length < 106);
    EXPECT_TRUE(temporary.ends_with(".handoff~")) << temporary;
    EXPECT_TRUE(all.insert(temporary).second) << temporary;
  }
}

TEST(TemporaryName, CannotBeGuessedInAnyOfItsLetters) {
  constexpr std::size_t letters = 26;
  std::array<std::set<char>, letters> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string temporary = temporary_name("n");
    for (std::size_t at = 0; at < letters; ++at) seen[at].insert(temporary[3 + at]);
  }
  for (const std::set<char>& of_one : seen) EXPECT_GT(of_one.size(), 4U);
}

// How many bytes a letter that begins so has; 0: none begins so.
std::size_t letter(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte < 0x80) return 1;
  if ((byte & 0xe0) == 0xc0) return 2;
  if ((byte & 0xf0) == 0xe0) return 3;
  return (byte & 0xf8) == 0xf0 ? 4 : 0;
}
bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = letter(text.front());
    if (bytes == 0 || bytes > text.size()) return false;
    for (std::size_t i = 1; i < bytes; ++i) {
      if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return false;
    }
    text.remove_prefix(bytes);
  }
  return true;
}

TEST(TemporaryName, IsNotCutInsideALetter) {
  ASSERT_FALSE(is_utf8("\xe2\x82"));
  constexpr std::array<std::string_view, 4> letters{"a", "\xc3\xa9", "\xe2\x82\xac",
                                                    "\xf0\x9f\x98\x80"};
  for (const std::string_view one : letters) {
    for (std::size_t before = 0; before < 4; ++before) {
      std::string name(before, 'x');
      while (name.size() + one.size() <= 255) name += one;
      const std::string temporary = temporary_name(name);
      EXPECT_TRUE(is_utf8(temporary)) << temporary;
      EXPECT_GT(temporary.size() + one.size(), kMost) << temporary;
      EXPECT_LE(temporary.size(), kMost) << temporary;
    }
  }
  EXPECT_EQ(temporary_name(std::string(255, '\x80')).size(), kMost);  // no UTF-8 at all
}

}}  // namespace handoff
