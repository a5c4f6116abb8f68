// SPDX-License-Identifier: MIT
//
// What loops learn and choose, fed with times: no clock is read here.
#include <gtest/gtest.h>

#include <array>
#include <handoff/choice/detail/choice_policy.hpp>
#include <string>
#include <vector>

namespace {

using namespace handoff;
using detail::ChoicePolicy;
using detail::HandoverCosts;
using detail::index_of;
using detail::MeasuredLoop;
using detail::SerialPieces;
using detail::WaySpeeds;

// A machine that runs loops: what each way takes for one, which may change.
struct Machine {
  double serial_ns;
  double team_fixed_ns = 3'000;
  double pool_fixed_ns = 6'000;
  WaySpeeds speeds{1, 2, 2};

  double ns(LoopWay way) const {
    if (way == LoopWay::serial) return serial_ns;
    const double fixed = way == LoopWay::team ? team_fixed_ns : pool_fixed_ns;
    return fixed + serial_ns / 2;
  }
};

// Loops of one size on such a machine.
class Runner {
 public:
  explicit Runner(const Machine& first, std::size_t count = 1000) : machine(first), count_(count) {}

  // One loop that is measured, and those before it that are not. The way that it took.
  LoopWay run() {
    const ChoicePolicy::Next next = policy.next();
    ns += (next.unmeasured + 1) * machine.ns(next.way);
    run_with(machine.ns(next.way));
    return next.way;
  }
  void run_with(double ns_of_it) {
    const ChoicePolicy::Next next = policy.next();
    calls += next.unmeasured + 1;
    ++taken.at(index_of(next.way));
    policy.note({.way = next.way,
                 .count = count_,
                 .ns = ns_of_it,
                 .spent_ns = ns_of_it,
                 .calls = next.unmeasured + 1},
                machine.speeds, costs);
  }
  void run_for(double time_ns) {
    for (const double end = ns + time_ns; ns < end;) run();
  }
  LoopChoice choice() const { return policy.choice(machine.speeds, costs); }

  Machine machine;
  ChoicePolicy policy;
  HandoverCosts costs = detail::first_guess;
  double ns = 0;
  std::size_t calls = 0;
  std::array<std::size_t, loop_way_count> taken{};

