// SPDX-License-Identifier: MIT
#include "report/cost_model.hpp"
#include "harness/statistics.hpp"

namespace handoff::lab {
namespace {

using Square = std::array<Terms, kTerms>;

// The sums of a least-squares problem whose errors are relative: each cell is divided by its time,
// and each column by its length.
struct NormalEquations {
  Square products{};
  Terms right{};
  Terms scale{};     // a column's length; 0: no cell has any of it
  double right_square = 0;
};

// A cell that the fit sees, and how much it counts.
struct FittedCell {
  Terms amounts;
  double ns;
  double weight = 1;
};
using FittedCells = std::vector<FittedCell>;

NormalEquations equations_of(const FittedCells& cells) {
  NormalEquations sums;
  for (const FittedCell& cell : cells) {
    for (std::size_t i = 0; i < kTerms; ++i) {
      const double amount = cell.amounts[i] / cell.ns;
      sums.scale[i] += cell.weight * amount * amount;
    }
  }
  for (double& scale : sums.scale) scale = std::sqrt(scale);
  for (const FittedCell& cell : cells) {
    Terms column{};
    for (std::size_t i = 0; i < kTerms; ++i) {
      if (sums.scale[i] > 0) column[i] = cell.amounts[i] / cell.ns / sums.scale[i];
    }
    for (std::size_t i = 0; i < kTerms; ++i) {
      for (std::size_t j = 0; j < kTerms; ++j) {
        sums.products[i][j] += cell.weight * column[i] * column[j];
      }
      sums.right[i] += cell.weight * column[i];
    }
    sums.right_square += cell.weight;
  }
  return sums;
}

// Solves for the chosen terms by a Cholesky decomposition. False: two terms are not independent.
bool solve(const NormalEquations& sums, const std::vector<std::size_t>& chosen, Terms& solution) {
  constexpr double least_pivot = 1e-9;
  const std::size_t n = chosen.size();
  Square factor{};
  Terms half{};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = sums.products[chosen[i]][chosen[j]];
      for (std::size_t k = 0; k < j; ++k) sum -= factor[i][k] * factor[j][k];
      if (i != j) {
        factor[i][j] = sum / factor[j][j];
        continue;
      }
      if (sum < least_pivot) return false;
      factor[i][i] = std::sqrt(sum);
    }
    half[i] = sums.right[chosen[i]];
    for (std::size_t k = 0; k < i; ++k) half[i] -= factor[i][k] * half[k];
    half[i] /= factor[i][i];
  }
  solution = {};
  for (std::size_t i = n; i-- > 0;) {
    double value = half[i];
    for (std::size_t k = i + 1; k < n; ++k) value -= factor[k][i] * solution[chosen[k]];
    solution[chosen[i]] = value / factor[i][i];
  }
  return true;
}

struct Solution {
  Terms costs{};
  double error = 0;  // the sum of the squares
};

// The best solution without a cost below 0 has some of the terms, and is the plain one of these:
// with so few terms all choices are tried. Of two that are as good, the one with fewer terms.
Solution solution_of(const NormalEquations& sums) {
  constexpr double as_good = 1e-12;
  std::vector<std::size_t> present;
  for (std::size_t i = 0; i < kTerms; ++i) {
    if (sums.scale[i] > 0) present.push_back(i);
  }
  Terms best{};
  double least = sums.right_square;
  int terms_of_best = 0;
  for (unsigned choice = 1; choice < 1U << present.size(); ++choice) {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < present.size(); ++i) {
      if ((choice >> i & 1U) != 0) chosen.push_back(present[i]);
    }
    Terms solution{};
    if (!solve(sums, chosen, solution)) continue;
    double error = sums.right_square;
    bool is_allowed = true;
    for (const std::size_t i : chosen) {
      error -= solution[i] * sums.right[i];
      is_allowed = is_allowed && solution[i] >= 0;
    }
    const int terms = std::popcount(choice);
    const double gain = terms > terms_of_best ? as_good * sums.right_square : 0;
    if (!is_allowed || error >= least - gain) continue;
    least = error;
    best = solution;
    terms_of_best = terms;
  }
  for (std::size_t i = 0; i < kTerms; ++i) {
    if (sums.scale[i] > 0) best[i] /= sums.scale[i];
  }
  return {best, least};
}

// A wake-up costs no more than what the others would have done before it came.
double late_ns_of(const Terms& amounts, double late_ns) {
  return std::min(amounts[static_cast<std::size_t>(Term::late)],
                  amounts[static_cast<std::size_t>(Term::wake)] * late_ns);
}

