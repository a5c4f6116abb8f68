// SPDX-License-Identifier: MIT
//
// The mode `cached`: threads that come with the work and go when it is gone.
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

// The submitter of the task that calls a thread may be pinned; the thread is not.
TEST(CachedPool, ThreadsRunWhereThePoolWasMade) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  ThreadPool pool(cached(1, 3, 1h));
  std::jthread pinned([&] {
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
