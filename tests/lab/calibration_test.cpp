// SPDX-License-Identifier: MIT
// Seeds that behave as their article says, and some that do not.
#include "harness/bursts.hpp"
#include "scenarios/registry.hpp"
#include "scenarios/rules.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff::lab;

Measurement row(const std::string& contender, double ns, RowStatus status = RowStatus::ok) {
  Reading reading;
  reading.wall_ns = ns;
  reading.operations = reading.items = 1;
  return {Contender{"work", contender, {}, {}, {}},
          Cell("cost"),
          problem_by<std::uint64_t>({}),
          {},
          status,
          {},
          {{reading, reading}, {reading}}};
}

std::vector<Measurement> calibrated(std::vector<Measurement> rows, double known) {
  calibrate({{"seed.pool", "peer.pool", Cell("cost"), known}}, rows);
  return rows;
}

RowStatus status_at(double ratio, double known) {
  return calibrated({row("peer.pool", 50), row("seed.pool", 50 * ratio)}, known)[1].status;
}

TEST(Calibration, AcceptsATwentiethUpAndDownAndNoMoreThanAFifth) {
  EXPECT_EQ(status_at(3, 3), RowStatus::ok);
  EXPECT_EQ(status_at(3.15, 3), RowStatus::ok);
  EXPECT_EQ(status_at(3.59, 3), RowStatus::ok);
  EXPECT_EQ(status_at(2.51, 3), RowStatus::ok);
  EXPECT_EQ(status_at(3.61, 3), RowStatus::uncalibrated);
  EXPECT_EQ(status_at(2.49, 3), RowStatus::uncalibrated);
}

TEST(Calibration, SaysWhatItFoundAndLeavesTheOthersAlone) {
  const auto rows = calibrated({row("peer.pool", 50), row("seed.pool", 50), row("own.pool", 1)}, 3);
  EXPECT_EQ(rows[1].reason, "its cost is 1 times that of peer.pool, known is 3");
  EXPECT_FALSE(rows[1].launches.empty());
  for (const std::size_t other : {0U, 2U}) {
    EXPECT_EQ(rows[other].status, RowStatus::ok);
    EXPECT_EQ(rows[other].reason, "");
  }
}

TEST(Calibration, NeedsBothInThatCellAndMeasured) {
  EXPECT_EQ(calibrated({row("seed.pool", 50)}, 3)[0].status, RowStatus::ok);
  const auto noisy = calibrated({row("peer.pool", 50, RowStatus::noisy), row("seed.pool", 50)}, 3);
  EXPECT_EQ(noisy[1].status, RowStatus::ok);
  std::vector<Measurement> elsewhere{row("peer.pool", 50), row("seed.pool", 50)};
  elsewhere[1].cell.set("count", "7");
  EXPECT_EQ(calibrated(elsewhere, 3)[1].status, RowStatus::ok);
}

// One of a cell that no row has would calibrate nothing.
TEST(Calibration, IsOfACellOfItsScenario) {
  std::size_t all = 0;
  for (const auto& scenario : all_scenarios()) {
    for (const Calibration& known : scenario->calibrations()) {
      ++all;
      Cell whole(known.cell.metric());
      for (const Parameter& parameter : scenario->parameters()) {
        if (!parameter.belongs_to(whole.metric()) || whole.find(parameter.name) != nullptr)
          continue;
        const std::string* const value = known.cell.find(parameter.name);
        if (value == nullptr && parameter.defaults.empty()) continue;  // only where it is set
        ASSERT_NE(value, nullptr) << known.seed << " without " << parameter.name;
        EXPECT_NO_THROW(parameter.require_allowed(*value)) << known.seed;
        whole.set(parameter.name, *value);
      }
      EXPECT_TRUE(whole == known.cell) << known.seed << ": " << known.cell.text();
    }
  }
  EXPECT_GE(all, 3U);
}

}  // namespace
