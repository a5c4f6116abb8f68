// SPDX-License-Identifier: MIT
// How numbers of a trace are said.
#pragma once

#include "report/view.hpp"

namespace handoff::lab::tracing {

inline std::string time_text(std::uint64_t ns) { return short_duration(static_cast<double>(ns)); }

inline std::string grouped(std::uint64_t number) {
  std::string digits = fmt::format("{}", number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

}  // namespace handoff::lab::tracing
