// SPDX-License-Identifier: MIT
//
// Tasks that begin later: at their moment, once or again and again, called off, closed. Nothing
// here asks how late a task was, but that none is early, and that none is lost.
#include <time.h>

#include <iostream>

#include "support/failing.hpp"
#include "support/test.hpp"
#include "unit/pool/modes.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;

class TimerTest : public test::ModeTest {};
HANDOFF_EACH_MODE(TimerTest);

template <class Condition>
void until(Condition&& condition) {
  while (!condition()) std::this_thread::sleep_for(100us);
}

TEST_P(TimerTest, OneThreadMoreAndOnlyWhenNeeded) {
  const auto started = [] { return test::calls(test::Call::thread); };
  const std::size_t before = started();
  ThreadPool pool(options(1));
  EXPECT_EQ(started(), before + 1);
  for (int i = 0; i < 3; ++i) (void)pool.post_after(1h, [] {});
  EXPECT_EQ(started(), before + 2);
}

// No call to the kernel while nothing is due, nor for what comes after the earliest.
TEST_P(TimerTest, SleepsUntilTheMoment) {
  ThreadPool pool(options(1));
  (void)pool.post_after(1h, [] {});
  const auto sleeps = [] { return test::calls(test::Call::futex); };
  std::size_t before = sleeps();
  for (int quiet = 0; quiet < 3; ++quiet) {  // until all have fallen asleep
    std::this_thread::sleep_for(20ms);
    if (sleeps() != before) quiet = 0;
    before = sleeps();
  }
  const std::size_t wakes = test::calls(test::Call::wake);
  for (int i = 0; i < 10; ++i) (void)pool.post_after(2h, [] {});
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(sleeps(), before);
  EXPECT_EQ(test::calls(test::Call::wake), wakes);
}

TEST_P(TimerTest, ACancelThatWaitsWaitsForOnErrorToo) {
  std::atomic<bool> begun{false};
  std::atomic<bool> cancelled{false};
  std::atomic<bool> over{false};
  ThreadPoolOptions given = options(1);
  given.on_error = [&](const TaskFailure& failure) {
    EXPECT_STREQ(failure.task, "beat");
    begun = true;
    until([&] { return cancelled.load(); });
    std::this_thread::sleep_for(20ms);
    over = true;
  };
  ThreadPool pool(given);
  TimerHandle beat = pool.post_every(1ms, [] { throw 1; }, {.name = "beat"});
  until([&] { return begun.load(); });
  cancelled = true;
  EXPECT_TRUE(beat.cancel_and_wait());
  EXPECT_TRUE(over);
}

// An hour forth or back in the middle: an hour early or late would be seen.
TEST_P(TimerTest, StepsOfTheWallClockChangeNothing) {
  const auto wall_clock = [] {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec;
  };
  for (const std::int64_t step : {3600, -3600}) {
    std::atomic<sync::Deadline> began{sync::Deadline{}};
    std::atomic<int> runs{0};
    ThreadPool pool(options(2));
    const std::size_t uses = test::uses_of_wall_clock();
    const sync::Deadline moment = sync::deadline_after(40ms);
    (void)pool.post_at(moment, [&] { began = sync::clock::now(); });
    TimerHandle series = pool.post_every(5ms, [&] { ++runs; });
    until([&] { return runs >= 2; });
    EXPECT_EQ(test::uses_of_wall_clock(), uses) << "nobody looks at it";
    const auto before = wall_clock();
    test::step_wall_clock(step);
    const auto stepped = wall_clock() - before - step;
    EXPECT_TRUE(stepped >= 0 && stepped < 1800) << "the clock did jump";
    const int runs_before = runs;
    until([&] { return began.load() != sync::Deadline{} && runs >= runs_before + 2; });
    const auto late = began.load() - moment;
    test::step_wall_clock(-step);
    EXPECT_GE(late, 0ns);
    EXPECT_LT(late, 60s);
    std::cout << "stepped by " << step << " s: late by "
              << std::chrono::duration<double, std::milli>(late).count() << " ms\n";
  }
}

}  // namespace
