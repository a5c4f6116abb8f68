// SPDX-License-Identifier: MIT
// The ladder on terminals of several kinds.
#include "report/ladder_text.hpp"

#include "commands/output.hpp"
#include "harness/progress.hpp"
#include "harness/rungs.hpp"
#include "texts.hpp"

namespace ladder_text_test { namespace {

using namespace handoff::lab;

// All kinds, from 2 ns on: all words are there.
Ladder whole_ladder() {
  Ladder ladder;
  ladder.busy = "Other programs took 0.9 of 2 CPUs in 3 of 14 measurements.";
  ladder.sentence =
      "On this machine a task costs 28 ns here, 155 in oneTBB. Tasks of less than 60 ns run faster "
      "in a plain loop than on 2 threads that are awake.";
  ladder.title = "handoff 0.3, AMD EPYC, 2 CPUs";
  ladder.peers = {"Asio 1.22", "oneTBB 2021.8"};
  ladder.cpus = 2;
  ladder.grey = {{"a cache miss", 81}, {"core to core", 120}, {"a system call", 95}};
  const std::map<std::string, Answer> answers{
      {"call", {1 / 14.8, {1 / 15.2, 1 / 14.1}, Word::faster}},
      {"task", {0.5, {0.49, 0.52}, Word::faster}},
      {"event", {1.2, {1.15, 1.25}, Word::slower}},
      {"message", {1.01, {0.95, 1.04}, Word::about_equal}}};
  double ns = 2;
  for (const RungKind& kind : rung_kinds()) {
    Rung rung;
    rung.name = kind.name;
    rung.title = kind.title;
    rung.latency = kind.latency;
    rung.own = RungWay{"own.pool.stealing", ns, ns / 1e9, ns * 1e9};
    if (kind.name != "thread") {
      rung.peer = RungWay{"peer.a_very_long_name_of_a_library", 14.8 * ns};
      const auto known = answers.find(kind.name);
      rung.answer =
          known == answers.end() ? Answer{1, {0.7, 1.25}, Word::not_known} : known->second;
    }
    if (kind.name == "event" || kind.name == "bus") rung.peer->order = "per producer";
    if (kind.name == "bus") rung.own->order = "per producer";
    if (kind.name == "fork") rung.own->states = Interval{100, 160};
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

std::string line_with(const std::string& text, const std::string& start) {
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with(start)) return line;
  }
  return {};
}

TEST(LadderText, FitsTheTerminal) {
  for (const int columns : {0, 20, 72, 80, 100, 120, 500}) {
    LadderLook look = whole_look();
    look.columns = columns;
    const std::string text = ladder_text(whole_ladder(), look);
    const auto most = static_cast<std::size_t>(std::clamp(columns, 72, 120));
    for (const std::string& line : lines_of(text)) {
      EXPECT_LE(line.size(), most) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
    EXPECT_EQ(text.find("  an empty task (1000 at a time)") != std::string::npos, columns >= 120);
    EXPECT_TRUE(is_ascii(text));
  }
}

TEST(LadderText, TheAnswerIsOnASmallTerminal) {
  LadderLook look;
  const int kinds = static_cast<int>(rung_kinds().size());
  look.rows = kinds + 10;
  look.page = "report/index.html";
  Ladder ladder = whole_ladder();
  ladder.busy.clear();
  const std::string text = ladder_text(ladder, look);
  EXPECT_LE(lines_of(text).size(), kinds + 8U) << text;
  EXPECT_FALSE(says(text, " more\n"));
  look.rows = kinds + 7;
  EXPECT_LE(lines_of(ladder_text(ladder, look)).size(), kinds + 5U);
  EXPECT_NE(line_with(ladder_text(ladder, look), "3 more"), "") << ladder_text(ladder, look);
}

TEST(LadderText, SaysWhoseVersionsWereMeasuredAndUpToHowManyCpus) {
  EXPECT_EQ(line_with(ladder_text(whole_ladder(), whole_look()), "peers"),
            "peers: Asio 1.22, oneTBB 2021.8; not measured above 2 CPUs");
  Ladder bare = whole_ladder();
  bare.peers.clear();
  EXPECT_NE(line_with(ladder_text(bare, whole_look()), "not measured above 2 CPUs"), "");
}

TEST(LadderText, BeginsWithTheSumAndTheSentence) {
  LadderLook look = whole_look();
  look.interrupted = false;
  look.seconds = 112.4;
  look.columns = 120;
  look.busy = "Busy machine: other programs took 0.9 of 2 CPUs: clang++ 0.9";
  const auto lines = lines_of(ladder_text(whole_ladder(), look));
  const std::size_t kinds = rung_kinds().size();
  EXPECT_EQ(lines.at(0),
            "handoff 0.3, AMD EPYC, 2 CPUs: " + std::to_string(kinds) +
                " kinds of hand-over in 1:52: ahead on 2, level on 1, behind on 1, not known on " +
                std::to_string(kinds - 5));
  EXPECT_EQ(lines.at(1), look.busy);
  EXPECT_TRUE(lines.at(2).starts_with("On this machine a task costs 28 ns here, 155 in oneTBB"));
  look.busy.clear();
  EXPECT_EQ(lines_of(ladder_text(whole_ladder(), look)).at(1), whole_ladder().busy);
}

TEST(LadderText, HasALineForEachRungByWhatIsSaidOfIt) {
  const std::string text = ladder_text(whole_ladder(), whole_look());
  EXPECT_TRUE(
      line_with(text, "FASTER   call ").ends_with(" a_very_long_name_of 14.8x (14.1 .. 15.2)"))
      << text;
  EXPECT_TRUE(line_with(text, "         task ").ends_with(" 2.0x (1.92 .. 2.0)")) << text;
  EXPECT_TRUE(line_with(text, "SLOWER   event ").ends_with(" 1.20x (1.15 .. 1.25)")) << text;
  EXPECT_TRUE(line_with(text, "EQUAL    message ").ends_with(" (0.96 .. 1.05)")) << text;
  EXPECT_TRUE(line_with(text, "BETWEEN  bus ").ends_with(" 0.80x .. 1.43x")) << text;
  EXPECT_TRUE(line_with(text, "ALONE    thread ").ends_with(" no peer")) << text;
  EXPECT_LT(text.find("FASTER"), text.find("SLOWER"));
}

TEST(LadderText, SaysWhatANameDoesNot) {
  Ladder ladder = whole_ladder();
  ladder.rungs.at(3).peer->contender = "peer.queue";
  ladder.rungs.at(3).peer->order = "none";
  const std::string text = ladder_text(ladder, whole_look());
  EXPECT_EQ(line_with(text, "event: "),
            "event: a_very_long_name_of_a_library keeps order per producer");
  EXPECT_TRUE(
      says(text, "bus: pool.stealing keeps order per producer\nbus: queue keeps no order\n"));
  EXPECT_EQ(line_with(text, "fork: "),
            "fork: pool.stealing takes 100 ns in some launches, 160 ns in others");
}

TEST(LadderText, EndsWithWhatToDoNext) {
  LadderLook look = whole_look();
  look.program = "build/release/handoff";
  const std::string text = ladder_text(whole_ladder(), look);
  EXPECT_EQ(
      line_with(text, "Next"),
      "Next     build/release/handoff advise          the way that fits, and a line to paste");
  EXPECT_NE(line_with(text, "         build/release/handoff try --new mine"), "");
  EXPECT_TRUE(lines_of(text).back().starts_with("         report/index.html")) << text;
  EXPECT_NE(line_with(text, "missing  libsomething0-dev, libsomething1-dev"), "");
  EXPECT_NE(line_with(text, "Interrupted: "), "");
  const std::string bare = ladder_text(whole_ladder(), {});
  for (const char* word : {"missing", "Interrupted", "         report"}) {
    EXPECT_EQ(line_with(bare, word), "") << word;
  }
}

TEST(LadderText, IsBoldOnlyWhereItMayBe) {
  LadderLook look = whole_look();
  EXPECT_FALSE(says(ladder_text(whole_ladder(), look), "\033"));
  look.styled = true;
  EXPECT_TRUE(says(ladder_text(whole_ladder(), look), "\033[1mOn this machine"));
}

TEST(LadderText, OfRungsWithoutFiguresIsNoTrouble) {
  Ladder ladder;
  Rung rung;
  rung.name = "task";
  ladder.rungs = {rung};
  EXPECT_TRUE(line_with(ladder_text(ladder, {}), "ALONE    task").ends_with(" no peer"));
  EXPECT_TRUE(says(ladder_text({}, {}), "nothing to compare with"));
}

class Variables : public testing::Test {
 protected:
  void SetUp() override { set({}); }
  static void set(const std::vector<std::pair<const char*, const char*>>& variables) {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG", "TERM", "NO_COLOR"}) unsetenv(name);
    for (const auto& [name, value] : variables) setenv(name, value, 1);
  }
};

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
  EXPECT_NE(line_with(ladder, "On this machine a task costs 28 ns here."), "") << ladder;
  EXPECT_NE(line_with(ladder, "ALONE    task "), "");
  EXPECT_NE(line_with(ladder, "         page.html"), "");
  EXPECT_EQ(line_with(ladder, "missing"), "");
  EXPECT_FALSE(says(ladder, "99 % interval"));
  EXPECT_TRUE(is_ascii(ladder));
  EXPECT_NE(line_with(answer_text(overview(), options, {}, "Busy."), "Busy."), "");
  options.verbose = true;
  const std::string both = answer_text(overview(), options, {});
  EXPECT_TRUE(both.starts_with(ladder));
  EXPECT_TRUE(says(both, "99 % interval"));
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
