// SPDX-License-Identifier: MIT
//
// Which characters of a name may stand in a line of text: a terminal shows them, and obeys none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Control characters, and what ends a line or turns its direction around.
constexpr bool acts_on_a_terminal(std::uint32_t code) noexcept {
  return code < 0x20 || (code >= 0x7f && code <= 0x9f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

// Bytes of the character of UTF-8 that `text`, which is not empty, begins with. 0: it is none, or
// it acts on a terminal.
constexpr std::size_t plain_character(std::string_view text) noexcept {
  // By number of bytes, what a character encodes at least: less has a shorter form.
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t bytes = first < 0x80                   ? 1
                            : first < 0xc0 || first > 0xf7 ? 0
                            : first < 0xe0                 ? 2
                            : first < 0xf0                 ? 3
                                                           : 4;
  if (bytes == 0 || bytes > text.size()) return 0;
  std::uint32_t code = bytes == 1 ? first : first & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0U) != 0x80) return 0;
    code = code << 6U | (next & 0x3fU);
  }
  const bool is_none = code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff);
  return is_none || acts_on_a_terminal(code) ? 0 : bytes;
}

// Whether it has plain characters only.
constexpr bool is_plain(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t bytes = plain_character(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