 private:
  std::size_t count_;
};

TEST(ChoicePolicy, BeginsSeriallyAndSaysThatNothingIsKnown) {
  const Runner runner({.serial_ns = 100});
  const LoopChoice choice = runner.choice();
  EXPECT_EQ(choice.way, LoopWay::serial);
  EXPECT_EQ(choice.reason, ChoiceReason::not_run);
  EXPECT_TRUE(choice.team.available && choice.pool.available);
  EXPECT_FALSE(choice.serial.measured || choice.team.measured || choice.pool.measured);
  EXPECT_TRUE(runner.policy.next().in_pieces);
  EXPECT_EQ(runner.policy.next().unmeasured, 0U);
}

TEST(ChoicePolicy, TakesTheCheapestWayOfEachLoad) {
  for (const double serial : {50.0, 1e3, 5e3, 1e4, 3e4, 1e6, 1e8}) {
    for (const double team_fixed : {500.0, 3e3, 6e4}) {
      Runner runner({.serial_ns = serial, .team_fixed_ns = team_fixed});
      runner.run_for(std::max(100e6, 50 * serial));
      runner.ns = 0;
      runner.calls = 0;
      runner.run_for(std::max(400e6, 200 * serial));
      const Machine& machine = runner.machine;
      const double best = std::min(
          {machine.ns(LoopWay::serial), machine.ns(LoopWay::team), machine.ns(LoopWay::pool)});
      const double mean = runner.ns / static_cast<double>(runner.calls);
      EXPECT_LT(mean, 1.05 * best) << serial << " " << team_fixed;
      if (machine.serial_ns <= best) {
        EXPECT_LT(mean, best + std::max(100.0, 0.02 * best));
      }
    }
  }
}

// What is not measured lasts 250 us together: of 100 times the load a quarter of 100 ms.
TEST(ChoicePolicy, ShortLoopsAreSeldomMeasured) {
  const auto after = [](double serial_ns, int loops) {
    Runner runner({.serial_ns = serial_ns, .speeds = {1, 0, 0}});
    for (int i = 0; i < loops; ++i) runner.run();
    return runner.policy.next();
  };
  EXPECT_EQ(after(100, 1).unmeasured, 0U);
  EXPECT_EQ(after(100, 3).unmeasured, 8U);
  EXPECT_NEAR(after(100, 20).unmeasured, 2'500, 1);
  EXPECT_EQ(after(1, 20).unmeasured, 4'095U);
  EXPECT_NEAR(after(1'000, 20).unmeasured, 250, 1);
  EXPECT_NEAR(after(50'000, 20).unmeasured, 5, 1);
  EXPECT_FALSE(after(50'000, 20).in_pieces);
}

// Of what is gained by a handing over that wakes no thread, now and then more is lost.
TEST(ChoicePolicy, LessThanAMicrosecondIsNotGained) {
  Runner runner({.serial_ns = 2'000, .team_fixed_ns = 0, .pool_fixed_ns = 0});
  runner.run_for(100e6);
  EXPECT_EQ(runner.taken[1] + runner.taken[2], 0U);
  runner.machine.serial_ns = 3'500;
  runner.run_for(100e6);
  EXPECT_GT(runner.taken[1], 0U);
}

// What a serial loop takes is a guess while its rest is handed over. The first whole one counts.
TEST(ChoicePolicy, AGuessIsReplacedByAMeasurement) {
  const WaySpeeds speeds{1, 2, 0};
  HandoverCosts costs{0, 200'000, 0};  // so the team is not tried
  ChoicePolicy policy;
  policy.note({.count = 10,
               .ns = 100'000,
               .spent_ns = 200'000,
               .rest_ns = 90'000,
               .handed_over_ns = 190'000},
              speeds, costs);
  EXPECT_NEAR(policy.predicted(LoopWay::serial, 10, speeds, costs), 100'000, 1);
  policy.note({.count = 10, .ns = 140'000, .spent_ns = 140'000}, speeds, costs);
  EXPECT_NEAR(policy.predicted(LoopWay::serial, 10, speeds, costs), 140'000, 1);
}

TEST(ChoicePolicy, WhatIsHandedOverIsNotAlwaysMeasuredEither) {
  Runner runner({.serial_ns = 60'000, .speeds = {1, 2, 0}});
  const auto is_seldom = [&runner] {
    const ChoicePolicy::Next next = runner.policy.next();
    return next.way == LoopWay::team && next.unmeasured >= 7;
  };
  for (int i = 0; i < 1000 && !is_seldom(); ++i) runner.run();
  EXPECT_TRUE(is_seldom());
}

TEST(ChoicePolicy, ASerialLoopThatIsLongIsMeasuredAlwaysAndInPieces) {
  Runner runner({.serial_ns = 500'000, .speeds = {1, 0, 0}});
  for (int i = 0; i < 100; ++i) runner.run();
  EXPECT_EQ(runner.taken[0], 100U);
  EXPECT_EQ(runner.policy.next().unmeasured, 0U);
  EXPECT_TRUE(runner.policy.next().in_pieces);
  EXPECT_EQ(runner.choice().reason, ChoiceReason::only_way);
  EXPECT_FALSE(runner.choice().team.available);
}

// It need not wait for a second look, which takes as long.
TEST(ChoicePolicy, AfterALongFirstLoopAnotherWayIsTriedAtOnce) {
  Runner runner({.serial_ns = 10e6});
  EXPECT_EQ(runner.run(), LoopWay::serial);
  EXPECT_EQ(runner.policy.next().way, LoopWay::team);
}

// Waves of a load that grows: a light one in one way says nothing against the other ways.
TEST(ChoicePolicy, LoopsThatDifferAreNoDrift) {
  Runner runner({.serial_ns = 1e6});
  unsigned drifts = 0;
  for (int i = 0; i < 400; ++i) {
    const std::array<double, 5> waves{0.2, 0.6, 1.0, 1.4, 1.8};
    runner.machine.serial_ns = 1e6 * waves.at(static_cast<std::size_t>(i) % waves.size());
    runner.run();
    if (i > 20 && runner.choice().reason == ChoiceReason::drifted) ++drifts;
  }
  EXPECT_EQ(drifts, 0U);
  EXPECT_LT(runner.taken[0], 20U);
}

// What is known of the other ways moves with a load that changes slowly.
TEST(ChoicePolicy, ALoadThatGrowsSlowlyGrowsInAllWays) {
  Runner runner({.serial_ns = 200'000});
  runner.run_for(50e6);
  while (runner.choice().reason != ChoiceReason::cheapest) runner.run();
  const LoopChoice before = runner.choice();
  ASSERT_EQ(before.way, LoopWay::team);
  runner.machine.serial_ns *= 1.3;
  runner.machine.team_fixed_ns *= 1.3;
  runner.machine.pool_fixed_ns *= 1.3;
  for (int i = 0; i < 30; ++i) runner.run();
  const LoopChoice after = runner.choice();
  EXPECT_NEAR(after.serial.ns / before.serial.ns, after.team.ns / before.team.ns, 0.05);
  EXPECT_GT(after.serial.ns, 1.2 * before.serial.ns);
}

// A rest that took longer than it was to take here is kept, unless the load is another one.
TEST(ChoicePolicy, AHandOverThatDidNotPayIsNotRepeated) {
  const WaySpeeds speeds{1, 2, 0};
  HandoverCosts costs = detail::first_guess;
  ChoicePolicy policy;
  const auto note = [&](double handed_over_ns) {
    policy.note({.way = LoopWay::serial,
                 .count = 100,
                 .ns = 100'000,
                 .spent_ns = 10'000 + handed_over_ns,
                 .rest_ns = 90'000,
                 .handed_over_ns = handed_over_ns},
                speeds, costs);
  };
  note(50'000);
  EXPECT_TRUE(policy.serial_plan(speeds, costs).offer.pays(90'000));
  note(150'000);
  EXPECT_FALSE(policy.serial_plan(speeds, costs).offer.pays(90'000));
  EXPECT_TRUE(policy.serial_plan(speeds, costs).offer.pays(10e6));
}

// The first loop of a way wakes threads: it does not decide.
TEST(ChoicePolicy, AWayIsTriedSeveralTimesInARow) {
  Runner runner({.serial_ns = 20'000});
  while (runner.policy.next().way == LoopWay::serial) runner.run();
  EXPECT_EQ(runner.policy.next().way, LoopWay::team);  // predicted below the pool
  EXPECT_EQ(runner.choice().reason, ChoiceReason::checking);
  runner.run_with(90'000);
  for (double ns = 90'000; ns < 400'000; ns += 13'000) {
    EXPECT_EQ(runner.policy.next().way, LoopWay::team);
    runner.run();
  }
  const LoopChoice choice = runner.choice();
  EXPECT_EQ(choice.way, LoopWay::team);
  EXPECT_EQ(choice.reason, ChoiceReason::cheapest);
  EXPECT_TRUE(choice.team.measured && choice.serial.measured);
  EXPECT_NEAR(choice.team.ns, 13'000, 1);
  EXPECT_NEAR(choice.serial.ns, 20'000, 1);
  EXPECT_EQ(choice.calls_since_checked, 0U);
}

// An outlier at its end does not decide either.
TEST(ChoicePolicy, OfATryTheMiddleCounts) {
  Runner runner({.serial_ns = 20'000});
  while (runner.policy.next().way == LoopWay::serial) runner.run();
  for (const double ns : {90e3, 12e3, 14e3, 300e3}) runner.run_with(ns);
  EXPECT_NEAR(runner.choice().team.ns, 14'000, 1);
}

TEST(ChoicePolicy, ALongLoopIsTriedOnce) {
  Runner runner({.serial_ns = 10e6});
  while (runner.policy.next().way == LoopWay::serial) runner.run();
  runner.run();
  EXPECT_TRUE(runner.choice().team.measured);
  EXPECT_NE(runner.choice().reason, ChoiceReason::checking);
}

// A team that was predicted to pay, and does not: serial again, and rarely tried.
TEST(ChoicePolicy, AWrongPredictionIsCorrectedAndPaidFor) {
  Runner runner({.serial_ns = 30'000, .team_fixed_ns = 400'000, .pool_fixed_ns = 400'000});
  runner.run_for(1e9);
  EXPECT_EQ(
      runner.choice().way == LoopWay::serial || runner.choice().reason == ChoiceReason::checking,
      true);
  EXPECT_LT(runner.ns / static_cast<double>(runner.calls), 1.02 * 30'000);
  EXPECT_GT(runner.taken[1], 4U);  // but not never again
}

TEST(ChoicePolicy, ALoadThatBecomesHeavierIsFoundIn100ms) {
  for (const double before : {100.0, 1e3, 1e4, 1e5}) {
    Runner runner({.serial_ns = before});
    runner.run_for(50e6);
    runner.machine.serial_ns = 100 * before;
    runner.run_for(100e6);
    const std::size_t serial = runner.taken[0];
    for (int i = 0; i < 10; ++i) runner.run();
    const double gain = runner.machine.ns(LoopWay::team) / runner.machine.serial_ns;
    if (gain < 0.9) {
      EXPECT_EQ(runner.taken[0], serial) << before;
    }
  }
}

TEST(ChoicePolicy, ALoadThatBecomesLighterIsFoundIn100ms) {
  for (const double before : {1e5, 5e5, 1e6, 1e7}) {
    Runner runner({.serial_ns = before});
    runner.run_for(std::max(50e6, 20 * before));
    EXPECT_NE(runner.policy.next().way, LoopWay::serial) << before;
    runner.machine.serial_ns = before / 100;
    runner.run_for(100e6);
    runner.taken = {};
    for (int i = 0; i < 10; ++i) runner.run();
    if (runner.machine.serial_ns < 0.9 * runner.machine.ns(LoopWay::team)) {
      EXPECT_GE(runner.taken[0], 6U) << before;
    }
  }
}

TEST(ChoicePolicy, ADriftForgetsTheOtherWaysAndSaysSo) {
  Runner runner({.serial_ns = 2'000});
  runner.run_for(50e6);
  while (runner.policy.next().way != LoopWay::serial) runner.run();
  runner.machine.serial_ns = 8'000;
  for (int disturbed = 0; disturbed < 2; ++disturbed) {
    runner.run();
    EXPECT_NE(runner.choice().reason, ChoiceReason::drifted);
    EXPECT_EQ(runner.policy.next().unmeasured, 0U);  // so it looks again at once
  }
  runner.run();
  EXPECT_EQ(runner.choice().reason, ChoiceReason::drifted);
  EXPECT_NEAR(runner.choice().serial.ns, 8'000, 1);
  EXPECT_FALSE(runner.choice().team.measured);
}

// A loop of nanoseconds is as long as the grain of a clock.
TEST(ChoicePolicy, NanosecondsAreNoDrift) {
  Runner runner({.serial_ns = 40});
  for (int i = 0; i < 10; ++i) runner.run();
  runner.machine.serial_ns = 160;
  for (int i = 0; i < 10; ++i) runner.run();
  EXPECT_NE(runner.choice().reason, ChoiceReason::drifted);
  EXPECT_GE(runner.policy.next().unmeasured, 1'000U);
}

TEST(ChoicePolicy, ASingleDisturbanceChangesLittle) {
  Runner runner({.serial_ns = 20'000});
  runner.run_for(50e6);
  while (runner.policy.next().way != LoopWay::team ||
         runner.choice().reason != ChoiceReason::cheapest) {
    runner.run();
  }
  const double before = runner.choice().team.ns;
  runner.run_with(5e6);
  EXPECT_LT(runner.choice().team.ns, 1.1 * before);
  EXPECT_TRUE(runner.choice().serial.measured);
  runner.run();
  runner.run_with(5e6);
  EXPECT_TRUE(runner.choice().serial.measured);
}

TEST(ChoicePolicy, ALoopOfAnotherThreadsOlderChoiceIsNotTakenForThisOne) {
  Runner runner({.serial_ns = 20'000});
  while (runner.policy.next().way == LoopWay::serial) runner.run();
  const double serial = runner.choice().serial.ns;
  runner.policy.note({.way = LoopWay::serial, .count = 1000, .ns = 1e9, .spent_ns = 1e9},
                     runner.machine.speeds, runner.costs);
  EXPECT_EQ(runner.choice().serial.ns, serial);
  runner.policy.note({.way = LoopWay::team, .count = 0}, runner.machine.speeds, runner.costs);
  EXPECT_EQ(runner.choice().count, 1000U);
}

TEST(ChoicePolicy, AWayThatThereIsNotIsNeverTaken) {
  for (const WaySpeeds& speeds : {WaySpeeds{1, 2, 0}, WaySpeeds{1, 0, 2}}) {
    Runner runner({.serial_ns = 1e6, .speeds = speeds});
    runner.run_for(1e9);
    EXPECT_EQ(runner.taken[1] == 0, speeds[1] == 0);
    EXPECT_EQ(runner.taken[2] == 0, speeds[2] == 0);
  }
}

TEST(ChoicePolicy, PredictsByWhatItHasMeasured) {
  Runner runner({.serial_ns = 100'000});
  const auto predicted = [&](LoopWay way) {
    return runner.policy.predicted(way, 1000, runner.machine.speeds, runner.costs);
  };
  EXPECT_EQ(predicted(LoopWay::serial), 0);
  EXPECT_EQ(predicted(LoopWay::team), 0);
  runner.run();
  EXPECT_NEAR(predicted(LoopWay::serial), 100'000, 1);
  EXPECT_NEAR(predicted(LoopWay::team), 55'000, 1);  // the first guess
  EXPECT_NEAR(predicted(LoopWay::pool), 58'000, 1);
  runner.run_for(50e6);
  EXPECT_NEAR(predicted(LoopWay::team), 53'000, 600);
  EXPECT_LT(runner.costs[1], 4'900);  // towards the machine's 3 us
}

// ---- Pieces -------------------------------------------------------------------------------------

constexpr detail::HandoverOffer offer{.way = LoopWay::team, .fixed_ns = 5'000, .speed = 2};

struct Pieces {
  std::vector<IndexRange> ranges;
  bool handed_over = false;
  std::size_t done = 0;
  double serial_ns = 0;
};

// Runs pieces; `ns_of(i)` is what index i takes.
template <class NsOf>
Pieces run_pieces(std::size_t count, const detail::SerialPlan& plan, const NsOf& ns_of,
                  std::size_t least = 0, bool may_stop = false) {
  SerialPieces pieces(count, least, plan, may_stop);
  Pieces all;
  while (!pieces.piece().empty() && !all.handed_over) {
    const IndexRange piece = pieces.piece();
    EXPECT_EQ(piece.first, all.done);
    EXPECT_LE(piece.last, count);
    all.ranges.push_back(piece);
    all.done = piece.last;
    double ns = 0;
    for (const std::size_t i : piece) ns += ns_of(i);
    all.handed_over = !pieces.note(ns);
  }
  EXPECT_EQ(pieces.done(), all.done);
  all.serial_ns = pieces.serial_ns();
  return all;
}

TEST(SerialPieces, OfAnUnknownLoadDouble) {
  const Pieces all = run_pieces(100, {.offer = offer}, [](std::size_t) { return 10.0; });
  EXPECT_FALSE(all.handed_over);
  EXPECT_EQ(all.done, 100U);
  ASSERT_GE(all.ranges.size(), 4U);
  EXPECT_EQ(all.ranges[0].size(), 1U);
  EXPECT_EQ(all.ranges[1].size(), 2U);
  EXPECT_EQ(all.ranges[2].size(), 4U);
  EXPECT_NEAR(all.serial_ns, 1000, 1);
}

TEST(SerialPieces, AHeavyLoadIsHandedOverAfterTheFirst) {
  const Pieces all = run_pieces(100, {.offer = offer}, [](std::size_t) { return 1e5; });
  EXPECT_TRUE(all.handed_over);
  EXPECT_EQ(all.done, 1U);
  EXPECT_NEAR(all.serial_ns, 1e7, 1);
}

// Cheap first, dear at the end.
TEST(SerialPieces, ATailIsHandedOver) {
  constexpr std::size_t count = 100'000;
  const auto ns_of = [](std::size_t i) { return i < count / 2 ? 1.0 : 1000.0; };
  const Pieces all = run_pieces(count, {.index_ns = 1, .offer = offer}, ns_of);
  EXPECT_TRUE(all.handed_over);
  EXPECT_LT(all.done, count * 9 / 10);
}

TEST(SerialPieces, AShortLoopThatIsKnownIsOnePiece) {
  const auto ns_of = [](std::size_t) { return 10.0; };
  EXPECT_EQ(run_pieces(1000, {.index_ns = 10, .offer = offer}, ns_of).ranges.size(), 1U);
  EXPECT_GT(run_pieces(1000, {.index_ns = 10}, ns_of, 0, true).ranges.size(), 2U);  // may stop
  EXPECT_EQ(run_pieces(1, {}, ns_of).ranges.size(), 1U);
  EXPECT_TRUE(run_pieces(0, {}, ns_of).ranges.empty());
}

TEST(SerialPieces, NobodyToHandOverTo) {
  const Pieces all = run_pieces(1000, {}, [](std::size_t) { return 1e5; });
  EXPECT_FALSE(all.handed_over);
  EXPECT_EQ(all.done, 1000U);
}

// What is left took longer than foreseen: if it took long, it was heavier, else threads were woken.
TEST(SerialPieces, WhatWasHandedOverSaysWhatSerialWouldTake) {
  SerialPieces pieces(11, 0, {.offer = offer});
  ASSERT_FALSE(pieces.note(100'000));
  EXPECT_NEAR(pieces.serial_ns(), 1'100'000, 1);
  EXPECT_NEAR(pieces.serial_ns(600'000), 1'100'000, 1);
  EXPECT_NEAR(pieces.serial_ns(300'000), 700'000, 1);  // less than two could do
  EXPECT_NEAR(pieces.serial_ns(4e6), 8.1e6, 1);
  SerialPieces shorter(11, 0, {.offer = offer});
  ASSERT_FALSE(shorter.note(10'000));
  EXPECT_NEAR(shorter.serial_ns(300'000), 110'000, 1);
}

TEST(SerialPieces, HaveTheLeastSizeThatIsAskedFor) {
  const Pieces all = run_pieces(1000, {}, [](std::size_t) { return 1e5; }, 64);
  for (const IndexRange piece : all.ranges) {
    EXPECT_TRUE(piece.size() >= 64 || piece.last == 1000);
  }
}

// A clock that stands still must not stop the loop.
TEST(SerialPieces, AClockThatStandsStill) {
  const Pieces all = run_pieces(1000, {.offer = offer}, [](std::size_t) { return 0.0; });
  EXPECT_EQ(all.done, 1000U);
  EXPECT_LT(all.ranges.size(), 20U);
}

// ---- Words --------------------------------------------------------------------------------------

TEST(LoopChoice, IsALineForALog) {
  LoopChoice choice;
  EXPECT_EQ(to_string(choice), "serial, no loop was measured yet");
  choice.way = LoopWay::team;
  choice.reason = ChoiceReason::cheapest;
  choice.count = 500;
  choice.serial = {.available = true, .measured = true, .ns = 98'000};
  choice.team = {.available = true, .measured = true, .ns = 5.24e7};
  choice.pool = {.available = true, .measured = false, .ns = 1'250};
  choice.calls_since_checked = 12;
  EXPECT_EQ(to_string(choice),
            "team, the cheapest, for 500 indices; serial 98 us; team 52 ms; pool about 1.2 us; "
            "checked 12 loops ago");
  choice.pool.ns = 3e9;
  choice.team.ns = 12;
  choice.serial.available = false;
  EXPECT_EQ(to_string(choice),
            "team, the cheapest, for 500 indices; team 12 ns; pool about 3.0 s; "
            "checked 12 loops ago");
}

TEST(LoopChoice, NamesAreThoseOfTheEnumerators) {
  EXPECT_STREQ(to_string(LoopWay::serial), "serial");
  EXPECT_STREQ(to_string(LoopWay::team), "team");
  EXPECT_STREQ(to_string(LoopWay::pool), "pool");
  EXPECT_STREQ(to_string(static_cast<LoopWay>(9)), "no LoopWay");
  EXPECT_STREQ(to_string(ChoiceReason::not_run), "not_run");
  EXPECT_STREQ(to_string(ChoiceReason::only_way), "only_way");
  EXPECT_STREQ(to_string(ChoiceReason::cheapest), "cheapest");
  EXPECT_STREQ(to_string(ChoiceReason::checking), "checking");
  EXPECT_STREQ(to_string(ChoiceReason::drifted), "drifted");
  EXPECT_STREQ(to_string(static_cast<ChoiceReason>(9)), "no ChoiceReason");
  for (const auto reason : {ChoiceReason::only_way, ChoiceReason::checking, ChoiceReason::drifted,
                            static_cast<ChoiceReason>(9)}) {
    EXPECT_GT(to_string(LoopChoice{.reason = reason}).size(), 10U);
  }
}

}  // namespace
