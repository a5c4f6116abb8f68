// SPDX-License-Identifier: MIT
//
// Tasks that begin later: at their moment, once or again and again, called off, closed. Nothing
// here asks how late a task was, but that none is early, and that none is lost.
#include <gtest/gtest.h>
#include <time.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <handoff/core/not_run.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <iostream>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "support/failing.hpp"
#include "support/support.hpp"
#include "unit/pool/modes.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;
using test::Gate;
using test::hold;

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

// What comes earlier than what is waited for is not waited for.
TEST_P(TimerTest, TheEarlierComesFirst) {
  ThreadPool pool(options(1));
  std::vector<int> order;
  const sync::Deadline soon = sync::clock::now() + 20ms;
  pool.pause();
  TimerHandle never = pool.post_after(1h, [&] { order.push_back(-1); });
  (void)pool.post_at(soon + 2ms, [&] { order.push_back(3); });
  (void)pool.post_at(soon, [&] { order.push_back(1); });
  (void)pool.post_at(soon, [&] { order.push_back(2); });
  until([&] { return pool.statistics().from_outside == 3; });
  pool.resume();
  const Tally tally = pool.close();
  if (GetParam() == PoolMode::fixed || GetParam() == PoolMode::cached) {
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
  }
  EXPECT_EQ(order.size(), 3U);
  EXPECT_EQ(tally.done, 3U);
  EXPECT_EQ(tally.cancelled, 1U);
  EXPECT_FALSE(never.cancel());
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
}

TEST_P(TimerTest, WaitDoesNotWaitForWhatIsNotDue) {
  ThreadPool pool(options(1));
  (void)pool.post_after(1h, [] {});
  (void)pool.post_every(1h, [] {});
  pool.post([] {});
  pool.wait();
  const Tally tally = pool.tally();
  EXPECT_EQ(tally.accepted, 2U);
  EXPECT_EQ(tally.pending, 1U);
  EXPECT_TRUE(tally.balanced());
}

TEST_P(TimerTest, CancelEndsTheClosureAtOnce) {
  ThreadPool pool(options(1));
  auto token = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = token;
  TimerHandle handle = pool.post_after(1h, [token = std::move(token)] { FAIL() << *token; });
  EXPECT_TRUE(handle.cancel());
  EXPECT_TRUE(watch.expired());
  EXPECT_FALSE(handle.cancel());
  EXPECT_FALSE(handle.cancel_and_wait());
  EXPECT_FALSE(TimerHandle().cancel_and_wait());
  const Tally tally = pool.close();
  EXPECT_EQ(tally.accepted, 1U);
  EXPECT_EQ(tally.cancelled, 1U);
}

// An object that its timer's closure keeps alive, and that waits for the timer when it ends.
struct OwnedByItsTimer {
  TimerHandle beat;
  ~OwnedByItsTimer() { (void)beat.cancel_and_wait(); }
};

TEST_P(TimerTest, AClosureMayOwnItsHandleWhoeverEndsIt) {
  enum class Ender { close, destructor, cancel, cancel_and_wait, run };
  for (const Ender ender :
       {Ender::close, Ender::destructor, Ender::cancel, Ender::cancel_and_wait, Ender::run}) {
    ThreadPool pool(options(2));
    std::atomic<bool> ran{false};
    auto owner = std::make_shared<OwnedByItsTimer>();
    const std::weak_ptr<OwnedByItsTimer> watch = owner;
    OwnedByItsTimer& owned = *owner;
    owned.beat = pool.post_after(ender == Ender::run ? 1ms : 1h, [owner, &ran] { ran = true; });
    owner.reset();
    if (ender == Ender::cancel) {
      EXPECT_TRUE(owned.beat.cancel());
    }
    if (ender == Ender::cancel_and_wait) {
      EXPECT_TRUE(owned.beat.cancel_and_wait());
    }
    if (ender == Ender::run) until([&] { return watch.expired(); });
    if (ender != Ender::destructor) {
      const Tally tally = pool.close();
      EXPECT_EQ(tally.done, ran ? 1U : 0U);
      EXPECT_EQ(tally.cancelled, ran ? 0U : 1U);
      EXPECT_TRUE(watch.expired());
    }
    EXPECT_EQ(ran, ender == Ender::run);
  }
}

TEST_P(TimerTest, AClosureThatACloseEndsMayCallThePool) {
  ThreadPool pool(options(2));
  struct Calls {
    ThreadPool* pool;
    TimerHandle* other;
    Tally* tally;
    Calls(ThreadPool& its_pool, TimerHandle& its_other, Tally& its_tally)
        : pool(&its_pool), other(&its_other), tally(&its_tally) {}
    Calls(Calls&& from) noexcept
        : pool(std::exchange(from.pool, nullptr)), other(from.other), tally(from.tally) {}
    ~Calls() {
      if (pool == nullptr) return;
      (void)other->cancel_and_wait();
      EXPECT_THROW((void)pool->post_after(1h, [] {}), NotRun);
      (void)pool->try_post([] {});  // refused, or done like any other
      pool->wait();
      *tally = pool->close();
    }
  };
  Tally inner[2];
  TimerHandle handles[2];
  handles[0] = pool.post_after(1h, [calls = Calls(pool, handles[1], inner[0])] {});
  handles[1] = pool.post_after(1h, [calls = Calls(pool, handles[0], inner[1])] {});
  pool.post([] {});
  const Tally tally = pool.close();
  EXPECT_TRUE(tally.balanced() && inner[0].balanced() && inner[1].balanced());
  EXPECT_EQ(tally.done + tally.cancelled, tally.accepted);
  EXPECT_EQ(tally.cancelled, 2U);
}

