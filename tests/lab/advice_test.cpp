// SPDX-License-Identifier: MIT
// Advice: no time that cannot be, no other library's way above an equal one of this library, and
// curves that are followed. Random results and questions first; what checks them is checked too.
#include "report/advice.hpp"
#include "report/result.hpp"
#include "support/test.hpp"

namespace advice_test { namespace {

using namespace handoff::lab;

constexpr double kRoom = 1 + 1e-9;  // for rounding

Row row_of(const std::string& scenario, const std::string& contender, const std::string& metric,
           double median, const std::string& unit = "ns") {
  Row row;
  row.scenario = scenario;
  row.contender = contender;
  row.kind = contender.substr(0, contender.find('.'));
  row.metric = metric;
  row.unit = unit;
  row.median = median;
  row.parameters["width"] = ParameterValue::of(2);
  return row;
}

Row curve_of(const std::string& contender, const Points& efficiency) {
  Row row = row_of("grain", contender, "metg50", 100);
  row.parameters["unit"] = ParameterValue{"task"};
  row.curves["efficiency"] = efficiency;
  return row;
}

// Of a way that adds so many ns to each piece of either of two threads.
Points plain_curve(double overhead_ns) {
  Points points;
  for (double size = 1; size < 1e5; size *= 2)
    points.emplace_back(size, size / (size + overhead_ns));
  return points;
}

Advice advice_by(std::vector<Row> rows, const Question& question) {
  mark_impossible(rows);
  Result result;
  result.rows = std::move(rows);
  return advice_on(question, {&result});
}

Question tasks(std::uint64_t count, double task_ns) {
  Question question;
  question.count = count;
  question.task_ns = task_ns;
  return question;
}

bool overlap(const Way& a, const Way& b) {
  return std::fmin(a.low_ns, a.ns) <= std::fmax(b.high_ns, b.ns) &&
         std::fmin(b.low_ns, b.ns) <= std::fmax(a.high_ns, a.ns);
}

// What a stranger would not believe of it, or nothing.
std::string fault_of(const Advice& advice, const Question& question) {
  const double least = std::max(
      static_cast<double>(question.count) * question.task_ns / static_cast<double>(advice.width),
      question.largest * question.task_ns);
  for (auto way = advice.ways.begin(); way != advice.ways.end(); ++way) {
    for (const double ns : {way->ns, way->low_ns}) {
      if (ns * kRoom < least) return way->name + " does more than the CPUs can";
    }
    if (way->low_ns > way->ns || way->ns > way->high_ns) return way->name + " is not in its range";
    for (auto after = way; after != advice.ways.end(); ++after) {
      const bool is_own = after->name.starts_with("own.");
      if (way->name.starts_with("peer.") && is_own && overlap(*way, *after)) {
        return way->name + " stands above " + after->name;
      }
    }
  }
  const std::string text = advice_text(question, advice, false);
  const Way& first = advice.ways.front();
  const bool is_first = text.starts_with("take  " + first.name + ", " + time_text(first)) &&
                        text.find(first.code) < text.find('\n');
  if (!is_first) return "the answer is not first";
  for (const std::string& name : advice.equal) {
    const std::size_t said = text.find("no measured difference to " + first.name);
    if (text.find(name) > said) return name + " is not called equal";
  }
  return text.find("nan") == std::string::npos ? "" : "a figure is no number";
}

class Machine {
 public:
  explicit Machine(std::uint64_t stream) : random_(handoff::test::random(stream)) {}

  double between(double low, double high) {  // by the logarithm
    return low * std::pow(high / low, static_cast<double>(random_() >> 11) * 0x1p-53);
  }
  bool one_in(std::uint64_t n) { return random_() % n == 0; }
  std::uint64_t up_to(double most) { return static_cast<std::uint64_t>(between(1, most + 1)); }

