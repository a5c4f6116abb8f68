// SPDX-License-Identifier: MIT
//
// Tasks that begin later: at their moment, once or again and again, called off, closed. Nothing
// here asks how late a task was, but that none is early, and that none is lost.
#include <time.h>

#include <handoff/core/not_run.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <iostream>

#include "support/failing.hpp"
#include "support/support.hpp"
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

TEST_P(TimerTest, BeginsAtItsMomentAndNotBefore) {
  ThreadPool pool(options(2));
  std::atomic<int> ran{0};
  std::atomic<int> early{0};
  for (const auto delay : {20ms, 0ms, 5ms, 10ms, -1000ms, 1ms}) {
    const sync::Deadline moment = sync::clock::now() + delay;
    (void)pool.post_at(moment, [&, moment] {
      if (sync::clock::now() < moment) ++early;
      ++ran;
    });
  }
  (void)pool.post_after(15ms, [&] { ++ran; });
  until([&] { return ran == 7; });
  EXPECT_EQ(early, 0);
  const Tally tally = pool.close();
  EXPECT_EQ(tally.accepted, 7U);
  EXPECT_EQ(tally.done, 7U);
}

TEST_P(TimerTest, FarMomentsNeverCome) {
  ThreadPool pool(options(1));
  std::atomic<int> ran{0};
  const auto count = [&] { ++ran; };
  (void)pool.post_after(std::chrono::hours::max(), count);
  (void)pool.post_after(std::chrono::duration<double>(1e300), count);
  (void)pool.post_at(sync::no_deadline, count);
  (void)pool.post_every(std::chrono::hours::max(), count);
  std::this_thread::sleep_for(5ms);
  EXPECT_EQ(pool.tally().pending, 3U);
  EXPECT_EQ(pool.close().cancelled, 3U);
  EXPECT_EQ(ran, 0);
  EXPECT_FALSE(TimerHandle().cancel_and_wait()) << "of nothing";
}

// At multiples of the period, each in its own, however long a run takes.
TEST_P(TimerTest, ASeriesKeepsItsRateAndNeverOverlapsItself) {
  ThreadPool pool(options(4));
  constexpr auto period = 2ms;
  std::atomic<int> inside{0};
  std::atomic<int> overlaps{0};
  std::mutex mutex;
  std::vector<std::int64_t> slots;
  const sync::Deadline start = sync::clock::now();
  TimerHandle handle = pool.post_every(period, [&] {
    if (inside.fetch_add(1) != 0) ++overlaps;
    const auto slot = (sync::clock::now() - start) / period;
    std::size_t count = 0;
    {
      const std::lock_guard lock(mutex);
      slots.push_back(slot);
      count = slots.size();
    }
    if (count % 4 == 0) std::this_thread::sleep_for(2 * period);  // the next one is left out
    --inside;
  });
  until([&] {
    const std::lock_guard lock(mutex);
    return slots.size() >= 12;
  });
  EXPECT_TRUE(handle.cancel_and_wait());
  const std::size_t count = slots.size();
  EXPECT_EQ(overlaps, 0);
  EXPECT_GE(slots.front(), 1) << "the first comes when a period has passed";
  const Tally tally = pool.close();
  EXPECT_EQ(slots.size(), count) << "none after the wait";
  EXPECT_EQ(tally.done, count);
  EXPECT_LE(tally.cancelled, 1U) << "a run that was due";
  EXPECT_TRUE(tally.balanced());
  // Begun late by up to a period, two may fall into one; never more than there were periods.
  EXPECT_LE(static_cast<std::int64_t>(count), slots.back());
}

TEST_P(TimerTest, AnyCloseCancelsWhatWaits) {
  for (const Closing& closing : {Closing::finish, Closing::abandon, Closing::finish_until(10s),
                                 Closing::finish_until(sync::Deadline{})}) {
    std::array<TimerHandle, 3> handles;
    auto token = std::make_shared<int>(1);
    const std::weak_ptr<int> watch = token;
    {
      ThreadPool pool(options(2));
      handles[0] = pool.post_after(1h, [token = std::move(token)] { FAIL() << *token; });
      handles[1] = pool.post_every(1h, [] { FAIL(); });
      handles[2] = pool.post_every(1ms, [] {});
      std::this_thread::sleep_for(3ms);
      const Tally tally = pool.close(closing);
      EXPECT_TRUE(tally.balanced());
      EXPECT_EQ(tally.pending, 0U);
      EXPECT_GE(tally.cancelled, 1U);
      EXPECT_TRUE(watch.expired());
      const Tally again = pool.close();
      EXPECT_EQ(again.accepted, tally.accepted);
      EXPECT_EQ(again.cancelled, tally.cancelled);
    }
    for (TimerHandle& handle : handles) EXPECT_FALSE(handle.cancel_and_wait());
  }
}

TEST_P(TimerTest, APeriodOfNothingIsMisuse) {
  ThreadPool pool(options(1));
  EXPECT_THROW((void)pool.post_every(0s, [] {}), std::logic_error);
  EXPECT_THROW((void)pool.post_every(-1s, [] {}), std::logic_error);
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

// Tasks come, are called off and meet their moment while the pool closes: each ends in one way.
TEST_P(TimerTest, TheTallyIsExactWhateverComesTogether) {
  auto random = test::random(7);
  for (std::size_t round = 0; round < test::rounds(60); ++round) {
    std::atomic<std::uint64_t> ran{0};
    std::atomic<std::uint64_t> cancelled{0};
    std::atomic<std::uint64_t> accepted{0};
    ThreadPool pool(options(2));
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&, seed = random()] {
        std::mt19937_64 mine(seed);
        for (int i = 0; i < 40; ++i) {
          try {
            TimerHandle handle =
                pool.post_after(std::chrono::microseconds(mine() % 400), [&] { ++ran; });
            ++accepted;
            if (mine() % 2 == 0) cancelled += handle.cancel() ? 1 : 0;
            if (mine() % 4 == 0) (void)pool.post_every(50us, [&] { ++ran; });
          } catch (const NotRun&) {
            return;
          }
        }
      });
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 1000));
    const Tally tally = pool.close(random() % 2 == 0 ? Closing::finish : Closing::abandon);
    for (std::thread& thread : threads) thread.join();
    ASSERT_TRUE(tally.balanced());
    ASSERT_EQ(tally.pending, 0U);
    ASSERT_EQ(tally.done, ran);
    ASSERT_GE(tally.cancelled, cancelled);
    ASSERT_GE(tally.accepted, accepted);
    ASSERT_EQ(pool.tally().accepted, tally.accepted) << "nothing after the close";
  }
}

}  // namespace
