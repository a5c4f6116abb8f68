// SPDX-License-Identifier: MIT
// The ladder as a picture: what it says, also to those who cannot see it, and where it draws.
#include <nlohmann/json.hpp>

#include "report/ladder_svg.hpp"
#include "report/ladder_words.hpp"
#include "report/text_room.hpp"
#include "texts.hpp"

namespace ladder_svg_test { namespace {

using namespace handoff::lab;

RungWay way(const char* contender, double ns) { return {contender, ns, 0.98 * ns, 1.02 * ns}; }

Rung rung(const char* title, double own, double peer, Word word) {
  Rung made;
  made.title = title;
  made.own = way("own.pool.stealing", own);
  made.peer = way("peer.onetbb", peer);
  made.answer = Answer{own / peer, {0.9 * own / peer, 1.1 * own / peer}, word};
  made.parameters["width"] = ParameterValue::of(2);
  return made;
}

Ladder ladder() {
  Ladder made;
  made.rungs = {rung("a task <nobody> waits for", 28, 155, Word::faster),
                rung("a fork", 40, 41, Word::about_equal), rung("a ping", 9000, 8000, Word::slower),
                rung("a thread", 21'000, 23'000, Word::not_known)};
  made.rungs[2].latency = true;
  made.rungs[0].today = way("peer.std_async", 8100);
  made.rungs[0].limit = way("limit.ring", 4);
  made.grey = {{"a system call", 120}, {"a cache miss", 95}};
  made.sentence = "On this machine a task costs 28 ns here, 155 in oneTBB.";
  made.peers = {"oneTBB 2021.8"};
  return made;
}

const LadderContext context{"EPYC & Co, 2 CPUs", "2", "KVM", "2026-11-25", "GNU 12.2.0", "0.1.0"};

TEST(LadderSvg, HasAMarkForEachWayAndADiamondForALatency) {
  for (const LadderForm form : {LadderForm::narrow, LadderForm::wide}) {
    const std::string svg = ladder_svg(ladder(), context, form);
    EXPECT_EQ(times_in(svg, "class=\"rung"), 4U);
    EXPECT_EQ(times_in(svg, "class=\"mark own\""), 4U + 1);  // and one in the legend
    EXPECT_EQ(times_in(svg, "class=\"ring peer\""), 4U + 1);
    EXPECT_EQ(times_in(svg, "class=\"ring today\""), 1U + 1);
    EXPECT_EQ(times_in(svg, "class=\"ring limit\""), 1U + 1);
    Ladder of_many = ladder();
    of_many.rungs[2].latency = false;
    EXPECT_NE(ladder_svg(of_many, context, form), svg);
  }
}

TEST(LadderSvg, MarksStandInTheOrderOfTheirTimes) {
  const std::string svg = ladder_svg(ladder(), context, LadderForm::narrow);
  const std::string drawn = svg.substr(svg.find("class=\"rung"));
  const std::string own = "class=\"mark own\" d=\"M";
  std::vector<double> places;
  for (auto at = drawn.find(own); at != std::string::npos; at = drawn.find(own, at + 1)) {
    places.push_back(std::stod(drawn.substr(at + own.size())));
  }
  ASSERT_EQ(places.size(), 4U);
  EXPECT_TRUE(std::is_sorted(places.begin(), places.end()));
}

TEST(LadderSvg, WhatHasNoRoomIsLeftOutAndNotCut) {
  Ladder of_long = ladder();
  for (Rung& each : of_long.rungs) each.peer = way("peer.onetbb_concurrent_queue_of_many_words", 8);
  for (const LadderForm form : {LadderForm::narrow, LadderForm::wide}) {
    const std::string svg = ladder_svg(of_long, context, form);
    EXPECT_TRUE(says(svg, "x faster<"));
    EXPECT_FALSE(says(svg, "x faster than onetbb concurrent"));
    EXPECT_FALSE(says(svg, "\xE2\x80\xA6"));
  }
}

TEST(LadderSvg, SaysWhatItShows) {
  for (const LadderForm form : {LadderForm::narrow, LadderForm::wide}) {
    const std::string svg = ladder_svg(ladder(), context, form);
    for (const char* words :
         {"a task &lt;nobody&gt; waits for", "5.5x faster than onetbb", "155 ns", "28.0 ns",
          "about equal to onetbb", "slower than onetbb", "onetbb: 1.00x .. 1.22x as fast",
          "a cache miss 95.0 ns", "a system call 120 ns", "EPYC &amp; Co, 2 CPUs", "2 threads,",
          "virtual (KVM)", "measured 2026-11-25", "GNU 12.2.0", "handoff 0.1.0", "oneTBB 2021.8",
          ">100 ns<", ">10 us<"}) {
      std::string lower = svg;
      std::string wanted = words;
      for (std::string* text : {&lower, &wanted}) {
        std::transform(text->begin(), text->end(), text->begin(), ::tolower);
      }
      EXPECT_TRUE(says(lower, wanted));
    }
    EXPECT_FALSE(says(svg, "<script"));
  }
}

TEST(LadderSvg, ItsTextSaysWhatATaskCostsHereAndInOneTbb) {
  const std::string text = ladder_in_words(ladder());
  for (const char* words :
       {"On this machine a task costs 28 ns here, 155 in oneTBB.",
        "A task <nobody> waits for: 28.0 ns here, 155 ns in oneTBB, 5.5x faster (5.0 .. 6.2).",
        "A ping: 9.00 us here, 8.00 us in oneTBB, 1.12x slower (1.01 .. 1.24).",
        "A thread: 21.0 us here, 23.0 us in oneTBB, 1.00x .. 1.22x as fast."}) {
    EXPECT_TRUE(says(text, words));
  }
  for (const std::string& svg :
       {ladder_svg(ladder(), context), ladder_svg(ladder(), context, LadderForm::wide)}) {
    EXPECT_TRUE(says(svg, "role=\"img\""));
    EXPECT_TRUE(says(svg, "A ping: 9.00 us here, 8.00 us in oneTBB"));
  }
}

TEST(LadderSvg, AloneItHasItsColoursItsSentenceAndWhatDisturbedIt) {
  Ladder busy = ladder();
  busy.busy = "Other programs took 0.9 of 2 CPUs.";
  const std::string svg = ladder_svg(busy, context);
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  for (const char* part :
       {"<desc>", "prefers-color-scheme: dark", ">Other programs took 0.9 of 2 CPUs.</text>",
        ">On this machine a task costs 28 ns here,"}) {
    EXPECT_TRUE(says(svg, part));
  }
  EXPECT_FALSE(says(ladder_svg(ladder(), context), "Other programs"));
}

TEST(LadderSvg, WhatWasNotMeasuredIsNotDrawn) {
  Ladder made = ladder();
  made.rungs = {made.rungs[0], made.rungs[1]};
  made.rungs[0].own.reset();
  made.rungs[0].answer.reset();
  made.rungs[1].peer.reset();
  made.rungs[1].answer.reset();
  const std::string svg = ladder_svg(made, context, LadderForm::wide);
  EXPECT_EQ(times_in(svg, "class=\"mark own\""), 1U + 1);
  EXPECT_EQ(times_in(svg, "class=\"ring peer\""), 1U + 1);
  EXPECT_TRUE(says(svg, ">not measured"));
  EXPECT_TRUE(says(svg, ">no peer<"));
  EXPECT_FALSE(says(svg, "nan"));
  EXPECT_TRUE(says(ladder_svg(Ladder{}, LadderContext{}, LadderForm::narrow), "</svg>"));
}

constexpr const char* dagger = "\u2020";

TEST(LadderSvg, AQueueThatKeepsLessThanOneOrderHasASignWhichTheLegendTells) {
  for (const LadderForm form : {LadderForm::narrow, LadderForm::wide}) {
    Ladder made = ladder();
    made.rungs.resize(1);
    EXPECT_FALSE(says(ladder_svg(made, context, form), dagger));
    made.rungs[0].own->order = "per producer";
    made.rungs[0].peer->order = "none";
    const std::string svg = ladder_svg(made, context, form);
    for (const char* part :
         {">\u2020</text><text x=\"16\" y=\"4\">order per producer<",
          ">\u2021</text><text x=\"16\" y=\"4\">no order<",
          form == LadderForm::wide ? "pool.stealing\u2020" : "28.0 ns\u2020<", "oneTBB\u2021"}) {
      EXPECT_TRUE(says(svg, part));
    }
  }
}

TEST(LadderSvg, AnotherWayOfThisLibraryStandsBesideTheBestAndIsNoPeer) {
  for (const LadderForm form : {LadderForm::narrow, LadderForm::wide}) {
    Ladder made = ladder();
    made.rungs[0].today.reset();
    made.rungs[0].named = {way("own.pool.stealing", 28), way("own.pool.fixed", 31)};
    const std::string svg = ladder_svg(made, context, form);
    EXPECT_EQ(times_in(svg, "class=\"ring named own\""), 1U);
    EXPECT_EQ(times_in(svg, "class=\"mark own\""), 4U + 1);
    EXPECT_TRUE(says(svg, "pool.fixed 31.0 ns</text>"));
    EXPECT_TRUE(says(svg, "another way of this library: pool.fixed 31.0 ns ("));
    EXPECT_TRUE(says(svg, ", 31.0 ns in pool.fixed,")) << "the words";
    EXPECT_TRUE(says(ladder_svg(made, context, form), "oneTBB 2021.8"));
  }
}

TEST(LadderSvg, TheFiguresOfAllWaysHaveRoomOnADesk) {
  Ladder made = ladder();
  made.rungs.resize(1);
  made.rungs[0].peer = way("peer.enkits", 99.8);
  made.rungs[0].named = {way("peer.onetbb", 155)};
  made.rungs[0].today = way("peer.mutex_pool", 412);
  EXPECT_TRUE(says(ladder_svg(made, context, LadderForm::wide),
                   ">99.8 ns; oneTBB 155 ns; a mutex pool 412 ns<"));
  made.rungs[0].named.clear();
  EXPECT_TRUE(
      says(ladder_svg(made, context, LadderForm::wide), ">99.8 ns there; a mutex pool 412 ns<"));
}

TEST(LadderSvg, OnlyAWideIntervalIsDrawn) {
  Ladder made = ladder();
  made.rungs.resize(1);
  const auto whiskers = [&] {
    return times_in(ladder_svg(made, context, LadderForm::wide), "class=\"whisker\"");
  };
  EXPECT_EQ(whiskers(), 0U);
  made.rungs[0].own->high = 100;
  EXPECT_EQ(whiskers(), 1U + 1);  // and the legend's
  EXPECT_TRUE(says(ladder_svg(made, context, LadderForm::wide), "28.0 ns (27.4 ns .. 100 ns)"));
  made.rungs[0].own->high = 1e7;
  EXPECT_EQ(interval_of(*made.rungs[0].own), "not stable");
}

TEST(LadderContextTest, KnowsTheMachine) {
  const Environment environment(nlohmann::json{{"date", "2026-11-25T12:00:00Z"},
                                               {"cpu", {{"model", "Model 1"}}},
                                               {"budget", {{"width", 4}}},
                                               {"hypervisor", "none"},
                                               {"compiler", "GNU 12.2.0"},
                                               {"handoff", {{"version", "0.1.0"}}}});
  const LadderContext found = context_of(environment, ladder());
  EXPECT_EQ(found.machine, "Model 1, 4 CPUs");
  EXPECT_EQ(found.threads, "2");
  EXPECT_EQ(found.hypervisor, "none");
  EXPECT_EQ(found.date, "2026-11-25");
}

TEST(TextRoom, CutsAndWrapsToTheRoom) {
  EXPECT_EQ(fitted("short", 100, 10), "short");
  const std::string cut = fitted("a rather long text", 60, 10);
  EXPECT_TRUE(cut.ends_with("\xE2\x80\xA6"));
  EXPECT_LE(room_of(cut, 10), 60);
  EXPECT_TRUE(
      fitted("\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4", 35, 10).starts_with("\xC3\xA4\xC3\xA4\xE2"));
  const std::vector<std::string> lines = wrapped("one two three four", 60, 10);
  ASSERT_GT(lines.size(), 1U);
  std::string all;
  for (const std::string& line : lines) {
    EXPECT_LE(room_of(line, 10), 60);
    all += (all.empty() ? "" : " ") + line;
  }
  EXPECT_EQ(all, "one two three four");
}

}}  // namespace ladder_svg_test
