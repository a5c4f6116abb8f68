// SPDX-License-Identifier: MIT
#include "harness/foreign_json.hpp"

#include <nlohmann/json.hpp>

#include "harness/plain_text.hpp"

namespace handoff::lab {
namespace {

using nlohmann::json;

constexpr std::size_t most_nested = 64;

// Brackets outside of texts. It knows no other rule of JSON: the parser does.
bool is_nested_too_deeply(std::string_view text) {
  std::size_t depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_text = !in_text;
    if (in_text) {
      i += c == '\\' ? 1 : 0;  // what follows ends no text
    } else if (c == '[' || c == '{') {
      if (++depth > most_nested) return true;
    } else if (c == ']' || c == '}') {
      depth -= depth > 0 ? 1 : 0;
    }
  }
  return false;
}

// The parser's message without its number.
std::string in_one_line(const json::exception& error) {
  std::string text = in_ascii(error.what());
  text.erase(0, text.find("] ") + 2);
  constexpr std::size_t longest = 200;
  return text.size() > longest ? text.substr(0, longest) + "..." : text;
}

}  // namespace

json parse_foreign(std::string_view text) {
  if (is_nested_too_deeply(text)) {
    throw ForeignJsonError(
        fmt::format("lists and objects in it lie more than {} deep", most_nested));
  }
  try {
    return json::parse(text);
  } catch (const json::exception& error) {
    throw ForeignJsonError("no JSON, or cut off: " + in_one_line(error));
  }
}

std::string where_not_plain(const json& value, const std::string& name) {
  if (value.is_string()) return is_plain(value.get_ref<const std::string&>()) ? "" : name;
  if (!value.is_structured()) return {};
  std::size_t place = 0;
  for (const auto& [key, element] : value.items()) {
    if (value.is_object() && !is_plain(key)) return name.empty() ? "it" : name;
    const std::string inner = value.is_array() ? fmt::format("{}[{}]", name, place++)
                              : name.empty()   ? key
                                               : fmt::format("{}.{}", name, key);
    if (std::string where = where_not_plain(element, inner); !where.empty()) return where;
  }
  return {};
}

json made_plain(const json& value) {
  if (value.is_string()) return plain(value.get_ref<const std::string&>());
  if (!value.is_structured()) return value;
  json made = value.is_array() ? json::array() : json::object();
  for (const auto& [key, element] : value.items()) {
    if (value.is_array()) {
      made.push_back(made_plain(element));
    } else {
      made[plain(key)] = made_plain(element);
    }
  }
  return made;
}

}  // namespace handoff::lab
