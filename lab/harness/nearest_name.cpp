// SPDX-License-Identifier: MIT
// Edit distance (insertion, removal, replacement) over a handful of names.
#include "harness/user_error.hpp"

namespace handoff::lab {
namespace {

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_name(std::string_view wanted, std::span<const std::string> names) {
  const auto nearest = std::ranges::min_element(names, [&](const auto& a, const auto& b) {
    return distance(wanted, a) < distance(wanted, b);
  });
  const std::size_t near_enough = std::max<std::size_t>(2, wanted.size() / 3);
  if (nearest != names.end() && distance(wanted, *nearest) <= near_enough) {
    return fmt::format("did you mean '{}'?", *nearest);
  }
  return fmt::format("known: {}", fmt::join(names, ", "));
}

}  // namespace handoff::lab
