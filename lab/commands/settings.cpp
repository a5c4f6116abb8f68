// SPDX-License-Identifier: MIT
// The values of --set, which several commands take.
#include "commands/session.hpp"

#include <fmt/format.h>

#include "harness/user_error.hpp"

namespace handoff::lab {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

Scenario::Values values_of(const std::vector<std::string>& settings) {
  Scenario::Values values;
  for (const std::string& setting : settings) {
    const auto equals = setting.find('=');
    if (equals == std::string::npos) {
      throw UserError(fmt::format("--set takes PARAMETER=VALUE,..., not '{}'", setting));
    }
    values.emplace_back(setting.substr(0, equals), split(setting.substr(equals + 1), ','));
  }
  return values;
}

}  // namespace handoff::lab