// What disturbed a cell must not bend the model: those that are far off count less.
Solution robust_solution_of(FittedCells& cells) {
  constexpr int rounds = 3;
  constexpr double near_enough = 0.02;
  Solution solution;
  for (int round = 0; round < rounds; ++round) {
    solution = solution_of(equations_of(cells));
    std::vector<double> errors;
    for (const FittedCell& cell : cells) {
      double ns = 0;
      for (std::size_t i = 0; i < kTerms; ++i) ns += solution.costs[i] * cell.amounts[i];
      errors.push_back(std::abs(ns / cell.ns - 1));
    }
    if (errors.empty()) return solution;
    const double usual = std::max(near_enough, 1.5 * median(errors));
    for (std::size_t i = 0; i < cells.size(); ++i) {
      cells[i].weight = errors[i] > usual ? usual / errors[i] : 1;
    }
  }
  return solution;
}

// Trying finds how late a thread that had to be woken is.
void fit(const std::vector<const CostCell*>& cells, CostModel& model) {
  constexpr double least_ns = 5e3;
  constexpr double most_ns = 2e6;
  const bool has_late = std::ranges::any_of(cells, [](const CostCell* cell) {
    return cell->amounts[static_cast<std::size_t>(Term::late)] > 0;
  });
  double least_error = HUGE_VAL;
  for (double late_ns = least_ns; late_ns < most_ns; late_ns *= 2) {
    FittedCells fitted;
    for (const CostCell* cell : cells) {
      fitted.push_back({cell->amounts, cell->ns});
      const double late = late_ns_of(cell->amounts, late_ns);
      fitted.back().amounts[static_cast<std::size_t>(Term::late)] = late;
    }
    const Solution solution = robust_solution_of(fitted);
    if (solution.error < least_error) {
      least_error = solution.error;
      model.costs = solution.costs;
      model.late_ns = late_ns;
    }
    if (!has_late) break;
  }
}

// Evenly over all of them.
std::vector<const CostCell*> at_most(std::vector<const CostCell*> cells, std::size_t most) {
  if (cells.size() <= most) return cells;
  std::vector<const CostCell*> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(cells[i * cells.size() / most]);
  return some;
}

// How far a model is off cells that it has not seen, as the logarithm of the ratio.
std::vector<double> errors_of_held_out(const std::vector<const CostCell*>& cells) {
  constexpr std::size_t parts = 3;
  std::vector<double> errors;
  for (std::size_t part = 0; part < parts; ++part) {
    std::vector<const CostCell*> seen;
    std::vector<const CostCell*> unseen;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      (i % parts == part ? unseen : seen).push_back(cells[i]);
    }
    CostModel model;
    fit(seen, model);
    for (const CostCell* cell : unseen) {
      constexpr double most = 10;  // a model may say nothing at all
      errors.push_back(std::min(most, std::abs(std::log(model.ns_of(cell->amounts) / cell->ns))));
    }
  }
  return errors;
}

RelativeRange range_of(const std::vector<const CostCell*>& cells, bool is_held_out) {
  RelativeRange range;
  if (!is_held_out) {
    for (const CostCell* cell : cells) {
      range.low = std::fmin(range.low, cell->range.low);
      range.high = std::fmax(range.high, cell->range.high);
    }
    return range;
  }
  range.high = std::exp(median(errors_of_held_out(cells)));
  range.low = 1 / range.high;
  return range;
}

}  // namespace

std::string name_of(Term term) {
  static const std::array<const char*, kTerms> names{
      "item", "fixed", "wake", "nested", "byte", "contention", "work", "memory", "late"};
  return names[static_cast<std::size_t>(term)];
}

double CostModel::ns_of(const Terms& amounts) const {
  constexpr auto late = static_cast<std::size_t>(Term::late);
  double ns = costs[late] * late_ns_of(amounts, late_ns);
  for (std::size_t i = 0; i < kTerms; ++i) ns += i == late ? 0 : costs[i] * amounts[i];
  return ns;
}

CostModel fitted_to(const std::vector<CostCell>& cells) {
  std::vector<const CostCell*> all;
  for (const CostCell& cell : cells) all.push_back(&cell);
  all = at_most(std::move(all), kMostFitted);
  CostModel model;
  fit(all, model);
  for (std::size_t i = 0; i < kTerms; ++i) {
    model.is_told[i] =
        std::ranges::any_of(all, [i](const CostCell* cell) { return cell->amounts[i] > 0; });
  }
  model.fitted = all.size();
  model.range = range_of(all, model.is_held_out());
  return model;
}

}  // namespace handoff::lab
