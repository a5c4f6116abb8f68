// SPDX-License-Identifier: MIT
#include "escaped_text.hpp"

#include <cstddef>
#include <handoff/core/internal/plain_text.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

[[gnu::cold]] std::string escaped(std::string_view name) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  while (!name.empty()) {
    const std::size_t plain = name.front() == '\\' ? 0 : plain_character(name);
    if (plain != 0) {
      text += name.substr(0, plain);
      name.remove_prefix(plain);
      continue;
    }
    const auto byte = static_cast<unsigned char>(name.front());
    text += "\\x";
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
    name.remove_prefix(1);
  }
  return text;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