  // Half of them are steps and noise that no model fits; some say what cannot be.
  Points curve() {
    Points points = plain_curve(between(5, 5000));
    const double noise = one_in(2) ? between(1.001, 2) : 1;
    const double factor = one_in(4) ? between(1, 2) : 1;
    for (auto& [size, efficiency] : points) efficiency *= factor * between(1 / noise, noise);
    return points;
  }

  void spread(Row& row) {
    if (one_in(3)) return;  // a single launch
    row.low = row.median / between(1, 1.5);
    row.high = row.median * between(1, 1.5);
  }

  std::vector<Row> rows() {
    std::vector<Row> rows;
    for (const char* name : {"own.pool.stealing", "own.pool.fixed", "own.thread_team",
                             "peer.onetbb", "peer.openmp", "peer.mutex_pool"}) {
      if (!one_in(6)) rows.push_back(curve_of(name, curve()));
      if (!one_in(3)) rows.push_back(row_of("tasks", name, "idle_cpu", between(0.01, 100), "%"));
      if (!one_in(3)) rows.push_back(row_of("tasks", name, "ping", between(1, 3000), "us"));
      if (!one_in(3)) rows.push_back(row_of("grain", name, "loop_1us", between(1, 1e5)));
      if (!one_in(3)) {
        rows.push_back(row_of("forkjoin", name, "ns_per_fork", between(1, 1e4)));
        rows.back().parameters["problem"] = ParameterValue{"fib"};
      }
      if (!one_in(3)) {
        rows.push_back(row_of("tasks", name, "fire_and_forget", between(1, 1e4)));
        rows.back().parameters["work"] = ParameterValue::of(0);
        rows.back().parameters["state"] = ParameterValue{"hot"};
        rows.back().parameters["count"] = ParameterValue::of(1000);
      }
      if (one_in(2)) add_loads(name, rows);
    }
    for (Row& row : rows) {
      row.peak_memory_bytes = one_in(4) ? NAN : between(1e6, 1e8);
      if (std::isnan(row.low)) spread(row);
      if (row.metric == "metg50" && row.contender != "peer.openmp" && one_in(2)) {
        row.parameters["unit"] = ParameterValue{"index"};
      }
    }
    return rows;
  }

  Question question() {
    Question question = tasks(up_to(1e6), between(1, 1e9));
    question.by_index = one_in(3);
    question.nested = !question.by_index && one_in(4);
    question.by_memory = one_in(5);
    question.for_latency = one_in(5);
    if (one_in(4)) question.waves = up_to(static_cast<double>(question.count));
    if (one_in(4)) question.largest = between(1, static_cast<double>(question.count));
    question.in_order = one_in(5);
    if (one_in(5)) question.idle_percent = 0.1;
    question.width = 2;
    return question;
  }

 private:
  void add_loads(const std::string& name, std::vector<Row>& rows) {
    const double speed = between(0.3, 3);
    for (std::uint64_t draw = 0; draw < 14; ++draw) {
      const double serial = 1e4 * std::pow(2, static_cast<double>(draw));
      for (const std::string& way : {std::string("own.serial"), name}) {
        rows.push_back(row_of("loads", way, "time",
                              way == name ? serial / speed * between(0.7, 1.4) : serial));
        Row& row = rows.back();
        row.low = row.high = row.median;
        row.parameters["draw"] = ParameterValue::of(draw);
        row.items_per_op = 1000;
        row.figures = {{"by_index", 0},
                       {"waves", static_cast<double>(1 + draw % 3)},
                       {"fan_out", static_cast<double>(draw % 2)},
                       {"by_memory", 0}};
      }
    }
  }

