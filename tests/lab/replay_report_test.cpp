// SPDX-License-Identifier: MIT
// What a replay's report tells: the way to take, or why that cannot be told.
#include "report/replay_report.hpp"
#include "texts.hpp"

namespace handoff::lab { namespace {

Row row(const std::string& contender, double ms, double low_ms, double high_ms) {
  Row row;
  row.contender = contender;
  row.median = ms;
  row.low = low_ms;
  row.high = high_ms;
  return row;
}

Row disturbed(Row row) {
  row.status = RowStatus::noisy;
  row.reason = "other processes took 0.90 CPUs";
  return row;
}

ReplayReport report_of(const std::vector<Row>& rows) {
  replay::Trace trace;
  trace.form = "CSV";
  for (int i = 0; i < 8; ++i) trace.pieces.push_back({0, 20'000'000, 2});
  const replay::LoadChoice choice{2, false, {}};
  return replay_report("t.csv", trace, replay::Load(trace, choice), choice, rows);
}

std::string first_line(const ReplayReport& report) {
  const std::string text = replay_text(report);
  return text.substr(0, text.find('\n'));
}

const Row kPool = row("own.pool.stealing", 81, 80.5, 82);

TEST(ReplayReport, TakesTheFastestWhereAllMakespansAreKnown) {
  const ReplayReport report = report_of({row("peer.onetbb", 90, 89, 91), kPool});
  EXPECT_TRUE(report.is_told());
  EXPECT_EQ(first_line(report), "take own.pool.stealing: 81.0 ms, 1.01x of the bound");
  EXPECT_TRUE(says(to_json_text(report), "\"take\": \"own.pool.stealing\""));
}

TEST(ReplayReport, TellsNothingWhereTheBestOneMayTakeAnotherTimeNextTime) {
  const ReplayReport report = report_of({row("peer.onetbb", 90, 89, 91),  //
                                         row("own.pool.stealing", 81, 79, 84)});
  EXPECT_FALSE(report.is_told());
  EXPECT_EQ(first_line(report),
            "too noisy to tell: own.pool.stealing is noisy: its makespan is 79.0 ms .. 84.0 ms");
  EXPECT_TRUE(says(to_json_text(report), "\"take\": null"));
}

TEST(ReplayReport, AMakespanBelowTheBoundIsNoFigure) {
  const ReplayReport report = report_of({row("peer.onetbb", 70, 69, 71), kPool});
  EXPECT_EQ(first_line(report), "take own.pool.stealing: 81.0 ms, 1.01x of the bound");
  EXPECT_TRUE(says(replay_text(report), "peer.onetbb is impossible: shorter than the bound"));
  EXPECT_EQ(first_line(report_of({row("peer.onetbb", 79, 78, 81), row("own.group", 90, 89, 91)})),
            "take peer.onetbb: 79.0 ms, 0.99x of the bound");  // within its range
}

TEST(ReplayReport, TakesTheSteadyOneOfThoseThatAreEquallyFast) {
  const ReplayReport report = report_of({row("peer.onetbb", 80.5, 80, 85), kPool});
  EXPECT_TRUE(report.is_told());
  EXPECT_EQ(report.ways.front().name, "own.pool.stealing");
  EXPECT_EQ(report.why,
            "2 ways are within 2 % of the shortest makespan; of the steady ones it has the "
            "shortest");
}

TEST(ReplayReport, TellsNothingWhereAnotherOneMayBeFaster) {
  EXPECT_FALSE(report_of({row("peer.onetbb", 90, 70, 95), kPool}).is_told());
  const ReplayReport slower = report_of({row("peer.onetbb", 90, 85, 95), kPool});
  EXPECT_TRUE(slower.is_told());
  EXPECT_EQ(slower.ways.back().state, "noisy: its makespan is 85.0 ms .. 95.0 ms");
}

TEST(ReplayReport, TellsNothingBesideOtherPrograms) {
  const ReplayReport report =
      report_of({disturbed(row("peer.onetbb", 90, 89, 91)), disturbed(kPool)});
  EXPECT_EQ(first_line(report),
            "too noisy to tell: own.pool.stealing is noisy: other processes took 0.90 CPUs");
}

TEST(ReplayReport, ASingleLaunchIsTakenForWhatItIs) {
  EXPECT_TRUE(report_of({row("own.pool.stealing", 81, NAN, NAN)}).is_told());
}

TEST(ReplayReport, WithoutFiguresThereIsNothingToTake) {
  const ReplayReport report = report_of({});
  EXPECT_FALSE(report.is_told());
  EXPECT_EQ(first_line(report), "no way has figures");
}

}}  // namespace handoff::lab
