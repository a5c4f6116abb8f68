// SPDX-License-Identifier: MIT
//
// The mode `cached`: threads that come with the work and go when it is gone.
#include <sched.h>

#include <handoff/pool/thread_pool.hpp>
#include <handoff/sync/cpu_budget.hpp>

#include "support/support.hpp"
#include "support/test.hpp"
#include "support/threads_of_process.hpp"
#include "unit/pool/modes.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;
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
