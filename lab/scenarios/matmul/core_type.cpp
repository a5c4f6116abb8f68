// SPDX-License-Identifier: MIT
#include "scenarios/matmul/core_type.hpp"

#include <algorithm>
#include <cstdlib>

#include "harness/statistics.hpp"

namespace handoff::lab::matmul {
namespace {

constexpr const char* variable = "OPENBLAS_CORETYPE";

double speed(const Row& row) {
  return row.status == RowStatus::ok ? typical(metric_of(row)) : 0;
}

}  // namespace

std::vector<Variable> core_type_variables(Scenario& scenario,
                                          const std::vector<Contender>& contenders, Bench& bench) {
  if (std::getenv(variable) != nullptr) return {};
  const auto single =
      std::find_if(contenders.begin(), contenders.end(), [&](const Contender& contender) {
        return contender.scenario == scenario.name() && contender.name == "seed.single";
      });
  if (single == contenders.end()) return {};
  const Cell cell =
      scenario.cells({{"n", {"512"}}, {"kernel", {"tile"}}, {"width", {"1"}}}).front();
  std::vector<Row> rows;
  for (const char* core : {"SkylakeX", "Cooperlake", "Haswell", "Zen"}) {
    Row& row = rows.emplace_back();
    row.contender = *single;
    row.cell = cell;
    row.problem = scenario.problem(cell);
    row.variables = {{variable, core}};
  }
  // A type that this processor cannot run crashes; one that OpenBLAS does not have is refused.
  Progress progress(1);
  bench.quick().measure(rows, progress);
  const auto best = std::max_element(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return speed(a) < speed(b);
  });
  if (best->status != RowStatus::ok) return {};
  return best->variables;
}

}  // namespace handoff::lab::matmul
