// SPDX-License-Identifier: MIT
// The ladder on terminals of several kinds.
#include "report/ladder_text.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "commands/answer.hpp"
#include "harness/progress.hpp"
#include "harness/rungs.hpp"

namespace ladder_text_test { namespace {

using namespace handoff::lab;

// All kinds, from 2 ns on: all words are there.
Ladder whole_ladder() {
  Ladder ladder;
  ladder.busy = "Other programs took 0.9 of 2 CPUs in 3 of 14 measurements.";
  ladder.sentence =
      "On this machine a task costs 28 ns here, 155 in oneTBB; below 60 ns of work, hot, at width "
      "2, do not hand it over one by one. Do not trust these figures: other processes took 0.90 "
      "CPUs.";
  ladder.grey = {{"a cache miss", 81}, {"core to core", 120}, {"a system call", 95}};
  const std::map<std::string, Change> changes{
      {"call", Change::improved}, {"event", Change::worse}, {"message", Change::unchanged}};
  double ns = 2;
  for (const RungKind& kind : rung_kinds()) {
    Rung rung;
    rung.name = kind.name;
    rung.title = kind.title;
    rung.latency = kind.latency;
    rung.own = RungWay{"own.pool.stealing", ns, ns / 1e9, ns * 1e9};
    if (kind.name != "thread") {
      rung.peer = RungWay{"peer.a_very_long_name_of_a_library", 14.8 * ns};
      const auto known = changes.find(kind.name);
      const Change change = known == changes.end() ? Change::too_noisy : known->second;
      rung.judged = JudgedChange{change, change == Change::improved ? 1 / 14.8 : 1.2};
    }
    if (kind.name == "event" || kind.name == "bus") rung.peer->order = "per producer";
    if (kind.name == "bus") rung.own->order = "per producer";
    if (kind.name == "task") rung.disturbed = "other processes took 0.90 CPUs";
    ns *= 3;
    ladder.rungs.push_back(rung);
  }
  return ladder;
}

LadderLook whole_look() {
  LadderLook look;
  look.busy =
      "Busy machine: other programs took 0.9 of 2 CPUs: a_program_with_a_name_of_some_length 0.6, "
      "clang++ 0.2, bash 0.1";
  look.page = "report/index.html";
  look.results = "report/results.json";
  look.interrupted = true;
  for (int i = 0; i < 12; ++i) look.missing.push_back("libsomething" + std::to_string(i) + "-dev");
  return look;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
}

// Of UTF-8, where each character takes one column.
std::size_t columns_of_line(const std::string& line) {
  return static_cast<std::size_t>(
      std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string line_with(const std::string& text, const std::string& start) {
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with(start)) return line;
  }
  return {};
}

TEST(LadderText, HasAtMost30LinesOf80Columns) {
  for (const bool unicode : {false, true}) {
    LadderLook look = whole_look();
    look.unicode = unicode;
    const auto lines = lines_of(ladder_text(whole_ladder(), look));
    EXPECT_LE(lines.size(), 30U);
    EXPECT_GE(lines.size(), 20U);
    for (const std::string& line : lines) {
      EXPECT_LE(columns_of_line(line), 80U) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
  }
}

TEST(LadderText, FitsNarrowAndWideTerminals) {
  for (const int columns : {0, 20, 68, 100, 120, 500}) {
    LadderLook look = whole_look();
    look.columns = columns;
    const std::string text = ladder_text(whole_ladder(), look);
    const auto most = static_cast<std::size_t>(std::clamp(columns, 68, 120));
    for (const std::string& line : lines_of(text)) EXPECT_LE(line.size(), most) << line;
    const bool titles = text.find("\na task nobody waits for") != std::string::npos;
    EXPECT_EQ(titles, columns >= 120);
  }
}

TEST(LadderText, SaysBusyFirstAndThenTheAnswer) {
  LadderLook look = whole_look();
  look.interrupted = false;
  look.busy = "Busy machine: other programs took 0.9 of 2 CPUs: clang++ 0.9";
  const auto lines = lines_of(ladder_text(whole_ladder(), look));
  EXPECT_EQ(lines.at(0), look.busy);
  EXPECT_EQ(lines.at(1),
            "On this machine a task costs 28 ns here, 155 in oneTBB; below 60 ns of work,");
  look.busy.clear();
  EXPECT_TRUE(ladder_text(whole_ladder(), look).starts_with(whole_ladder().busy + "\nOn this"));
  Ladder quiet = whole_ladder();
  quiet.busy.clear();
  EXPECT_TRUE(ladder_text(quiet, look).starts_with("On this machine a task costs 28 ns here"));
}

TEST(LadderText, HasALineForEachRung) {
  const std::string text = ladder_text(whole_ladder(), whole_look());
  for (const RungKind& kind : rung_kinds()) EXPECT_NE(line_with(text, kind.name), "") << kind.name;
  EXPECT_TRUE(
      line_with(text, "call").ends_with(" 2.00 ns    29.6 ns a_very_long_name_ 14.8x faster"))
      << line_with(text, "call");
  EXPECT_TRUE(line_with(text, "event").ends_with(" 1.2x slower"));
  EXPECT_TRUE(line_with(text, "message").ends_with(" about equal"));
  EXPECT_TRUE(line_with(text, "task").ends_with(" open*"));
  EXPECT_TRUE(line_with(text, "thread").ends_with("-                   no peer"));
  EXPECT_NE(line_with(text, "* do not trust these figures: other processes"), "");
  EXPECT_NE(line_with(text, "open: "), "");
}

TEST(LadderText, SaysWhichQueuesKeepLessThanOneOrder) {
  Ladder ladder = whole_ladder();
  ladder.rungs.at(3).peer->contender = "peer.queue";
  const auto said = [&] { return line_with(ladder_text(ladder, whole_look()), "bus: "); };
  EXPECT_EQ(line_with(ladder_text(ladder, whole_look()), "event: "),
            "event: a_very_long_name_of_a_library keeps order per producer");
  EXPECT_EQ(said(), "bus: pool.stealing and queue keep order per producer");
  ladder.rungs.at(3).peer->order = "none";
  EXPECT_EQ(said(), "bus: pool.stealing keeps order per producer, queue keeps no order");
  ladder.rungs.at(3).peer->order = "fifo";
  EXPECT_EQ(said(), "bus: pool.stealing keeps order per producer");
  ladder.rungs.at(3).own->order = "fifo";
  EXPECT_EQ(said(), "");
}

TEST(LadderText, BarsGrowWithTheLogarithmAndTellLatencyFromThroughput) {
  const std::string text = ladder_text(whole_ladder(), whole_look());
  const auto cells = [&](const std::string& rung, char mark) {
    const std::string line = line_with(text, rung);
    return std::count(line.begin(), line.end(), mark);
  };
  EXPECT_LT(cells("call", '#'), cells("task", '#'));
  EXPECT_LT(cells("task", '#'), cells("iteration", '#'));
  EXPECT_EQ(cells("task", '='), 0);
  EXPECT_GT(cells("ping", '='), 0);
  EXPECT_EQ(cells("ping", '#'), 0);
  EXPECT_EQ(cells("task", '|'), 1);
  EXPECT_EQ(cells("thread", '|'), 0);
  EXPECT_NE(line_with(text, "# throughput  = latency  | best other  (log scale, 1 ns to 100 ms)"),
            "");
}

TEST(LadderText, IsAsciiUnlessUnicodeIsWanted) {
  LadderLook look = whole_look();
  EXPECT_TRUE(is_ascii(ladder_text(whole_ladder(), look)));
  look.unicode = true;
  EXPECT_NE(ladder_text(whole_ladder(), look).find("\u2588"), std::string::npos);
  EXPECT_NE(ladder_text(whole_ladder(), look).find("\u2592"), std::string::npos);
}

TEST(LadderText, ShowsNoIntervalThatNobodyCanRead) {
  const std::string text = ladder_text(whole_ladder(), whole_look());
  EXPECT_EQ(text.find(" .. "), std::string::npos);
  EXPECT_EQ(text.find("e-"), std::string::npos);
}

TEST(LadderText, EndsWithWhereTheRestIsAndWhatWasMissing) {
  const std::string text = ladder_text(whole_ladder(), whole_look());
  EXPECT_EQ(line_with(text, "page"), "page     report/index.html  (results: report/results.json)");
  EXPECT_TRUE(text.ends_with(" ...\n")) << "more is missing than there is room for";
  EXPECT_NE(line_with(text, "missing  libsomething0-dev, libsomething1-dev"), "");
  EXPECT_NE(line_with(text, "Interrupted: "), "");
  const std::string bare = ladder_text(whole_ladder(), {});
  for (const char* word : {"page", "results", "missing", "Interrupted"}) {
    EXPECT_EQ(line_with(bare, word), "") << word;
  }
}

TEST(LadderText, IsBoldOnlyWhereItMayBe) {
  LadderLook look = whole_look();
  EXPECT_EQ(ladder_text(whole_ladder(), look).find('\033'), std::string::npos);
  look.styled = true;
  EXPECT_NE(ladder_text(whole_ladder(), look).find("\033[1mOn this machine"), std::string::npos);
}

TEST(LadderText, OfRungsWithoutFiguresIsNoTrouble) {
  Ladder ladder;
  Rung rung;
  rung.name = "task";
  ladder.rungs = {rung};
  EXPECT_TRUE(line_with(ladder_text(ladder, {}), "task").ends_with(" no peer"));
  EXPECT_EQ(ladder_text({}, {}), "\n");
}

class Variables : public testing::Test {
 protected:
  void SetUp() override { set({}); }
  static void set(const std::vector<std::pair<const char*, const char*>>& variables) {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG", "TERM", "NO_COLOR"}) unsetenv(name);
    for (const auto& [name, value] : variables) setenv(name, value, 1);
  }
};

TEST_F(Variables, SayWhetherUnicodeIsShown) {
  EXPECT_FALSE(shows_unicode());
  set({{"LANG", "C"}});
  EXPECT_FALSE(shows_unicode());
  set({{"LANG", "de_DE.UTF-8"}});
  EXPECT_TRUE(shows_unicode());
  set({{"LANG", "C.utf8"}, {"TERM", "xterm"}});
  EXPECT_TRUE(shows_unicode());
  set({{"LANG", "C.UTF-8"}, {"TERM", "dumb"}});
  EXPECT_FALSE(shows_unicode());
  set({{"LANG", "C.UTF-8"}, {"LC_CTYPE", "C"}});
  EXPECT_FALSE(shows_unicode());
  set({{"LANG", "C"}, {"LC_CTYPE", "C"}, {"LC_ALL", "C.UTF-8"}});
  EXPECT_TRUE(shows_unicode());
  set({{"LANG", "C.UTF-8"}, {"LC_ALL", ""}});
  EXPECT_TRUE(shows_unicode());
}

// A result with one rung, and with one row for the tables.
Result overview() {
  Result result;
  Row row;
  row.scenario = "tasks";
  row.contender = "own.pool.stealing";
  row.kind = "own";
  row.metric = "fire_and_forget";
  row.unit = "ns";
  row.launches.assign(5, {28, 28, 28});
  row.median = row.low = row.high = 28;
  RungChoice choice;
  choice.name = "task";
  choice.scenario = row.scenario;
  choice.metric = row.metric;
  choice.own = row.contender;
  result.rows = {row};
  result.rungs = {choice};
  return result;
}

Contender absent(const char* package) {
  Contender contender;
  contender.package = package;
  return contender;
}

TEST_F(Variables, TheAnswerOfAnOverviewIsItsLadderAndTheTablesWhereWanted) {
  set({{"NO_COLOR", "1"}});
  RunOptions options;
  options.page = "page.html";
  const std::string ladder = answer_text(overview(), options, {});
  EXPECT_TRUE(ladder.starts_with("On this machine a task costs 28 ns here.")) << ladder;
  EXPECT_NE(line_with(ladder, "task "), "");
  EXPECT_NE(line_with(ladder, "page     page.html"), "");
  EXPECT_EQ(line_with(ladder, "missing"), "");
  EXPECT_EQ(ladder.find("99 % interval"), std::string::npos);
  EXPECT_TRUE(is_ascii(ladder));
  EXPECT_EQ(answer_text(overview(), options, {}, "Busy."), "Busy.\n" + ladder);
  options.verbose = true;
  const std::string both = answer_text(overview(), options, {});
  EXPECT_TRUE(both.starts_with(ladder));
  EXPECT_NE(both.find("99 % interval"), std::string::npos);
  EXPECT_NE(line_with(both, "  own.pool.stealing"), "");
  Result no_ladder = overview();
  no_ladder.rungs.clear();
  options.verbose = false;
  EXPECT_EQ(both, ladder + answer_text(no_ladder, options, {}));
}

TEST_F(Variables, TheAnswerNamesEachMissingPackageOnce) {
  std::vector<Contender> contenders{absent("github.com/taskflow/taskflow, 4.0 or later"),
                                    absent("libtbb-dev libopenblas-dev"), absent("libtbb-dev"),
                                    absent("")};
  contenders.push_back(absent("libgomp1"));
  contenders.back().executables = {"/there"};
  const std::string answer = answer_text(overview(), {}, contenders);
  EXPECT_EQ(line_with(answer, "missing"),
            "missing  libopenblas-dev, libtbb-dev, github.com/taskflow/taskflow");
}

}}  // namespace ladder_text_test
