// SPDX-License-Identifier: MIT
#include "harness/plain_text.hpp"

namespace handoff::lab {
namespace {

// What a character of so many bytes encodes at least: less has a shorter form.
constexpr std::uint32_t least_of_bytes[] = {0, 0, 0x80, 0x800, 0x10000};

std::size_t bytes_from(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xC0 || first > 0xF7) return 0;
  return first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

bool acts(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

// Bytes of the plain character that `text` begins with; 0: it begins with none.
std::size_t plain_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t bytes = bytes_from(first);
  if (bytes == 0 || bytes > text.size()) return 0;
  std::uint32_t code = bytes == 1 ? first : first & (0x7FU >> bytes);
  for (const char c : text.substr(1, bytes - 1)) {
    const auto next = static_cast<unsigned char>(c);
    if ((next & 0xC0U) != 0x80) return 0;
    code = code << 6U | (next & 0x3FU);
  }
  const bool is_none =
      code < least_of_bytes[bytes] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF);
  return is_none || acts(code) ? 0 : bytes;
}

}  // namespace

std::string plain(std::string_view text) {
  std::string made;
  while (!text.empty()) {
    const std::size_t bytes = plain_character(text);
    made += bytes == 0 ? std::string_view("?") : text.substr(0, bytes);
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return made;
}

std::string in_ascii(std::string_view text) {
  std::string made(text);
  std::ranges::replace_if(made, [](char c) { return c < ' ' || c > '~'; }, '?');
  return made;
}

std::optional<std::uint64_t> whole_number_in(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && rest == end ? std::optional(number) : std::nullopt;
}

bool is_plain(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = plain_character(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

}  // namespace handoff::lab
