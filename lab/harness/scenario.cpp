// SPDX-License-Identifier: MIT
#include "harness/scenario.hpp"
#include "harness/plain_text.hpp"
#include "harness/user_error.hpp"

namespace handoff::lab {

void Parameter::require_allowed(const std::string& value) const {
  if (!words.empty()) {
    if (contains(words, value)) return;
    throw UserError("parameter '{}' does not take '{}'; {}", name, value,
                    nearest_name(value, words));
  }
  const auto number = whole_number_in(value);
  if (number && *number >= low && *number <= high) return;
  throw UserError("parameter '{}' takes whole numbers from {} to {}, not '{}'", name, low, high,
                  value);
}

bool Parameter::belongs_to(const std::string& metric) const {
  return metrics.empty() || contains(metrics, metric);
}

bool Parameter::is_number() const {
  return std::ranges::all_of(words, [](const std::string& word) {
    return word.find_first_not_of("0123456789") == std::string::npos;
  });
}

void Cell::set(const std::string& name, const std::string& value) {
  const auto found =
      std::ranges::find_if(values_, [&](const auto& entry) { return entry.first == name; });
  if (found == values_.end()) {
    values_.emplace_back(name, value);
  } else {
    found->second = value;
  }
}

const std::string* Cell::find(std::string_view name) const {
  if (name == "metric") return &metric_;
  for (const auto& [key, value] : values_) {
    if (key == name) return &value;
  }
  return nullptr;
}

const std::string& Cell::at(std::string_view name) const {
  if (const std::string* value = find(name)) return *value;
  throw std::invalid_argument(fmt::format("the cell has no parameter '{}'", name));
}

std::uint64_t Cell::number(std::string_view name) const { return std::stoull(at(name)); }

std::uint64_t Cell::number(std::string_view name, std::uint64_t otherwise) const {
  return find(name) == nullptr ? otherwise : number(name);
}

std::string Cell::text() const {
  std::string text;
  for (const auto& [name, value] : values_) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  }
  return text;
}

const Metric& Scenario::metric(const std::string& wanted) const {
  const auto found = std::ranges::find(metrics(), wanted, &Metric::name);
  if (found != metrics().end()) return *found;
  throw UserError("scenario '{}' has no metric '{}'; {}", name(), wanted,
                  nearest_name(wanted, metrics(), &Metric::name));
}

const Parameter& Scenario::parameter(const std::string& wanted) const {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters()) {
    if (parameter.name == wanted) return parameter;
    if (names.empty() || names.back() != parameter.name) names.push_back(parameter.name);
  }
  throw UserError("scenario '{}' has no parameter '{}'; {}", name(), wanted,
                  nearest_name(wanted, names));
}

std::vector<Cell> Scenario::cells(const Values& values,
                                  const std::vector<std::string>& wanted) const {
  std::vector<std::string> chosen = wanted;
  if (chosen.empty()) {
    for (const Metric& metric : metrics()) chosen.push_back(metric.name);
  }
  for (const auto& [name, allowed] : values) {
    const Parameter& set = parameter(name);
    for (const std::string& value : allowed) set.require_allowed(value);
    if (std::ranges::none_of(chosen,
                             [&](const std::string& metric) { return belongs(name, metric); })) {
      throw UserError("parameter '{}' belongs to {}, not to {}", name, fmt::join(set.metrics, ", "),
                      fmt::join(chosen, ", "));
    }
  }
  std::vector<Cell> all;
  for (const std::string& name : chosen) {
    const std::vector<Cell> cells = cells_of(metric(name), values);
    all.insert(all.end(), cells.begin(), cells.end());
  }
  return all;
}

bool Scenario::belongs(const std::string& parameter, const std::string& metric) const {
  return std::ranges::any_of(parameters(), [&](const Parameter& other) {
    return other.name == parameter && other.belongs_to(metric);
  });
}

std::vector<Cell> Scenario::cells_of(const Metric& metric, const Values& values) const {
  std::vector<Cell> cells{Cell(metric.name)};
  for (const Parameter& parameter : parameters()) {
    if (!parameter.belongs_to(metric.name)) continue;
    const auto given =
        std::ranges::find_if(values, [&](const auto& v) { return v.first == parameter.name; });
    if (given == values.end() && parameter.defaults.empty()) continue;
    std::vector<Cell> longer;
    for (const Cell& cell : cells) {
      for (const auto& value : given == values.end() ? parameter.defaults : given->second) {
        longer.push_back(cell);
        longer.back().set(parameter.name, value);
      }
    }
    cells = std::move(longer);
  }
  return cells;
}

}  // namespace handoff::lab
