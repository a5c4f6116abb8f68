// SPDX-License-Identifier: MIT
//
// Names in lines of text: nothing of them acts on a terminal, whatever their bytes are, and no two
// look the same.
#include <handoff/core/internal/plain_text.hpp>
#include <handoff/process/detail/kernel_signature.hpp>

#include "core/internal/escaped_text.hpp"
#include "support/test.hpp"

namespace escaped_text_test { namespace {

using namespace handoff;
using namespace std::string_view_literals;
using detail::escaped;

std::string encoded(std::uint32_t code) {
  std::string text;
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xc0U | code >> 6U);
    add(0x80U | (code & 0x3fU));
  } else if (code < 0x10000) {
    add(0xe0U | code >> 12U);
    add(0x80U | (code >> 6U & 0x3fU));
    add(0x80U | (code & 0x3fU));
  } else {
    add(0xf0U | code >> 18U);
    add(0x80U | (code >> 12U & 0x3fU));
    add(0x80U | (code >> 6U & 0x3fU));
    add(0x80U | (code & 0x3fU));
  }
  return text;
}

bool may_stand(std::uint32_t code) {
  if (code == '\\' || code > 0x10ffff) return false;
  const std::pair<std::uint32_t, std::uint32_t> not_these[] = {
      {0, 0x1f}, {0x7f, 0x9f}, {0x2028, 0x202e}, {0x2066, 0x2069}, {0xd800, 0xdfff}};
  for (const auto& [first, last] : not_these) {
    if (code >= first && code <= last) return false;
  }
  return true;
}

TEST(EscapedText, EachCodePointStandsOrIsEscaped) {
  for (std::uint32_t code = 0; code < 0x110400; ++code) {
    const std::string one = encoded(code);
    const std::string text = escaped(one);
    ASSERT_EQ(text == one, may_stand(code)) << code;
    if (text != one) {
      ASSERT_EQ(text.size(), 4 * one.size()) << code;
    }
  }
}

TEST(EscapedText, BrokenUtf8IsEscapedByteByByte) {
  const std::pair<std::string_view, std::string_view> texts[] = {
      {"a\x9b"
       "b"sv,
       "a\\x9bb"},        // a byte that begins a sequence for some terminals
      {"\xc3"sv, "\\xc3"},               // cut off
      {"\xc3(", "\\xc3("},               // not continued
      {"\xc0\x9b"sv, "\\xc0\\x9b"},      // two bytes for what has one
      {"\xe0\x80\x9b", "\\xe0\\x80\\x9b"},
      {"\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80"},
      {"\xe4\xbd\xa0\xe5\xa5\xbd", "\xe4\xbd\xa0\xe5\xa5\xbd"},  // letters stay
      {"\\x1b", "\\x5cx1b"}};            // a name that looks like an escaped one
  for (const auto& [name, text] : texts) EXPECT_EQ(escaped(name), text);
}

// The canary: what the test calls dangerous would be seen.
bool has_danger(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) return true;
    const bool is_c1 = byte >= 0x80 && byte <= 0x9f;
    const bool goes_on = i > 0 && static_cast<unsigned char>(text[i - 1]) >= 0x80 &&
                         static_cast<unsigned char>(text[i - 1]) != 0xc2;
    if (is_c1 && !goes_on) return true;
  }
  return false;
}

TEST(EscapedText, OfRandomBytesNothingDangerousIsLeft) {
  ASSERT_TRUE(has_danger("\x1b"));
  ASSERT_TRUE(has_danger("\xc2\x9b"));
  ASSERT_TRUE(has_danger("\x9b"));
  auto random = test::random();
  for (std::size_t round = 0; round < test::rounds(10'000); ++round) {
    std::string bytes(random() % 20, '\0');
    for (char& each : bytes) each = static_cast<char>(random());
    ASSERT_FALSE(has_danger(escaped(bytes))) << escaped(bytes);
  }
}

TEST(EscapedText, AKernelsNameHasNothingThatActs) {
  EXPECT_TRUE(detail::is_kernel_name("blur"));
  EXPECT_TRUE(detail::is_kernel_name("\xe6\xa8\xa1\xe7\xb3\x8a"));
  for (const std::string_view name :
       {""sv, "a b"sv, "a\x1b"sv, "a\xc2\x9b"sv, "a\x9b"sv, "a\xe2\x80\xae"sv, "a\0"sv}) {
    EXPECT_FALSE(detail::is_kernel_name(name)) << escaped(name);
  }
}

}}  // namespace escaped_text_test
