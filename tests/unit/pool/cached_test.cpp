// SPDX-License-Identifier: MIT
//
// The mode `cached`: threads that come with the work and go when it is gone.
#include <errno.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/sync/cpu_budget.hpp>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/failing.hpp"
#include "support/support.hpp"
#include "support/threads_of_process.hpp"
#include "unit/pool/modes.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;
using test::Call;
using test::threads_of_process;

ThreadPoolOptions cached(std::size_t core, std::size_t width, std::chrono::nanoseconds idle_time) {
  ThreadPoolOptions given;
  given.mode = PoolMode::cached;
  given.width = width;
  given.core = core;
  given.idle_time = idle_time;
  return given;
}

// Hangs, until the watchdog ends it, unless the pool gets `width` threads.
void meet(ThreadPool& pool, std::size_t width) {
  std::atomic<std::size_t> inside{0};
  for (std::size_t i = 0; i < width; ++i) {
    pool.post([&inside, width] {
      ++inside;
      while (inside < width) std::this_thread::yield();
    });
  }
  while (pool.wait(1h) != Status::ok) {  // does not help
  }
}

void until_threads_are(std::size_t count) {
  while (threads_of_process().size() != count) std::this_thread::sleep_for(1ms);
}

TEST(CachedPool, BeginsWithItsCoreAndGrowsToItsWidth) {
  const std::size_t before = threads_of_process().size();
  ThreadPool pool(cached(2, 6, 1h));
  EXPECT_EQ(pool.width(), 6U);
  EXPECT_EQ(threads_of_process().size(), before + 2);
  meet(pool, 6);
  EXPECT_EQ(threads_of_process().size(), before + 6);
  meet(pool, 6);
  EXPECT_EQ(threads_of_process().size(), before + 6);
}

TEST(CachedPool, ShrinksToItsCoreAndGrowsAgain) {
  const std::size_t before = threads_of_process().size();
  ThreadPool pool(cached(2, 5, 1ms));
  for (int i = 0; i < 3; ++i) {
    meet(pool, 5);
    until_threads_are(before + 2);
  }
  EXPECT_EQ(pool.close().done, 15U);
  until_threads_are(before);
}

// Threads that end at the very moment at which they are wanted again.
TEST(CachedPool, NoTaskIsLostWhileThreadsComeAndGo) {
  auto random = test::random();
  for (const auto idle_time : {0ns, 1'000ns, 100'000ns}) {
    ThreadPool pool(cached(1, 4, idle_time));
    std::uint64_t expected = 0;
    std::atomic<std::uint64_t> ran{0};
    for (std::size_t round = 0; round < test::rounds(500); ++round) {
      const std::uint64_t count = random() % 6;
      for (std::uint64_t i = 0; i < count; ++i) {
        pool.post([&ran, rest = random() % 3] {
          for (std::uint64_t k = 0; k < rest; ++k) std::this_thread::yield();
          ++ran;
        });
      }
      expected += count;
      if (round % 4 == 0) {
        while (ran < expected) std::this_thread::yield();  // nobody helps
      }
    }
    EXPECT_EQ(pool.close().done, expected);
    EXPECT_EQ(ran, expected);
  }
}

TEST(CachedPool, EachThreadHasItsHooks) {
  std::mutex mutex;
  std::vector<int> running(4);
  std::size_t started = 0;
  auto given = cached(1, 4, 1ms);
  const auto note = [&](std::size_t index, int change) {
    const std::lock_guard lock(mutex);
    running.at(index) += change;
    EXPECT_TRUE(running[index] == 0 || running[index] == 1) << "two threads with one index";
    if (change > 0) ++started;
  };
  given.on_start = [&](std::size_t index) { note(index, 1); };
  given.on_stop = [&](std::size_t index) { note(index, -1); };
  const std::size_t before = threads_of_process().size();
  ThreadPool pool(given);
  meet(pool, 4);
  until_threads_are(before + 1);
  {
    const std::lock_guard lock(mutex);
    EXPECT_EQ(std::count(running.begin(), running.end(), 1), 1);
    EXPECT_GE(started, 4U);
  }
  meet(pool, 4);
  (void)pool.close();
  EXPECT_EQ(running, std::vector<int>(4));
}

