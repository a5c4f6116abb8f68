// SPDX-License-Identifier: MIT
#include "report/row.hpp"
#include "harness/plain_text.hpp"

namespace handoff::lab {

double ParameterValue::number() const {
  double number = NAN;
  if (is_number) std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::optional<std::uint64_t> ParameterValue::whole() const {
  return is_number ? whole_number_in(text) : std::nullopt;
}

std::string Row::state() const { return fmt::format("{}: {}", name_of(status), reason); }

std::string text_of(const ParameterValues& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value.text);
  }
  return text;
}

ParameterValue value_named(const ParameterValues& parameters, const std::string& name) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? ParameterValue{} : found->second;
}

double figure_named(const Figures& figures, const std::string& name) {
  const auto found = figures.find(name);
  return found == figures.end() ? NAN : found->second;
}

}  // namespace handoff::lab
