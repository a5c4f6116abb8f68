// SPDX-License-Identifier: MIT
#include "report/standing.hpp"

#include <algorithm>

#include "report/result.hpp"

namespace handoff::lab {
namespace {

const Row* first_of(const CellView& cell, bool own) {
  const auto found = std::find_if(cell.rows.begin(), cell.rows.end(), [&](const Row* row) {
    return row->is_measured() && !row->is_limit() && (row->kind == "own") == own;
  });
  return found == cell.rows.end() ? nullptr : *found;
}

std::string most_frequent(const std::vector<Standing>& standings, std::string Standing::* name) {
  std::map<std::string, int> counts;
  for (const Standing& standing : standings) ++counts[standing.*name];
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

}  // namespace

std::optional<Standing> standing_in(const CellView& cell, const MachineView& machine) {
  const Row* own = first_of(cell, true);
  const Row* other = first_of(cell, false);
  if (own == nullptr || other == nullptr) return {};
  auto judged = judge_rows(*own, *other, machine.results.front()->environment.floor());
  if (!judged) return {};
  if (!cell.higher_is_better) {
    judged->ratio = 1 / judged->ratio;
    judged->bounds = {1 / judged->bounds.high, 1 / judged->bounds.low};
  }
  return Standing{own->contender, other->contender, *judged};
}

Standings together(const std::vector<Standing>& standings) {
  std::vector<double> ratios;
  Standings all;
  for (const Standing& standing : standings) {
    ratios.push_back(standing.judged.ratio);
    ++all.counts[standing.judged.change];
  }
  const auto [lowest, highest] = std::minmax_element(ratios.begin(), ratios.end());
  all.bounds = {*lowest, *highest};
  all.ratio = median(ratios);
  all.own = most_frequent(standings, &Standing::own);
  all.other = most_frequent(standings, &Standing::other);
  return all;
}

}  // namespace handoff::lab