TEST_P(TimerTest, WhatIsDueCanBeCancelledUntilItBegins) {
  ThreadPool pool(options(1));
  pool.pause();
  auto token = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = token;
  TimerHandle once = pool.post_after(0s, [token = std::move(token)] { FAIL() << *token; });
  TimerHandle series = pool.post_every(1ms, [] { FAIL(); });
  until([&] { return pool.statistics().from_outside == 2; });
  EXPECT_TRUE(once.cancel());
  EXPECT_TRUE(series.cancel_and_wait()) << "which has not begun, so there is nothing to wait for";
  pool.resume();
  pool.wait();
  EXPECT_TRUE(watch.expired());
  const Tally tally = pool.close();
  EXPECT_EQ(tally.cancelled, 2U);
  EXPECT_EQ(tally.accepted, 2U);
}

TEST_P(TimerTest, WhatHasBegunCannotBeCancelledButWaitedFor) {
  Gate begun;
  ThreadPool pool(options(1));
  std::atomic<bool> over{false};
  TimerHandle handle = pool.post_after(0s, [&] {
    begun.open();
    std::this_thread::sleep_for(5ms);
    over = true;
  });
  begun.wait();
  EXPECT_FALSE(handle.cancel());
  EXPECT_FALSE(handle.cancel_and_wait());
  EXPECT_TRUE(over);
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

TEST_P(TimerTest, ASeriesMayEndItself) {
  Gate there;
  ThreadPool pool(options(2));
  std::atomic<int> runs{0};
  TimerHandle handle;
  std::atomic<bool> ended{false};
  handle = pool.post_every(1ms, [&] {
    there.wait();
    if (++runs == 3) ended = handle.cancel_and_wait();  // of itself it does not wait
  });
  there.open();
  until([&] { return ended.load(); });
  pool.wait();
  EXPECT_EQ(pool.close().done, 3U);
  EXPECT_EQ(runs, 3);
}

TEST_P(TimerTest, ARunThatThrowsIsHeardAndTheNextOneComes) {
  auto given = options(1);
  std::atomic<int> heard{0};
  given.on_error = [&](const TaskFailure&) { ++heard; };
  ThreadPool pool(given);
  TimerHandle handle = pool.post_every(1ms, [] { throw std::runtime_error("planned"); });
  until([&] { return heard >= 3; });
  EXPECT_TRUE(handle.cancel());
  const Tally tally = pool.close();
  EXPECT_EQ(tally.failed, static_cast<std::uint64_t>(heard));
  EXPECT_TRUE(tally.first_failure);
  EXPECT_TRUE(tally.balanced());

  ThreadPool other(options(1));
  (void)other.post_after(0s, [] { throw 7; });
  until([&] { return other.tally().failed == 1; });
  EXPECT_THROW(other.wait(), int);
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

TEST_P(TimerTest, AfterTheCloseNothingIsTaken) {
  for (const bool used_before : {false, true}) {
    ThreadPool pool(options(1));
    if (used_before) (void)pool.post_after(0s, [] {});
    (void)pool.close();
    auto function = [own = std::make_unique<int>(1)] { FAIL() << *own; };
    EXPECT_THROW((void)pool.post_after(0s, std::move(function)), NotRun);
    EXPECT_THROW((void)pool.post_every(1s, std::move(function)), NotRun);
    EXPECT_EQ(pool.tally().pending, 0U);
  }
}

TEST_P(TimerTest, APeriodOfNothingIsMisuse) {
  ThreadPool pool(options(1));
  EXPECT_THROW((void)pool.post_every(0s, [] {}), std::logic_error);
  EXPECT_THROW((void)pool.post_every(-1s, [] {}), std::logic_error);
}

// A moment cannot wait for room, and takes none from others for good.
TEST_P(TimerTest, AFullPoolRefusesNoMoment) {
  auto given = options(1);
  given.capacity = 1;
  given.on_full = OnFull::reject;
  Gate gate;
  std::atomic<int> ran{0};
  ThreadPool pool(given);
  hold(pool, gate);
  pool.post([&] { ++ran; });
  for (int i = 0; i < 5; ++i) (void)pool.post_after(0s, [&] { ++ran; });
  until([&] { return pool.statistics().from_outside == 7; });
  EXPECT_EQ(pool.try_post([] {}), Status::full);
  gate.open();
  pool.wait();
  EXPECT_EQ(ran, 6);
  gate.shut();
  hold(pool, gate);
  pool.post([] {});
  EXPECT_EQ(pool.try_post([] {}), Status::full) << "the capacity is what it was";
  gate.open();
}

TEST_P(TimerTest, TasksMayAskForLaterOnes) {
  ThreadPool pool(options(2));
  std::atomic<int> ran{0};
  std::function<void(int)> next = [&](int left) {
    ++ran;
    if (left > 0) (void)pool.post_after(100us, [&, left] { next(left - 1); });
  };
  pool.post([&] { next(20); });
  until([&] { return ran == 21; });
  EXPECT_EQ(pool.close().done, 21U);
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
