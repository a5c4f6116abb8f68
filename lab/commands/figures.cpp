// SPDX-License-Identifier: MIT
// Judges figures that must hold by rows.
#include "commands/figures.hpp"

namespace handoff::lab {
namespace {

bool is_in(const Row& row, const Cell& cell) {
  return row.metric == cell.metric() && std::ranges::all_of(cell, [&](const auto& entry) {
           return value_named(row.parameters, entry.first).text == entry.second;
         });
}

// Thrown by `measured`: why a figure has no value.
struct Unmeasured {
  Verdict verdict;  // open or unmeasured
  std::string reason;
};

// All rows of a contender in a cell, of which none may be without figures. What was measured on a
// disturbed machine does not count; where there is nothing else, nothing can be told.
std::vector<const Row*> measured(const std::vector<Row>& rows, const Scenario& scenario,
                                 const std::string& contender, const Cell& cell) {
  std::vector<const Row*> found;
  std::string noise;
  for (const Row& row : rows) {
    if (row.scenario != scenario.name() || row.contender != contender || !is_in(row, cell)) {
      continue;
    }
    if (row.status == RowStatus::ok) {
      found.push_back(&row);
      continue;
    }
    const std::string reason = fmt::format("{}: {}", contender, row.state());
    if (row.status != RowStatus::noisy) throw Unmeasured{Verdict::unmeasured, reason};
    noise = reason;
  }
  if (found.empty() && !noise.empty()) throw Unmeasured{Verdict::open, noise};
  if (found.empty()) {
    throw Unmeasured{Verdict::unmeasured, fmt::format("no row of {}: {} with {}", contender,
                                                      cell.metric(), cell.text())};
  }
  return found;
}

struct RowsOfBoth {
  Launches own;
  Launches other;
};

// What both sides measured. Rows of one block ran in the same rounds, so they are paired; only
// where the two sides never met in a block is all that each has taken.
RowsOfBoth pair_up(const std::vector<const Row*>& own, const std::vector<const Row*>& other) {
  const auto met_in = [](const Row& row, const std::vector<const Row*>& others) {
    return std::ranges::any_of(
        others, [&](const Row* candidate) { return row.block && candidate->block == row.block; });
  };
  const bool met = std::ranges::any_of(own, [&](const Row* row) { return met_in(*row, other); });
  const auto launches_of = [&](const std::vector<const Row*>& rows,
                               const std::vector<const Row*>& others) {
    Launches all;
    for (const Row* row : rows) {
      if (met && !met_in(*row, others)) continue;
      all.insert(all.end(), row->launches.begin(), row->launches.end());
    }
    return all;
  };
  return {launches_of(own, other), launches_of(other, own)};
}

bool all_above_0(const Launches& launches) {
  return std::ranges::all_of(launches, [](const auto& bursts) {
    return std::ranges::all_of(bursts, [](double value) { return value > 0; });
  });
}

// Burst by burst, what is measured.
Launches values_of(const Figure& figure, const Comparison& comparison,
                   const std::vector<Row>& rows) {
  Launches all;
  for (const Row* row : measured(rows, *figure.scenario, comparison.contender, comparison.cell)) {
    all.insert(all.end(), row->launches.begin(), row->launches.end());
  }
  return all;
}

// Burst by burst, the ratio as the figure states it.
Launches ratios_of(const Figure& figure, const Comparison& comparison,
                   const std::vector<Row>& rows) {
  const Scenario& scenario = *figure.scenario;
  const auto own = measured(rows, scenario, comparison.contender, comparison.cell);
  std::optional<RowsOfBoth> hardest;
  for (const std::string& name : comparison.against) {
    RowsOfBoth pair = pair_up(own, measured(rows, scenario, name, comparison.against_cell));
    const bool harder = !hardest || (typical(pair.other) > typical(hardest->other)) ==
                                        figure.metric->higher_is_better;
    if (harder) hardest = std::move(pair);
  }
  // More of a metric that is better when higher is less time for the same work.
  const bool inverse = figure.in_time && figure.metric->higher_is_better;
  for (const Launches& side : {hardest->own, hardest->other}) {
    if (!all_above_0(side)) throw Unmeasured{Verdict::unmeasured, "values of 0 have no ratio"};
  }
  return inverse ? ratio(hardest->other, hardest->own) : ratio(hardest->own, hardest->other);
}

// Values of 0 have no ratios to agree on.
Agreement agreed_on(const Launches& figures, std::uint64_t seed) {
  if (all_above_0(figures)) return agreement(figures, seed);
  return {typical(figures), resample(figures, seed)};
}

Judged verdict_on(const Figure& figure, std::string what, double value,
                  const std::vector<double>& draws) {
  const auto within = [&](double ratio) {
    return figure.at_most ? ratio <= figure.bound : ratio >= figure.bound;
  };
  Judged judged{Verdict::open, std::move(what), value, interval(draws), {}};
  if (within(judged.bounds.low) && within(judged.bounds.high)) judged.verdict = Verdict::holds;
  if (!within(judged.bounds.low) && !within(judged.bounds.high)) {
    judged.verdict = Verdict::falls_short;
  }
  return judged;
}

}  // namespace

std::string Comparison::text() const {
  std::string text = contender;
  if (!cell.text().empty()) text += " with " + cell.text();
  if (against.empty()) return text;
  const bool alone = against.size() == 1;
  if (!alone || against.front() != contender) {
    text += fmt::format(" against {}{}", alone ? "" : "the better of ", fmt::join(against, ", "));
  }
  if (!(cell == against_cell)) text += fmt::format(" against {}", against_cell.text());
  return text;
}

std::vector<Judged> judge(const Figure& figure, const std::vector<Row>& rows, std::uint64_t seed) {
  std::vector<Judged> verdicts;
  std::vector<std::vector<double>> values;  // of one draw each, for their mean
  std::vector<std::vector<double>> draws;
  for (const Comparison& comparison : figure.comparisons) {
    try {
      const bool alone = comparison.against.empty();
      const Launches figures =
          alone ? values_of(figure, comparison, rows) : ratios_of(figure, comparison, rows);
      Agreement agreed = agreed_on(figures, seed + draws.size());
      values.push_back({agreed.value});
      draws.push_back(std::move(agreed.draws));
      verdicts.push_back(
          verdict_on(figure, comparison.text(), values.back().front(), draws.back()));
    } catch (const Unmeasured& unmeasured) {
      verdicts.push_back({unmeasured.verdict, comparison.text(), 0, {}, unmeasured.reason});
      if (figure.geometric_mean) return {verdicts.back()};
    }
  }
  if (!figure.geometric_mean) return verdicts;
  const std::string what = fmt::format("geometric mean of {} cells", draws.size());
  return {verdict_on(figure, what, geometric_mean(values).front(), geometric_mean(draws))};
}

int passes_of(const Figure& figure, const Comparison& comparison, const std::vector<Row>& rows) {
  const auto blocks_with = [&](const std::string& contender, const Cell& cell) {
    std::set<std::int64_t> blocks;
    for (const Row& row : rows) {
      const bool is_one = row.block && row.scenario == figure.scenario->name() &&
                          row.contender == contender && is_in(row, cell);
      if (is_one) blocks.insert(*row.block);
    }
    return blocks;
  };
  std::set<std::int64_t> met = blocks_with(comparison.contender, comparison.cell);
  for (const std::string& name : comparison.against) {
    const auto others = blocks_with(name, comparison.against_cell);
    std::erase_if(met, [&](std::int64_t block) { return !others.contains(block); });
  }
  return static_cast<int>(met.size());
}

}  // namespace handoff::lab
