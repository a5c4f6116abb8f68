// SPDX-License-Identifier: MIT
// The ladder of made-up rows, what it says in words, and what a file keeps of it.
#include <nlohmann/json.hpp>

#include "report/exports.hpp"
#include "report/json.hpp"
#include "report/ladder.hpp"
#include "report/ladder_words.hpp"
#include "report/view.hpp"
#include "texts.hpp"

namespace ladder_test { namespace {

using namespace handoff::lab;

const ParameterValues of_a_task{{"count", ParameterValue::of(1000)},
                                {"state", {"hot"}},
                                {"width", ParameterValue::of(2)},
                                {"work", ParameterValue::of(0)}};

// A launch for each of the values, of three bursts.
Row task_row(const std::string& contender, const std::vector<double>& values) {
  Row row;
  row.scenario = "tasks";
  row.contender = contender;
  row.kind = contender.substr(0, contender.find('.'));
  row.parameters = of_a_task;
  row.metric = "fire_and_forget";
  row.unit = "ns";
  for (const double value : values) row.launches.push_back({value, value, value});
  row.median = typical(row.launches);
  return row;
}

Row grain_row(const std::string& contender, double median, const Points& efficiency) {
  Row row = task_row(contender, {median});
  row.scenario = "grain";
  row.metric = "metg50";
  row.parameters = {{"unit", {"task"}}, {"width", ParameterValue::of(2)}};
  row.curves["efficiency"] = efficiency;
  return row;
}

RungChoice task_choice() {
  RungChoice choice;
  choice.name = "task";
  choice.scenario = "tasks";
  choice.metric = "fire_and_forget";
  choice.parameters = of_a_task;
  choice.own = "own.pool.stealing";
  choice.peers = {"peer.fastest"};
  return choice;
}

Result result_of(std::vector<Row> rows, const RungChoice& choice = task_choice()) {
  Result result;
  result.environment = Environment(nlohmann::json{{"budget", {{"width", 2}}}});
  result.rows = std::move(rows);
  result.rungs = {choice};
  return result;
}

// So many launches around a value.
std::vector<double> around(double value, std::size_t launches = 6) {
  std::vector<double> values;
  for (std::size_t i = 0; i < launches; ++i) {
    values.push_back(value * (1 + 0.001 * static_cast<double>(i % 3)));
  }
  return values;
}

Rung rung_of(const Result& result) { return ladder_of(result).rungs.at(0); }

Rung rung_of(double own, double peer) {
  return rung_of(result_of(
      {task_row("own.pool.stealing", around(own)), task_row("peer.fastest", around(peer))}));
}

TEST(LadderOf, NothingChosenIsNoLadder) {
  Result result = result_of({task_row("own.pool.stealing", around(30))});
  result.rungs.clear();
  const Ladder ladder = ladder_of(result);
  EXPECT_TRUE(ladder.rungs.empty());
  EXPECT_EQ(ladder.sentence, "");
  EXPECT_EQ(ladder.busy, "");
}

TEST(LadderOf, EveryLaunchCounts) {
  const Rung rung = rung_of(result_of({task_row("own.pool.stealing", {30, 30, 31, 30, 30, 29}),
                                       task_row("peer.fastest", {60, 60, 61, 60, 60, 59})}));
  EXPECT_EQ(rung.own->median, 30);
  EXPECT_EQ(rung.peer->median, 60);
  EXPECT_EQ(verdict_text(rung), "2.0x faster");
  EXPECT_EQ(range_text(rung), "(1.94 .. 2.1)");
  EXPECT_EQ(rung.title, "an empty task (1000 at a time)");
  EXPECT_FALSE(rung.latency);
}

TEST(LadderOf, AWayOfOneLaunchHasAFigureAndNoWord) {
  const Rung rung =
      rung_of(result_of({task_row("own.pool.stealing", {10}), task_row("peer.fastest", {60})}));
  EXPECT_EQ(rung.peer->median, 60);
  EXPECT_TRUE(std::isnan(rung.peer->low)) << "an interval of one launch";
  EXPECT_EQ(verdict_text(rung), "not known");
  EXPECT_EQ(range_text(rung), "");
}

TEST(LadderOf, SaysWhichQueuesKeepLessThanOneOrder) {
  std::vector<Row> rows{task_row("own.pool.stealing", around(30)),
                        task_row("peer.fastest", around(60))};
  const auto with_orders = [&rows](const char* own, const char* peer) {
    rows[0].order = own;
    rows[1].order = peer;
    return rung_of(result_of(rows));
  };
  for (const char* whole : {"fifo", ""}) {
    const Rung rung = with_orders(whole, whole);
    EXPECT_EQ(order_of(*rung.own), "");
    EXPECT_EQ(order_of(*rung.peer), "");
    EXPECT_EQ(with_figure(*rung.peer), "fastest 60.1 ns");
    EXPECT_FALSE(says(clause_of(rung), "order"));
  }
  const Rung loose = with_orders("fifo", "none");
  EXPECT_EQ(order_of(*loose.peer), "no order");
  EXPECT_TRUE(
      says(clause_of(loose), " here, 60.1 ns in fastest (no order), 2.0x faster (2.0 .. 2.0)."));
  const Rung lanes = with_orders("per producer", "per producer");
  EXPECT_EQ(order_of(*lanes.own), "order per producer");
  EXPECT_TRUE(says(clause_of(lanes), " here (order per producer), "));
  EXPECT_TRUE(says(clause_of(lanes), " in fastest (order per producer), "));
  EXPECT_NE(sign_of(*lanes.own), "");
  EXPECT_NE(sign_of(*lanes.own), sign_of(*loose.peer));
}

TEST(LadderOf, TheBestOfThePeersStandsForThemAndTheOthersBesideIt) {
  RungChoice choice = task_choice();
  choice.peers = {"peer.onetbb", "peer.fastest"};
  const Rung rung =
      rung_of(result_of({task_row("own.pool.stealing", around(30)),
                         task_row("peer.fastest", around(60)), task_row("peer.onetbb", around(70))},
                        choice));
  EXPECT_EQ(rung.peer->contender, "peer.fastest");
  ASSERT_EQ(beside_the_best(rung).size(), 1U);
  EXPECT_EQ(beside_the_best(rung)[0]->contender, "peer.onetbb");
  EXPECT_TRUE(says(clause_of(rung), " in fastest, 70.1 ns in oneTBB, "));
}

TEST(LadderOf, PeersHaveTheirVersions) {
  RungChoice choice = task_choice();
  choice.peers = {"peer.onetbb", "peer.std_async"};
  Result result = result_of(
      {task_row("peer.onetbb", around(70)), task_row("peer.std_async", around(60))}, choice);
  result.environment = Environment(nlohmann::json{
      {"budget", {{"width", 2}}},
      {"peers", {{"peer.onetbb", "libtbb-dev 2021.8"}, {"peer.std_async", "libstdc++ 12"}}}});
  const Ladder ladder = ladder_of(result);
  EXPECT_EQ(ladder.peers, std::vector<std::string>{"oneTBB 2021.8"});
  EXPECT_EQ(ladder.cpus, 2);
}

TEST(Tables, JudgeEachOwnWayBesideTheBestPeer) {
  Row memory = task_row("own.pool.stealing", around(30));
  memory.metric = "memory";
  memory.unit = "bytes";
  Row others_memory = task_row("peer.fastest", around(60));
  others_memory.metric = memory.metric;
  others_memory.unit = memory.unit;
  Row rate = task_row("own.pool.stealing", around(30));
  rate.metric = "rate";
  rate.unit = "items/s";
  rate.higher_is_better = true;
  Row others_rate = task_row("peer.fastest", around(90));
  others_rate.metric = rate.metric;
  others_rate.unit = rate.unit;
  others_rate.higher_is_better = true;
  const std::string text = tables(
      result_of({task_row("own.pool.stealing", around(30)), task_row("own.pool.fixed", around(90)),
                 task_row("peer.fastest", around(60)), task_row("peer.onetbb", around(70)), memory,
                 others_memory, rate, others_rate}),
      false);
  EXPECT_TRUE(says(text, "2.0x faster (2.0 .. 2.0)"));
  EXPECT_TRUE(says(text, "1.50x slower (1.50 .. 1.50)"));
  EXPECT_TRUE(says(text, "3.0x slower (3.0 .. 3.0)")) << text << "of a rate";
  const std::string of_memory = text.substr(text.find("(memory,"));
  EXPECT_FALSE(says(of_memory.substr(0, of_memory.find("\n\n")), "faster"));
}

TEST(LadderOf, OnlyRowsOfItsCellCount) {
  std::vector<Row> rows{task_row("own.pool.stealing", around(30))};
  for (int other = 0; other < 3; ++other) {
    rows.push_back(task_row("own.pool.stealing", around(99)));
    if (other == 0) rows.back().metric = "future";
    if (other == 1) rows.back().scenario = "grain";
    if (other == 2) rows.back().parameters["width"] = ParameterValue::of(1);
  }
  rows.push_back(task_row("own.pool.stealing", {1}));
  rows.back().median = NAN;  // it broke
  rows.back().launches.clear();
  EXPECT_NEAR(rung_of(result_of(rows)).own->median, 30, 0.1);
}

TEST(LadderOf, TellsTimesInNs) {
  Row own = task_row("own.pool.stealing", around(4));
  Row peer = task_row("peer.fastest", around(0.008));
  own.unit = "us";
  peer.unit = "ms";
  const Rung rung = rung_of(result_of({own, peer}));
  EXPECT_NEAR(rung.own->median, 4000, 10);
  EXPECT_NEAR(rung.peer->median, 8000, 20);
  EXPECT_EQ(verdict_text(rung), "2.0x faster");
  own.unit = "GFLOP/s";
  EXPECT_FALSE(rung_of(result_of({own, peer})).own);
}

TEST(LadderOf, AVerdictForEachCase) {
  EXPECT_EQ(verdict_text(rung_of(10, 148)), "14.8x faster");
  EXPECT_EQ(verdict_text(rung_of(1, 250)), "250x faster");
  EXPECT_EQ(verdict_text(rung_of(104, 100)), "1.04x slower");
  EXPECT_EQ(verdict_text(rung_of(120, 100)), "1.20x slower");
  EXPECT_EQ(range_text(rung_of(120, 100)), "(1.20 .. 1.20)");
  EXPECT_EQ(verdict_text(rung_of(100, 100)), "about equal");
  EXPECT_EQ(range_text(rung_of(100, 100)), "(1.00 .. 1.00)");
  const std::vector<Row> rough{task_row("own.pool.stealing", {10, 14, 20, 12, 17, 11}),
                               task_row("peer.fastest", {11, 19, 13, 21, 16, 12})};
  EXPECT_EQ(verdict_text(rung_of(result_of(rough))), "0.65x .. 1.90x as fast");
  const Ladder alone = ladder_of(result_of({task_row("own.pool.stealing", around(10))}));
  EXPECT_EQ(verdict_text(alone.rungs[0]), "no peer");
}

TEST(LadderOf, TheSumCountsTheWords) {
  Result result =
      result_of({task_row("own.pool.stealing", around(10)), task_row("peer.fastest", around(20))});
  EXPECT_EQ(sum_of(ladder_of(result)), "ahead on 1");
  result.rungs.push_back(result.rungs.front());
  result.rungs.back().peers = {"peer.gone"};
  EXPECT_EQ(sum_of(ladder_of(result)), "ahead on 1") << "a way that stands alone is not counted";
  EXPECT_EQ(ladder_of(result).count(Word::faster), 1U);
  result.rungs.erase(result.rungs.begin());
  EXPECT_EQ(sum_of(ladder_of(result)), "nothing to compare with");
}

// Beside other programs there is an answer all the same: its range says how well it is known.
TEST(LadderOf, ADisturbedRowIsJudgedAsAnyOther) {
  std::vector<Row> rows{task_row("own.pool.stealing", around(10)),
                        task_row("peer.fastest", around(14))};
  rows[0].status = RowStatus::noisy;
  rows[0].reason = "other processes took 0.90 CPUs";
  EXPECT_EQ(verdict_text(rung_of(result_of(rows))), "1.40x faster");
}

TEST(LadderOf, AWayInTwoStatesShowsBoth) {
  const Rung rung = rung_of(result_of({task_row("own.pool.stealing", {30, 50, 31, 51, 30, 50}),
                                       task_row("peer.fastest", around(40))}));
  ASSERT_TRUE(rung.own->states);
  EXPECT_EQ(rung.own->states->low, 30);
  EXPECT_EQ(rung.own->states->high, 50);
  EXPECT_FALSE(rung.peer->states);
  EXPECT_EQ(rung.answer->word, Word::not_known);
}

TEST(LadderOf, SchemesOfArticlesAndLimitsAreNoPeers) {
  for (const char* name : {"seed.threads", "limit.ring"}) {
    RungChoice choice = task_choice();
    choice.peers = {name};
    const Rung rung = rung_of(
        result_of({task_row("own.pool.stealing", around(10)), task_row(name, around(20))}, choice));
    EXPECT_FALSE(rung.peer) << name;
    EXPECT_EQ(verdict_text(rung), "no peer");
  }
}

TEST(LadderOf, HasTheOtherWaysAndTheGreyLines) {
  RungChoice choice = task_choice();
  choice.today = "peer.std_async";
  choice.limit = "limit.ring";
  choice.peers = {"peer.onetbb", "peer.gone"};
  Row miss = task_row("limit.bare", around(81));
  miss.scenario = "machine";
  miss.metric = "cache_miss";
  Row call = miss;
  call.metric = "system_call";
  call.unit = "us";
  call.median = 0.1;
  const Ladder ladder =
      ladder_of(result_of({task_row("peer.std_async", {9000, 9000}), task_row("limit.ring", {5, 5}),
                           task_row("peer.onetbb", {155, 155}), miss, call},
                          choice));
  const Rung& rung = ladder.rungs.at(0);
  EXPECT_EQ(rung.today->median, 9000);
  EXPECT_EQ(rung.limit->median, 5);
  EXPECT_TRUE(rung.named.empty());
  EXPECT_EQ(rung.peer->contender, "peer.onetbb");
  ASSERT_EQ(ladder.grey.size(), 2U);
  EXPECT_EQ(ladder.grey[0].name, "a cache miss");
  EXPECT_NEAR(ladder.grey[0].ns, 81, 0.1);
  EXPECT_EQ(ladder.grey[1].name, "a system call");
  EXPECT_NEAR(ladder.grey[1].ns, 100, 1e-9);
}

// From 16 ns on both threads together do more than one alone: halfway, by the logarithm, from 4.
const Points pays_from_8{{4, 0.25}, {16, 0.75}, {64, 0.9}, {256, 0.95}};

TEST(TheSentence, TellsTheCostHereAndInOneTbbAndTheBreakEven) {
  RungChoice choice = task_choice();
  choice.peers = {"peer.onetbb"};
  const std::vector<Row> rows{task_row("own.pool.stealing", {5.24}),
                              task_row("peer.onetbb", {155.4}),
                              grain_row("own.pool.fixed", 1, {{1, 1}, {2, 1}}),
                              grain_row("own.pool.stealing", 8, pays_from_8),
                              grain_row("peer.onetbb", 0.5, {{1, 1}, {2, 1}})};
  EXPECT_EQ(ladder_of(result_of(rows, choice)).sentence,
            "On this machine a task costs 5.2 ns here, 155 in oneTBB. Tasks of less than 8 ns "
            "run faster in a plain loop than on 2 threads that are awake.");
}

TEST(TheSentence, NeverTellsABreakEvenBelowTheCost) {
  const std::vector<Row> rows{task_row("own.pool.stealing", {28.2}),
                              grain_row("own.pool.stealing", 8, pays_from_8)};
  EXPECT_EQ(ladder_of(result_of(rows)).sentence,
            "On this machine a task costs 28 ns here. Tasks of less than 29 ns run faster in a "
            "plain loop than on 2 threads that are awake.");
}

TEST(TheSentence, NamesTheBestOtherWithoutOneTbb) {
  RungChoice choice = task_choice();
  choice.peers = {"peer.taskflow"};
  const std::vector<Row> rows{task_row("own.pool.stealing", {4.24}),
                              task_row("peer.taskflow", {155.4}),
                              grain_row("own.pool.fixed", 9, pays_from_8)};
  EXPECT_EQ(ladder_of(result_of(rows, choice)).sentence,
            "On this machine a task costs 4.2 ns here, 155 in Taskflow. Tasks of less than 8 ns "
            "run faster in a plain loop than on 2 threads that are awake.");
}

TEST(TheSentence, EstimatesTheBreakEvenWhereItWasNotMeasured) {
  const std::vector<Row> rows{task_row("own.pool.stealing", {28.2})};
  EXPECT_EQ(ladder_of(result_of(rows)).sentence,
            "On this machine a task costs 28 ns here. Tasks of less than 57 ns run faster in a "
            "plain loop than on 2 threads that are awake.");
}

TEST(TheSentence, SaysTheUnitOfLongTimes) {
  std::vector<Row> rows{task_row("own.pool.stealing", {1280}), task_row("peer.fastest", {25'300})};
  for (Row& row : rows) row.parameters["width"] = ParameterValue::of(1);
  RungChoice choice = task_choice();
  choice.parameters["width"] = ParameterValue::of(1);
  EXPECT_EQ(ladder_of(result_of(rows, choice)).sentence,
            "On this machine a task costs 1.3 us here, 25 us in fastest.");
}

TEST(TheSentence, IsNotThereWithoutATaskOfOurs) {
  EXPECT_EQ(ladder_of(result_of({task_row("peer.fastest", {25})})).sentence, "");
  RungChoice fork = task_choice();
  fork.name = "fork";
  EXPECT_EQ(ladder_of(result_of({task_row("own.pool.stealing", {25})}, fork)).sentence, "");
}

TEST(BreakEven, LiesBetweenTwoSizesByTheLogarithm) {
  EXPECT_NEAR(*break_even_ns(pays_from_8, 2), 8, 1e-9);
  EXPECT_EQ(*break_even_ns({{256, 0.95}, {16, 0.6}, {64, 0.9}}, 2), 16) << "the least of all";
  EXPECT_FALSE(break_even_ns({{16, 0.1}, {64, 0.3}}, 2));
  EXPECT_FALSE(break_even_ns({}, 2));
  // A lucky moment does not count.
  EXPECT_GT(*break_even_ns({{4, 0.6}, {16, 0.25}, {64, 0.75}, {256, 0.9}}, 2), 16);
  EXPECT_NEAR(*break_even_ns({{4, 0.25}, {64, 0.25}}, 4), 4, 1e-9);
}

Disturbance seen(double foreign_cpus, double stolen_cpus, const char* reason) {
  Disturbance all;
  all.foreign_cpus = foreign_cpus;
  all.stolen_cpus = stolen_cpus;
  all.reason = reason;
  return all;
}

Result watched(const std::vector<Disturbance>& blocks) {
  Result result = result_of({});
  for (const Disturbance& one : blocks) result.blocks.push_back(BlockReport{0, one});
  result.blocks.push_back({});  // nobody watched
  return result;
}

TEST(Busy, SaysHowMuchOthersTook) {
  const Disturbance quiet = seen(0.01, 0, "");
  const Disturbance foreign = seen(0.9, 0, "other processes took 0.90 CPUs");
  const Disturbance stolen = seen(0, 0.5, "the host took 0.50 CPUs");
  const Disturbance slow = seen(0, 0, "one CPU was at 70 % of its usual speed");
  EXPECT_EQ(busy_of(watched({})), "");
  EXPECT_EQ(busy_of(watched({quiet, quiet})), "");
  EXPECT_EQ(busy_of(watched({foreign, foreign})), "Other programs took 0.9 of 2 CPUs.");
  EXPECT_EQ(busy_of(watched({foreign, quiet, stolen, slow})),
            "Other programs took 0.9 of 2 CPUs in 1 of 4 measurements.");
  // What others left alone is not disturbed, but they were there.
  const Disturbance alone = seen(0.95, 0, "");
  EXPECT_EQ(busy_of(watched({alone, alone})), "Other programs took 0.9 of 2 CPUs.");
  EXPECT_EQ(busy_of(watched({alone, foreign, quiet})),
            "Other programs took 0.9 of 2 CPUs in 2 of 3 measurements.");
  EXPECT_EQ(busy_of(watched({seen(0.15, 0.15, "")})), "");  // the ticks of a short block
  EXPECT_EQ(busy_of(watched({stolen, quiet})),
            "The host took 0.5 of 2 CPUs in 1 of 2 measurements.");
  EXPECT_EQ(busy_of(watched({quiet, slow})),
            "One CPU was at 70 % of its usual speed in 1 of 2 measurements.");
}

TEST(NameOfWay, IsThatOfItsAuthors) {
  EXPECT_EQ(name_of_way("peer.onetbb"), "oneTBB");
  EXPECT_EQ(name_of_way("peer.std_async"), "std::async");
  EXPECT_EQ(name_of_way("own.pool.stealing"), "pool.stealing");
  EXPECT_EQ(name_of_way("strange"), "strange");
}

TEST(IntervalText, HasNoFiguresThatNobodyCanRead) {
  EXPECT_EQ(interval_text(27.1, 29.34), "27.1 .. 29.3");
  EXPECT_EQ(interval_text(1, 100), "1.00 .. 100");
  EXPECT_EQ(interval_text(0.000000119, 16e6), "not stable");
  EXPECT_EQ(interval_text(1, 101), "not stable");
  EXPECT_EQ(interval_text(0, 3), "not stable");
  EXPECT_EQ(interval_text(0, 0), "0.00 .. 0.00");
  EXPECT_EQ(interval_text(NAN, NAN), "-");
}

Result read_text(const std::string& text) { return read_result(TextFile(text).path()); }

TEST(AFile, KeepsTheRungs) {
  RungChoice choice = task_choice();
  choice.peers = {"peer.fastest", "peer.gone"};
  choice.limit = "limit.ring";
  Result result = result_of(
      {task_row("own.pool.stealing", around(28, 8)), task_row("peer.fastest", around(99, 8)),
       grain_row("own.pool.stealing", 8, pays_from_8)},
      choice);
  for (Row& row : result.rows) row.low = row.high = row.median;
  result.blocks.push_back(BlockReport{1, seen(0.9, 0, "other processes took 0.90 CPUs")});
  const Result read = read_text(to_json_text(result));
  ASSERT_EQ(read.rungs.size(), 1U);
  const RungChoice& again = read.rungs[0];
  EXPECT_EQ(again.name, "task");
  EXPECT_EQ(again.scenario, choice.scenario);
  EXPECT_EQ(again.metric, choice.metric);
  EXPECT_EQ(again.parameters, choice.parameters);
  EXPECT_EQ(again.own, choice.own);
  EXPECT_EQ(again.peers, choice.peers);
  EXPECT_EQ(again.today, "");
  EXPECT_EQ(again.limit, choice.limit);
  const Ladder before = ladder_of(result);
  const Ladder after = ladder_of(read);
  EXPECT_EQ(after.sentence, before.sentence);
  EXPECT_EQ(after.busy, before.busy);
  EXPECT_EQ(after.busy, "Other programs took 0.9 of 2 CPUs.");
  EXPECT_EQ(after.rungs[0].own->high, before.rungs[0].own->high);
  EXPECT_EQ(after.rungs[0].answer->range.low, before.rungs[0].answer->range.low);
}

// 0.2 chose the best peer by its first launches, and named beside it those that people ask for.
TEST(AFile, OfAnEarlierVersionIsJudgedByAllItsLaunches) {
  const Result result =
      result_of({task_row("own.pool.stealing", around(28)), task_row("peer.fastest", around(99)),
                 task_row("peer.onetbb", around(155))});
  nlohmann::json file = nlohmann::json::parse(to_json_text(result));
  for (auto& row : file.at("rows")) row["low"] = row["high"] = row["median"];
  nlohmann::json& rung = file.at("rungs").at(0);
  rung.erase("peers");
  rung["chosen_on"] = 3;
  rung["level"] = 0.999;
  rung["named"] = {{{"contender", "own.pool.fixed"}}, {{"contender", "peer.onetbb"}}};
  const Result read = read_text(file.dump());
  EXPECT_EQ(read.rungs.at(0).peers, (std::vector<std::string>{"peer.fastest", "peer.onetbb"}));
  EXPECT_EQ(rung_of(read).answer->word, Word::faster);
}

TEST(AFile, TellsTheFiguresOfEachRung) {
  RungChoice choice = task_choice();
  choice.peers = {"peer.fastest", "peer.gone"};
  const Result result = result_of({task_row("own.pool.stealing", {10, 10, 10, 10, 10, 10}),
                                   task_row("peer.fastest", {20, 20, 20, 20, 20, 20})},
                                  choice);
  const nlohmann::json rung = nlohmann::json::parse(to_json_text(result)).at("rungs").at(0);
  const nlohmann::json own{
      {"contender", "own.pool.stealing"}, {"median", 10.0}, {"low", 10.0}, {"high", 10.0}};
  EXPECT_EQ(rung.at("own"), own);
  EXPECT_EQ(rung.at("peer").at("median"), 20.0);
  EXPECT_TRUE(rung.at("today").is_null());
  EXPECT_EQ(rung.at("peers"), (nlohmann::json{"peer.fastest", "peer.gone"}));
  EXPECT_EQ(rung.at("verdict"), "faster");
  EXPECT_NEAR(rung.at("ratio").get<double>(), 0.5, 1e-12);
  EXPECT_NEAR(rung.at("low").get<double>(), 0.5, 1e-12);
  EXPECT_EQ(rung.at("unit"), "ns");
  EXPECT_EQ(rung.at("latency"), false);
}

}}  // namespace ladder_test
