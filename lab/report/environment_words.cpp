// SPDX-License-Identifier: MIT
// The facts of an environment in words: all of them, also those that only others know.
#include <nlohmann/json.hpp>

#include "report/html_parts.hpp"

namespace handoff::lab {
namespace {

using nlohmann::json;

std::string in_words(std::string key) {
  constexpr std::string_view unit = "_bytes";
  if (key.ends_with(unit)) key.resize(key.size() - unit.size());
  std::ranges::replace(key, '_', ' ');
  return key == "bytes" ? "size" : key;
}

// `name` is that of the value: those that count bytes are shown in KiB, MiB, GiB.
std::string as_text(const json& value, const std::string& name = "") {
  if (value.is_string()) return value;
  if (value.is_null() || (value.is_structured() && value.empty())) return "none";
  if (value.is_number() && name.ends_with("bytes")) return size_text(value);
  if (value.is_number_float()) return fmt::format("{:.4g}", value.get<double>());
  std::string text;
  if (value.is_array()) {
    for (const json& element : value) {
      const std::string inner = as_text(element);
      text += (text.empty() ? "" : ", ") + (element.is_object() ? '(' + inner + ')' : inner);
    }
    return text;
  }
  if (!value.is_object()) return value.dump();
  for (const auto& [key, element] : value.items()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", in_words(key), as_text(element, key));
  }
  return text;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> facts_in_words(const Environment& environment) {
  std::vector<std::pair<std::string, std::string>> facts;
  for (const auto& [name, value] : environment.facts().items()) {
    facts.emplace_back(in_words(name), as_text(value, name));
  }
  return facts;
}

}  // namespace handoff::lab
