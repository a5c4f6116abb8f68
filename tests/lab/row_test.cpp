// SPDX-License-Identifier: MIT
// A row: what is made of a measurement, and that a result file keeps all of it.
#include "report/row.hpp"
#include "report/json.hpp"
#include "report/result.hpp"
#include "scenarios/rules.hpp"
#include "texts.hpp"

namespace {

using namespace handoff::lab;

struct Mail : Scenario {
  Mail()
      : Scenario({.name = "mail",
                  .summary = "letters",
                  .metrics = {{"delay", "us", false, "from hand to hand"}},
                  .parameters = {{"pace", "letters a second", {"100"}, {}, 1, UINT64_MAX},
                                 {"way", "how it goes", {"foot"}, {"foot", "horse"}}},
                  .problem = [](const Cell&) { return problem_by<std::uint64_t>({}); }}) {}
};

Reading reading(double wall_ns) {
  Reading reading;
  reading.wall_ns = wall_ns;
  reading.cpu_ns = 2 * wall_ns;
  reading.operations = 2;
  reading.items = 10;
  reading.executed = {3, 1};
  reading.figures = {{"p50", wall_ns / 4}};
  reading.curves = {{"efficiency", {{64, 0.5}, {128, wall_ns / 1000}}}};
  reading.latencies = {{100, 9}, {200, 1}};
  reading.usage = {
      {"submitter_on_cpu_ns", 50}, {"others_off_cpu_ns", 5}, {"voluntary_switches", 20}};
  reading.counts = {{"page_faults", 0.25}};
  return reading;
}

Measurement measured() {
  Mail mail;
  Cell cell("delay");
  cell.set("pace", "18446744073709551615");
  cell.set("way", "horse");
  Measurement measurement{
      {"mail", "own.pigeon", {}, {}, {}, "per producer"}, cell, mail.problem(cell)};
  measurement.launches = {{reading(100), reading(300), reading(200)}, {reading(400)}};
  measurement.phases = {{7, 8, 4096}, {9, 8, 8192}};
  measurement.layouts = {{1, 16}, {0, 32}};
  return measurement;
}

TEST(FinishedRow, HasAllStatisticsOfItsMeasurement) {
  const Row row = finished_row(Mail(), measured(), 7);
  EXPECT_EQ(row.scenario, "mail");
  EXPECT_EQ(row.contender, "own.pigeon");
  EXPECT_EQ(row.kind, "own");
  EXPECT_EQ(row.order, "per producer");
  EXPECT_EQ(row.metric, "delay");
  EXPECT_EQ(row.unit, "us");
  EXPECT_FALSE(row.higher_is_better);
  EXPECT_EQ(row.launches, (Launches{{10, 30, 20}, {40}}));
  EXPECT_EQ(row.median, 30);  // of 20 and 40
  const Interval bounds = interval(resample(row.launches, 7));
  EXPECT_EQ(row.low, bounds.low);
  EXPECT_EQ(row.high, bounds.high);
  EXPECT_EQ(row.wall_ns_per_op, 150);
  EXPECT_EQ(row.cpu_ns_per_op, 300);
  EXPECT_EQ(row.items_per_op, 5);
  EXPECT_EQ(row.per_item_of(row.wall_ns_per_op), 30);
  EXPECT_EQ(row.share_elsewhere, 0.25);
  EXPECT_EQ(row.shares, (std::vector<double>{0.75, 0.25}));
  EXPECT_EQ(row.figures, (Figures{{"p50", 62.5}}));  // of all four bursts
  EXPECT_EQ(row.curves.at("efficiency"), (Points{{64, 0.5}, {128, 0.4}}));  // of the last one
  ASSERT_TRUE(row.latency.has_value());
  EXPECT_EQ(row.latency->count, 40U);
  EXPECT_EQ(row.latency->percentiles.front(), std::pair(0.0, 100.0));
  EXPECT_EQ(row.latency->percentiles.back(), std::pair(100.0, 200.0));
  EXPECT_EQ(row.start_ns, 8);
  EXPECT_EQ(row.stop_ns, 8);
  EXPECT_EQ(row.peak_memory_bytes, 6144);
  EXPECT_EQ(row.per_item.submitter.on_cpu_ns, 5);
  EXPECT_EQ(row.per_item.others.off_cpu_ns, 0.5);
  EXPECT_EQ(row.per_item.voluntary_switches, 2);
  EXPECT_TRUE(std::isnan(row.per_item.involuntary_switches));
  EXPECT_EQ(figure_named(row.per_item.counters, "page_faults"), 0.25);
  EXPECT_TRUE(std::isnan(figure_named(row.per_item.counters, "cycles")));
}

TEST(FinishedRow, OfASingleLaunchHasNoInterval) {
  Measurement single = measured();
  single.launches.resize(1);
  const Row row = finished_row(Mail(), single, 7);
  EXPECT_TRUE(row.is_measured());
  EXPECT_TRUE(std::isnan(row.low));
  EXPECT_TRUE(std::isnan(row.high));
}

TEST(FinishedRow, KnowsNothingOfWhatWasNotMeasured) {
  Measurement dropped = measured();
  dropped.launches.clear();
  dropped.phases.clear();
  dropped.status = RowStatus::wrong;
  dropped.reason = "it lost a letter";
  const Row row = finished_row(Mail(), dropped, 7);
  EXPECT_FALSE(row.is_measured());
  EXPECT_EQ(row.state(), "wrong: it lost a letter");
  for (const double figure : {row.low, row.high, row.wall_ns_per_op, row.items_per_op,
                              row.share_elsewhere, row.start_ns, row.peak_memory_bytes}) {
    EXPECT_TRUE(std::isnan(figure));
  }
  EXPECT_TRUE(row.figures.empty());
  EXPECT_FALSE(row.latency.has_value());
}

TEST(ParameterValues, AreNumbersWithTheirDigitsOrTexts) {
  const ParameterValues values = finished_row(Mail(), measured(), 7).parameters;
  EXPECT_EQ(text_of(values), "pace=18446744073709551615 way=horse");
  EXPECT_EQ(value_named(values, "pace").whole(), UINT64_MAX);
  EXPECT_EQ(value_named(values, "pace").number(), 0x1p64);
  EXPECT_FALSE(value_named(values, "way").whole());
  EXPECT_TRUE(std::isnan(value_named(values, "way").number()));
  EXPECT_EQ(value_named(values, "colour"), ParameterValue{});
  EXPECT_FALSE((ParameterValue{"0.5", true}.whole()));
  EXPECT_EQ((ParameterValue{"0.5", true}.number()), 0.5);
  EXPECT_NE((ParameterValue{"5", true}), ParameterValue{"5"});
}

Result read(const std::string& text) { return read_result(TextFile(text).path()); }

Result result_of_two_rows() {
  Result result;
  result.environment = Environment::here({"handoff", "run"}, 7, {{"THREADS", "2"}});
  result.environment.add_watch(0.01, Speed{1.5, 3});
  result.rows = {finished_row(Mail(), measured(), 7), finished_row(Mail(), measured(), 8)};
  result.rows[0].block = 0;
  result.rows[1].order = "";  // no queue
  result.rows[1].status = RowStatus::failed;
  result.rows[1].reason = "it \"hung\"";
  result.rows[1].launches.clear();
  result.rows[1].median = NAN;
  result.articles = {{"mail",
                      "Letters (1840)",
                      "delay",
                      result.rows[0].parameters,
                      1e-3,
                      NAN,
                      {{"penny post", 5, "", "own.pigeon"}}}};
  return result;
}

TEST(ResultFiles, KeepAllThatRowsSay) {
  const Result written = result_of_two_rows();
  EXPECT_EQ(to_json_text(read(to_json_text(written))), to_json_text(written));
}

TEST(ResultFiles, AreCarriedAsTheyWere) {
  Result file = read(
      R"({"schema": 1, "mine": [1], "rows": [{"scenario": "mail", "contender": "own.a",
          "kind": "own", "parameters": {"n": 1e3}, "metric": "m", "unit": "u", "better": "lower",
          "status": "ok", "reason": "", "median": 2, "launches": [[2]], "samples": [2],
          "per_item": 3, "phases": {"start_ns": null, "mine": 4}, "mine": {"x": 5}}]})");
  EXPECT_EQ(file.rows.front().parameters.at("n").text, "1000.0");
  EXPECT_TRUE(std::isnan(file.rows.front().start_ns));
  EXPECT_TRUE(std::isnan(file.rows.front().per_item.submitter.on_cpu_ns));
  EXPECT_FALSE(file.rows.front().block.has_value());
  EXPECT_EQ(file.environment.floor(), 0);
  EXPECT_EQ(file.environment.machine(), "unknown processor");
  std::string all =
      R"([{"environment":{},"mine":[1],"rows":[{"better":"lower","contender":"own.a","kind":"own",)"
      R"("launches":[[2]],"median":2,"metric":"m","mine":{"x":5},"parameters":{"n":1000.0},)"
      R"("per_item":3,"phases":{"mine":4,"start_ns":null},"reason":"","samples":[2],)"
      R"("scenario":"mail","status":"ok","unit":"u"}],"schema":1}])";
  EXPECT_EQ(to_json_line({&file}, true), all);
  for (const char* bursts : {R"("launches":[[2]],)", R"("samples":[2],)"}) {
    all.erase(all.find(bursts), std::string(bursts).size());
  }
  EXPECT_EQ(to_json_line({&file}, false), all);
}

TEST(ResultFiles, TellTheMachine) {
  const Result here = read(to_json_text(result_of_two_rows()));
  EXPECT_TRUE(here.environment.is_same_machine(Environment::here({}, 1, {})));
  EXPECT_EQ(here.environment.machine(), Environment::here({}, 1, {}).machine());
  EXPECT_EQ(here.environment.floor(), 0.01);
  EXPECT_GE(here.environment.width(), 1);
  EXPECT_EQ(here.environment.load_average().size(), 3U);
  EXPECT_FALSE(here.environment.is_same_machine(Environment()));
}

}  // namespace
