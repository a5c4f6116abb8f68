// SPDX-License-Identifier: MIT
//
// The checksum of files: it stays the same from version to version, and every byte counts.
#include <handoff/core/internal/byte_hash.hpp>

#include "support/test.hpp"

namespace handoff::test { namespace {

std::uint64_t hash_of(std::string_view text) {
  return detail::ByteHash().add(std::as_bytes(std::span(text.data(), text.size()))).value();
}

// The rest of less than 8 bytes is FNV-1a, whose authors publish these.
TEST(ByteHash, OfShortTextsIsWhatItsAuthorsSay) {
  EXPECT_EQ(hash_of(""), 0xcbf29ce484222325U);
  EXPECT_EQ(hash_of("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(hash_of("foobar"), 0x85944171f73967e8U);
}

// Files that were written by earlier versions are still whole.
TEST(ByteHash, OfLongTextsStaysWhatItWas) {
  if constexpr (std::endian::native == std::endian::little) {
    EXPECT_EQ(hash_of("01234567"), 0xe209d735f247d454U);
    EXPECT_EQ(hash_of("0123456789abcdefXY"), 0xfe706ca403d18bf5U);
  }
}

// One flip is always seen: each step maps different values to different ones.
TEST(ByteHash, EachBitOfEachByteCounts) {
  std::array<std::byte, 27> bytes{};
  const std::uint64_t unharmed = detail::ByteHash().add(bytes).value();
  for (std::byte& byte : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      byte ^= std::byte{1} << bit;
      EXPECT_NE(detail::ByteHash().add(bytes).value(), unharmed);
      byte ^= std::byte{1} << bit;
    }
  }
}

TEST(ByteHash, PiecesOfWholeWordsAreOneText) {
  const std::string_view text = "0123456789abcdefXY";
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  EXPECT_EQ(detail::ByteHash().add(bytes.first(8)).add(bytes.subspan(8)).value(), hash_of(text));
}

}}  // namespace handoff::test
