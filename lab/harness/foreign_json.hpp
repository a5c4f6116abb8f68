// SPDX-License-Identifier: MIT
// JSON that others wrote: all that the lab parses comes by here.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/coordinator.hpp"

namespace handoff::lab {

// Why it is not taken: the end of a sentence, on one line of plain text.
class ForeignJsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws ForeignJsonError for what is no JSON, and for lists and objects that are nested deeper
// than any that the lab writes: whatever looks at JSON calls itself for what is in it.
[[nodiscard]] nlohmann::json parse_foreign(std::string_view text);

// Where there is a key or a text that would act on a terminal, as in rows[0].parameters; "it" where
// that is a key of `value` itself, without a name; empty: nowhere.
[[nodiscard]] std::string where_not_plain(const nlohmann::json& value, const std::string& name);

// The same with such keys and texts made plain.
[[nodiscard]] nlohmann::json made_plain(const nlohmann::json& value);

}  // namespace handoff::lab
