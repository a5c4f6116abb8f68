// SPDX-License-Identifier: MIT
// The model behind advice: it finds the costs that made the cells, and its range says when none
// did.
#include "report/cost_model.hpp"
#include "support/test.hpp"

namespace handoff::lab { namespace {

// Cells of a way that costs so much, each measured with an error of up to `noise`.
std::vector<CostCell> cells_that_cost(const Terms& costs, std::size_t count, double noise = 0) {
  std::mt19937_64 random(1);
  const auto share = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::vector<CostCell> cells(count);
  for (CostCell& cell : cells) {
    const double items = std::exp(share() * 10);
    cell[Term::fixed] = 1 + std::floor(share() * 4);
    cell[Term::item] = items;
    cell[Term::byte] = items * std::exp(share() * 6);
    cell[Term::contention] = items * std::floor(share() * 3);
    cell[Term::work] = items * std::exp(share() * 8);
    for (std::size_t i = 0; i < kTerms; ++i) cell.ns += costs[i] * cell.amounts[i];
    cell.ns *= 1 + noise * (2 * share() - 1);
  }
  return cells;
}

constexpr Terms kCosts{30, 900, 0, 0, 0.5, 12, 1.05, 0, 0};

TEST(CostModel, FindsTheCostsThatMadeTheCells) {
  const CostModel model = fitted_to(cells_that_cost(kCosts, 30));
  for (std::size_t i = 0; i < kTerms; ++i) {
    EXPECT_NEAR(model.costs[i], kCosts[i], 1e-6 * kCosts[i]) << name_of(static_cast<Term>(i));
  }
  EXPECT_EQ(model.fitted, 30U);
  EXPECT_LT(model.range.high, 1 + 1e-6);
  EXPECT_GT(model.range.low, 1 - 1e-6);
}

TEST(CostModel, FindsThemAmongErrorsOfTheMeasuring) {
  const CostModel model = fitted_to(cells_that_cost(kCosts, 60, 0.05));
  EXPECT_EQ(model.fitted, kMostFitted);
  EXPECT_NEAR(model[Term::work], 1.05, 0.05);
  EXPECT_LT(model.range.high, 1.05);
}

TEST(CostModel, SeesNoMoreCellsThanItMay) {
  EXPECT_EQ(fitted_to(cells_that_cost(kCosts, 500)).fitted, kMostFitted);
}

TEST(CostModel, NoCostIsBelowNothing) {
  std::vector<CostCell> cells(6);
  for (std::size_t i = 0; i < cells.size(); ++i) {  // more items, less time
    cells[i][Term::fixed] = 1;
    cells[i][Term::item] = static_cast<double>(i + 1);
    cells[i].ns = 100 - 10 * static_cast<double>(i);
  }
  const CostModel model = fitted_to(cells);
  EXPECT_EQ(model[Term::item], 0);
  EXPECT_GT(model[Term::fixed], 0);
}

TEST(CostModel, WhatCannotBeToldApartIsOneOfThem) {
  std::vector<CostCell> cells(4);
  for (std::size_t i = 0; i < cells.size(); ++i) {  // all of 64 bytes
    cells[i][Term::item] = static_cast<double>(i + 1);
    cells[i][Term::byte] = 64 * static_cast<double>(i + 1);
    cells[i].ns = 20 * static_cast<double>(i + 1);
  }
  const CostModel model = fitted_to(cells);
  EXPECT_NEAR(model.ns_of(cells[2].amounts), 60, 1e-6);
  EXPECT_GT(model[Term::item], 0);
  EXPECT_EQ(model[Term::byte], 0);
}

// The others come 80 us late, if there is so much to do that it matters.
TEST(CostModel, FindsHowLateThreadsWakeUp) {
  std::vector<CostCell> cells(30);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double alone = 1000 * std::pow(1.3, static_cast<double>(i));
    cells[i][Term::wake] = 1;
    cells[i][Term::work] = alone;
    cells[i][Term::late] = alone;
    cells[i].ns = alone + std::min(alone, 80'000.0);
  }
  const CostModel model = fitted_to(cells);
  EXPECT_NEAR(model.late_ns, 80'000, 1);
  EXPECT_NEAR(model[Term::late], 1, 1e-3);
  EXPECT_LT(model.range.high, 1 + 1e-3);
}

// The canary of robustness: a few cells that something disturbed do not bend the model.
TEST(CostModel, AFewDisturbedCellsDoNotBendIt) {
  std::vector<CostCell> cells = cells_that_cost(kCosts, 60);
  for (std::size_t i = 0; i < cells.size(); i += 12) cells[i].ns *= 2;
  const CostModel model = fitted_to(cells);
  EXPECT_NEAR(model[Term::work], 1.05, 0.05);
  EXPECT_LT(model.range.high, 1.05);
}

TEST(CostModel, FewCellsAreAllFittedAndHaveTheirOwnRange) {
  std::vector<CostCell> cells = cells_that_cost(kCosts, 5);
  EXPECT_EQ(fitted_to(cells).fitted, 5U);
  EXPECT_TRUE(std::isnan(fitted_to(cells).range.high));  // of single launches
  cells[1].range = {0.9, 1.2};
  cells[3].range = {0.8, 1.1};
  const RelativeRange range = fitted_to(cells).range;
  EXPECT_EQ(range.low, 0.8);
  EXPECT_EQ(range.high, 1.2);
}

TEST(CostModel, OfNoCellItSaysNothing) {
  const CostModel model = fitted_to({});
  EXPECT_EQ(model.fitted, 0U);
  EXPECT_EQ(model.ns_of(kCosts), 0);
}

// The canary: times that no sum of such parts makes.
TEST(CostModel, HasAWideRangeWhereNoSuchModelFits) {
  std::vector<CostCell> cells = cells_that_cost(kCosts, 30);
  std::mt19937_64 random(7);
  for (CostCell& cell : cells) {
    cell.ns = std::exp(static_cast<double>(random() >> 11) * 0x1p-53 * 20);
  }
  const CostModel model = fitted_to(cells);
  EXPECT_GT(model.range.high, 1.5);
}

}}  // namespace handoff::lab
