// SPDX-License-Identifier: MIT
// Text of others, which a terminal or a page is to show and not to obey; and numbers in it.
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab {

// Whether it is UTF-8 without control characters (U+0000 to U+001F, U+007F to U+009F) and without
// what ends a line or turns its direction around (U+2028 to U+202E, U+2066 to U+2069).
[[nodiscard]] bool is_plain(std::string_view text);

// The same with a question mark for each byte of the rest.
[[nodiscard]] std::string plain(std::string_view text);

// With a question mark for each byte that is no printable character of ASCII.
[[nodiscard]] std::string in_ascii(std::string_view text);

// A whole number from 0 on, where the text is one and nothing else.
[[nodiscard]] std::optional<std::uint64_t> whole_number_in(std::string_view text);

}  // namespace handoff::lab