// The thread that starts is not the one to run it, and must not keep it from the others.
TEST(CachedPool, AHookMayWaitForTasksOfThePool) {
  ThreadPool* made = nullptr;
  std::atomic<int> waited{0};
  test::Gate gate;
  auto given = cached(2, 3, 1h);
  given.on_start = [&](std::size_t index) {
    if (index < 2) return;
    try {
      made->submit([] { return 1; }).get();
      ++waited;
    } catch (const NotRun&) {  // the pool is being closed
    }
  };
  ThreadPool pool(given);
  made = &pool;
  test::hold(pool, gate);
  std::atomic<bool> more{false};
  pool.post([&] {  // occupies the second, so that a third thread is called
    while (!more) std::this_thread::yield();
  });
  std::atomic<int> ran{0};
  for (int i = 1; i <= 2; ++i) pool.post([&] { ++ran; });
  more = true;
  while (ran < 2) std::this_thread::yield();
  gate.open();
  (void)pool.close();
  EXPECT_LE(waited, 1);
}

// While the system refuses threads the others do the work; afterwards the pool still grows.
TEST(CachedPool, AThreadThatIsRefusedComesLater) {
  const std::size_t before = threads_of_process().size();
  for (int k = 0; k < 6; ++k) {
    SCOPED_TRACE(testing::Message() << "with failing call number " << k);
    test::fail_after(Call::thread, k, EAGAIN);
    try {
      ThreadPool pool(cached(2, 4, 1h));
      EXPECT_GT(k, 0);
      EXPECT_EQ(pool.width(), 4U);
      std::atomic<std::size_t> inside{0};
      std::atomic<std::uint64_t> ran{0};
      const auto stay = [&inside] {
        ++inside;
        while (inside < 4) std::this_thread::yield();
      };
      for (int i = 0; i < 4; ++i) pool.post(stay);
      std::uint64_t reminders = 0;
      while (inside < 4) {  // each asks for a thread, if it is time to ask again
        pool.post([&ran] { ++ran; });
        ++reminders;
        std::this_thread::sleep_for(1ms);
      }
      EXPECT_EQ(pool.close().done, 4 + reminders);
      EXPECT_EQ(ran, reminders);
    } catch (const std::system_error&) {
      EXPECT_EQ(k, 0) << "only a pool without any thread cannot be";
    }
    EXPECT_EQ(test::stop_failing(Call::thread), k < 4);
    until_threads_are(before);
  }
}

// The submitter of the task that calls a thread may be pinned; the thread is not.
TEST(CachedPool, ThreadsRunWhereThePoolWasMade) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  ThreadPool pool(cached(1, 3, 1h));
  std::thread pinned([&] {
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &here);
    ASSERT_EQ(sched_setaffinity(0, sizeof here, &here), 0);
    std::atomic<int> inside{0};
    for (int i = 0; i < 3; ++i) {
      pool.post([&] {
        cpu_set_t mine;
        EXPECT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
        EXPECT_TRUE(CPU_EQUAL(&mine, &all));
        ++inside;
        while (inside < 3) std::this_thread::yield();
      });
    }
    while (inside < 3) std::this_thread::yield();
    pool.wait();
  });
  pinned.join();
}

TEST(CachedPool, ClosesWhileItGrows) {
  auto random = test::random();
  for (std::size_t round = 0; round < test::rounds(200); ++round) {
    ThreadPool pool(cached(1, 1 + random() % 6, std::chrono::nanoseconds(random() % 10'000)));
    std::atomic<std::uint64_t> accepted{0};
    std::thread submitter([&] {
      for (int left = 500; left > 0; --left) {  // a bound, where the closer gets no CPU
        if (pool.try_post([] { std::this_thread::yield(); }) != Status::ok) return;
        ++accepted;
      }
    });
    for (std::uint64_t rest = random() % 20; rest > 0; --rest) std::this_thread::yield();
    const Tally tally = pool.close();
    submitter.join();
    ASSERT_EQ(tally.done, accepted);
  }
}

TEST(CachedPool, TheCoreIsNoWiderThanThePool) {
  EXPECT_THROW(ThreadPool(cached(3, 2, 1s)), std::logic_error);
  const std::size_t cpus = sync::cpu_budget().width();
  const std::size_t before = threads_of_process().size();
  const ThreadPool automatic(cached(0, 0, 1h));
  EXPECT_EQ(automatic.width(), 4 * cpus);
  EXPECT_EQ(threads_of_process().size(), before + cpus);
  EXPECT_EQ(ThreadPool(cached(4 * cpus + 1, 0, 1h)).width(), 4 * cpus + 1);
}

}  // namespace
