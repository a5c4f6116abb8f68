// SPDX-License-Identifier: MIT
#include "scenarios/matmul/libraries.hpp"
#include "harness/statistics.hpp"

namespace handoff::lab::matmul {
namespace {

constexpr const char* core_type = "OPENBLAS_CORETYPE";
constexpr const char* tile_library = "HANDOFF_TILE";  // see kernels.cpp

double speed(const Measurement& measurement) {
  return measurement.status == RowStatus::ok ? typical(metric_of(measurement)) : 0;
}

// The one of the choices with which `row` is the fastest; nothing where none runs.
std::vector<Variable> fastest(const Measurement& measurement,
                              const std::vector<std::vector<Variable>>& choices, Bench& bench) {
  std::vector<Measurement> measurements;
  for (const auto& variables : choices) {
    measurements.push_back(measurement);
    measurements.back().variables = variables;
  }
  // What this processor cannot run crashes; what was not built or does not exist is refused.
  Progress progress(1);
  bench.quick().measure(measurements, progress);
  const auto best = std::max_element(
      measurements.begin(), measurements.end(),
      [](const Measurement& a, const Measurement& b) { return speed(a) < speed(b); });
  return speed(*best) > 0 ? best->variables : std::vector<Variable>{};
}

}  // namespace

std::vector<Variable> library_variables(Scenario& scenario,
                                        const std::vector<Contender>& contenders, Bench& bench) {
  const auto single =
      std::find_if(contenders.begin(), contenders.end(), [&](const Contender& contender) {
        return contender.scenario == scenario.name() && contender.name == "seed.single";
      });
  if (single == contenders.end()) return {};
  const Cell cell =
      scenario.cells({{"n", {"512"}}, {"kernel", {"tile"}}, {"width", {"1"}}}).front();
  const Measurement measurement{*single, cell, scenario.problem(cell)};

  std::vector<Variable> best;
  if (std::getenv(core_type) == nullptr) {
    std::vector<std::vector<Variable>> choices;
    for (const char* core : {"SkylakeX", "Cooperlake", "Haswell", "Zen"}) {
      choices.push_back({{core_type, core}});
    }
    best = fastest(measurement, choices, bench);
  }
  if (std::getenv(tile_library) == nullptr) {
    std::vector<std::vector<Variable>> choices(2, best);
    choices[0].push_back({tile_library, "openblas"});
    choices[1].push_back({tile_library, "onednn"});
    best = fastest(measurement, choices, bench);
  }
  return best;
}

}  // namespace handoff::lab::matmul