  std::mt19937_64 random_;
};

TEST(Advice, SaysNothingThatCannotBeOfRandomResults) {
  std::size_t answers = 0;
  std::size_t peers_first = 0;
  std::size_t equals = 0;
  const std::size_t rounds = handoff::test::rounds(1000);
  for (std::size_t i = 0; i < rounds; ++i) {
    Machine machine(i);
    const Question question = machine.question();
    const Advice advice = advice_by(machine.rows(), question);
    if (!advice.missing.empty() || advice.ways.empty()) continue;
    ++answers;
    peers_first += advice.ways.front().name.starts_with("peer.") ? 1 : 0;
    equals += advice.equal.empty() ? 0 : 1;
    ASSERT_EQ(fault_of(advice, question), "") << "round " << i << '\n'
                                              << advice_text(question, advice, false);
  }
  EXPECT_GT(answers, rounds / 2);
  EXPECT_GT(peers_first, rounds / 50);  // there was something to get wrong
  EXPECT_GT(equals, rounds / 10);
}

// The canary: what must not be said is found.
TEST(Advice, WhatCannotBeIsFound) {
  const Question question = tasks(1000, 1000);
  const Advice good = advice_by(
      {curve_of("own.pool.fixed", plain_curve(20)), curve_of("peer.onetbb", plain_curve(21))},
      question);
  EXPECT_EQ(fault_of(good, question), "");
  ASSERT_EQ(good.equal, std::vector<std::string>{"peer.onetbb"});
  Advice bad = good;
  bad.ways[1].ns = 499e3;
  EXPECT_EQ(fault_of(bad, question), "peer.onetbb does more than the CPUs can");
  bad = good;
  bad.ways[0].low_ns = 499e3;
  EXPECT_EQ(fault_of(bad, question), "own.pool.fixed does more than the CPUs can");
  bad = good;
  bad.ways[0].high_ns = 501e3;
  EXPECT_EQ(fault_of(bad, question), "own.pool.fixed is not in its range");
  bad = good;
  std::swap(bad.ways[0], bad.ways[1]);
  EXPECT_EQ(fault_of(bad, question), "peer.onetbb stands above own.pool.fixed");
}

// Such a curve as one sweep gave for a pool with one lock, whose model said 31 ms.
TEST(Advice, TwoCpusTakeHalfOfTheWork) {
  const Row lock = curve_of("peer.mutex_pool", {{79, 0.04},
                                                {158, 0.11},
                                                {237, 0.34},
                                                {316, 0.41},
                                                {631, 0.44},
                                                {1263, 0.86},
                                                {2525, 0.93},
                                                {5051, 0.96},
                                                {20203, 0.97},
                                                {80813, 0.95}});
  const Row own = curve_of("own.pool.fixed", {{79, 0.30},
                                              {158, 0.65},
                                              {237, 0.75},
                                              {316, 0.82},
                                              {631, 0.88},
                                              {1263, 0.94},
                                              {2525, 0.97},
                                              {5051, 0.98},
                                              {20203, 0.99},
                                              {80813, 0.99}});
  const Question question = tasks(100, 1e6);
  const Advice advice = advice_by({lock, own}, question);
  EXPECT_EQ(fault_of(advice, question), "");
  EXPECT_EQ(advice.ways.front().name, "own.pool.fixed");
  EXPECT_EQ(advice.equal, std::vector<std::string>{"peer.mutex_pool"});
}

TEST(Advice, FollowsTheCurveBetweenItsSizes) {
  const Row own = curve_of("own.pool.fixed", {{100, 0.2}, {400, 0.6}, {1600, 0.9}, {6400, 0.95}});
  const auto ns_of = [&](double task_ns) -> double {
    for (const Way& way : advice_by({own}, tasks(1000, task_ns)).ways) {
      if (way.name == "own.pool.fixed") return way.ns / 1000;
    }
    return NAN;
  };
  EXPECT_NEAR(ns_of(400), 400 / (2 * 0.6), 1e-6);
  EXPECT_NEAR(ns_of(800), 800 / (2 * 0.75), 1e-6);
  EXPECT_NEAR(ns_of(50), 100 / (2 * 0.2), 1e-6);  // no less than the smallest one
  EXPECT_NEAR(ns_of(64000), 64000 / (2 * 0.95), 1e-6);
}

TEST(Advice, ARangeIsWideWhereTheCurveOrTheLaunchesAre) {
  const auto width_of = [](const Row& row) {
    const Advice advice = advice_by({row}, tasks(1000, 1000));
    const Way& way = advice.ways.front();
    EXPECT_EQ(way.name, row.contender);
    return (way.high_ns - way.low_ns) / way.ns;
  };
  const Row plain = curve_of("own.pool.fixed", plain_curve(100));
  Row rough = plain;
  rough.curves["efficiency"][9].second *= 0.8;
  Row apart = plain;
  apart.low = 60;  // by its median of 100
  apart.high = 600;
  EXPECT_LT(width_of(plain), 0.2);
  EXPECT_GT(width_of(rough), 2 * width_of(plain));
  EXPECT_GT(width_of(apart), 2 * width_of(plain));
}

TEST(Advice, OfEqualsTheSimplestToOwnIsNamed) {
  const auto first = [](const std::vector<Row>& rows) {
    return advice_by(rows, tasks(1000, 1000)).ways.front().name;
  };
  const Row fixed = curve_of("own.pool.fixed", plain_curve(25));
  const Row active = curve_of("own.pool.active", plain_curve(24));
  const Row peer = curve_of("peer.onetbb", plain_curve(23));
  EXPECT_EQ(first({peer, fixed}), "own.pool.fixed");
  EXPECT_EQ(first({fixed, active}), "own.pool.active");
  const Row sleeps = row_of("tasks", "own.pool.fixed", "idle_cpu", 0.05, "%");
  const Row spins = row_of("tasks", "own.pool.active", "idle_cpu", 50, "%");
  EXPECT_EQ(first({fixed, active, sleeps, spins}), "own.pool.fixed");
  Row small = fixed;
  Row large = active;
  small.peak_memory_bytes = 4e6;
  large.peak_memory_bytes = 8e6;
  EXPECT_EQ(first({small, large}), "own.pool.fixed");
  // What is far slower is not equal, ours or not.
  EXPECT_EQ(first({peer, curve_of("own.pool.fixed", plain_curve(2000))}), "peer.onetbb");
}

TEST(Impossible, EfficiencyAboveOneTakesTheFigures) {
  Row high = curve_of("peer.onetbb", plain_curve(20));
  high.curves["efficiency"][10].second = 1.5;
  Row near = curve_of("own.pool.fixed", plain_curve(20));
  near.curves["efficiency"].back().second = 1.015;
  std::vector<Row> rows{high, near};
  mark_impossible(rows);
  EXPECT_EQ(rows[0].status, RowStatus::impossible);
  EXPECT_FALSE(rows[0].is_measured());
  EXPECT_EQ(rows[0].reason, "its efficiency is 1.50 at 1.02 us, more than the CPUs can do");
  EXPECT_EQ(rows[1].status, RowStatus::ok);
  const Advice advice = advice_by({high, near}, tasks(1000, 1000));
  ASSERT_EQ(advice.left_out.size(), 1U);
  EXPECT_EQ(advice.left_out[0].second, rows[0].state());
}

TEST(Impossible, SpeedUpAboveTheWidthTakesTheFigures) {
  const auto with_range = [](const std::string& name, double low, double ns, double high) {
    Row row = row_of("forkjoin", name, "ns_per_fork", ns);
    row.low = low;
    row.high = high;
    return row;
  };
  std::vector<Row> rows{with_range("limit.serial", 95, 100, 105), with_range("own.a", 38, 40, 44),
                        with_range("own.b", 38, 46, 49), with_range("own.c", 50, 52, 54),
                        with_range("own.d", NAN, 40, NAN)};
  mark_impossible(rows);
  EXPECT_EQ(rows[1].state(),
            "impossible: it is 2.50 times as fast as one thread, more than the CPUs can do");
  for (const std::size_t other : {0, 2, 3, 4}) EXPECT_EQ(rows[other].status, RowStatus::ok);
}

}}  // namespace advice_test
