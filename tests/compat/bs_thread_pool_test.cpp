// SPDX-License-Identifier: MIT
//
// compat/bs_thread_pool: what the documentation of BS::thread_pool promises, compiled once with the
// headers of 4.x and once with those of 5.x.

#include <BS_thread_pool.hpp>
#if BS_THREAD_POOL_VERSION_MAJOR == 4
#include <BS_thread_pool_utils.hpp>
#endif
#include <future>

#include "support/failing.hpp"
#include "support/test.hpp"

namespace {

using namespace std::chrono_literals;
using handoff::test::Call;

#if BS_THREAD_POOL_VERSION_MAJOR == 4
using Pool = BS::thread_pool;
using PausePool = BS::thread_pool;
using Urgent = BS::thread_pool;
using WaitDeadlock = BS::thread_pool::wait_deadlock;
using Count = BS::concurrency_t;
#else
using Pool = BS::thread_pool<>;
using PausePool = BS::pause_thread_pool;
using Urgent = BS::thread_pool<BS::tp::priority | BS::tp::pause>;
using WaitDeadlock = BS::wait_deadlock;
using Count = std::size_t;
#endif

// Holds tasks until it is opened.
struct Gate {
  std::promise<void> opener;
  std::shared_future<void> opened = opener.get_future();
  std::atomic<std::size_t> arrived = 0;

  void pass() {
    ++arrived;
    arrived.notify_all();
    opened.wait();
  }
  void await(std::size_t tasks) {
    for (std::size_t seen = arrived; seen < tasks; seen = arrived) arrived.wait(seen);
  }
};

TEST(BsThreadPool, ATaskGivesItsResultOrItsException) {
  Pool pool(2);
  EXPECT_EQ(pool.submit_task([] { return 42; }).get(), 42);
  pool.submit_task([] {}).get();
  auto owned = std::make_unique<int>(7);
  EXPECT_EQ(pool.submit_task([owned = std::move(owned)] { return *owned; }).get(), 7);
  int number = 1;
  EXPECT_EQ(&pool.submit_task([&]() -> int& { return number; }).get(), &number);
  auto failing = pool.submit_task([]() -> int { throw std::runtime_error("no"); });
  EXPECT_THROW(failing.get(), std::runtime_error);
  const auto function = std::function<int()>([] { return 3; });
  EXPECT_EQ(pool.submit_task(function).get(), 3);
}

TEST(BsThreadPool, TasksBeginInTheirOrder) {
  Pool pool(1);
  std::vector<int> order;
  for (int i = 0; i < 1000; ++i) pool.detach_task([&order, i] { order.push_back(i); });
  pool.wait();
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(BsThreadPool, LoopsBlocksAndSequencesCoverEachIndexOnce) {
  Pool pool(3);
  for (const std::size_t blocks : {0U, 1U, 7U, 100U}) {
    std::vector<std::atomic<int>> hits(30);
    const auto hit = [&](int i) { ++hits[static_cast<std::size_t>(i + 10)]; };
    const auto hit_each = [&](int first, int last) {
      for (int i = first; i < last; ++i) hit(i);
      return last - first;
    };
    pool.detach_loop(-10, 20, hit, blocks);
    pool.detach_blocks(-10, 20, hit_each, blocks);
    pool.detach_sequence(-10, 20, hit);
    pool.wait();
    pool.submit_loop(-10, 20, hit, blocks).get();
    const std::vector<int> sizes = pool.submit_blocks(-10, 20, hit_each, blocks).get();
    EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), 0), 30);
    EXPECT_LE(sizes.front() - sizes.back(), 1);
    EXPECT_EQ(sizes.size(), blocks == 0 ? 3U : std::min<std::size_t>(blocks, 30));
    const auto doubled = pool.submit_sequence(-10, 20, [&](int i) { return hit(i), 2 * i; }).get();
    EXPECT_EQ(doubled[4], -12);
    for (const auto& count : hits) EXPECT_EQ(count, 6);
  }
  EXPECT_TRUE(pool.submit_loop(5, 5, [](int) { FAIL(); }).empty());
  pool.detach_sequence(5, 3, [](int) { FAIL(); });
}

TEST(BsThreadPool, WaitsForAllOrUntilAMoment) {
  Pool pool(2);
  Gate gate;
  pool.detach_task([&] { gate.pass(); });
  EXPECT_FALSE(pool.wait_for(1ms));
  EXPECT_FALSE(pool.wait_until(std::chrono::system_clock::now() + 1ms));
  gate.opener.set_value();
  EXPECT_TRUE(pool.wait_for(1h));
  EXPECT_TRUE(pool.wait_until(std::chrono::steady_clock::now()));
}

TEST(BsThreadPool, CountsWhatWaitsAndWhatRuns) {
  Pool pool(2);
  Gate gate;
  for (int i = 0; i < 5; ++i) pool.detach_task([&] { gate.pass(); });
  gate.await(2);
  EXPECT_EQ(pool.get_tasks_queued(), 3U);
  EXPECT_EQ(pool.get_tasks_running(), 2U);
  EXPECT_EQ(pool.get_tasks_total(), 5U);
  gate.opener.set_value();
  pool.wait();
  EXPECT_EQ(pool.get_tasks_total(), 0U);
}

TEST(BsThreadPool, AWaitForTheOwnPoolThrows) {
  Pool pool(1);
  Pool other(1);
  EXPECT_THROW(pool.submit_task([&] { pool.wait(); }).get(), WaitDeadlock);
  EXPECT_THROW(pool.submit_task([&] { (void)pool.wait_for(1h); }).get(), WaitDeadlock);
  pool.submit_task([&] { other.wait(); }).get();
}

TEST(BsThreadPool, APausedPoolBeginsNothing) {
  PausePool pool(1);
  EXPECT_FALSE(pool.is_paused());
  Gate gate;
  std::atomic<int> ran = 0;
  pool.detach_task([&] { gate.pass(); });
  gate.await(1);
  for (int i = 0; i < 5; ++i) pool.detach_task([&] { ++ran; });
  pool.pause();
  EXPECT_TRUE(pool.is_paused());
  for (int i = 0; i < 5; ++i) pool.detach_task([&] { ++ran; });
  EXPECT_FALSE(pool.wait_for(1ms)) << "what runs is waited for";
  gate.opener.set_value();
  pool.wait();
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(pool.get_tasks_queued(), 10U);
  pool.unpause();
  pool.unpause();
  pool.wait();
  EXPECT_EQ(ran, 10);
}

TEST(BsThreadPool, PurgeDropsWhatHasNotBegun) {
  PausePool pool(2);
  pool.pause();
  const auto held = std::make_shared<int>();
  auto dropped = pool.submit_task([held] { return *held; });
  pool.detach_task([held] { FAIL(); });
  pool.purge();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(pool.get_tasks_total(), 0U);
  EXPECT_THROW(dropped.get(), std::future_error);
  pool.unpause();
  pool.wait();
  EXPECT_EQ(pool.submit_task([] { return 5; }).get(), 5);
}

TEST(BsThreadPool, TheMostUrgentBeginsFirst) {
  Urgent pool(1);
  pool.pause();
  std::vector<int> order;
  for (const int priority : {0, -128, 127, 5, 0, -1, 127}) {
    const int number = static_cast<int>(order.capacity());
    order.reserve(order.capacity() + 1);
    pool.detach_task([&order, priority, number] { order.push_back(1000 * priority + number); },
                     static_cast<BS::priority_t>(priority));
  }
  pool.unpause();
  pool.wait();
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end(), [](int a, int b) {
    return (a + 128000) / 1000 > (b + 128000) / 1000;
  }));
  EXPECT_LT(order[0], order[1]) << "first come, first served among equals";
  const auto results =
      pool.submit_blocks(0, 9, [](int first, int last) { return last - first; }, 3, BS::pr::high);
  EXPECT_EQ(results.size(), 3U);
}

TEST(BsThreadPool, ResetChangesTheThreads) {
  PausePool pool(1);
  std::atomic<int> ran = 0;
  pool.pause();
  pool.detach_task([&] { ++ran; });
  pool.reset(3);
  EXPECT_TRUE(pool.is_paused());
  EXPECT_EQ(pool.get_tasks_queued(), 1U);
  pool.unpause();
  pool.wait();
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(pool.get_thread_count(), 3U);
  pool.reset();
  EXPECT_EQ(pool.get_thread_count(), std::thread::hardware_concurrency());

  Pool plain(1);
  for (int i = 0; i < 100; ++i) plain.detach_task([&] { ++ran; });
  plain.reset(2);
  plain.wait();
  EXPECT_EQ(ran, 101);
}

TEST(BsThreadPool, ThreadsMaySubmitWhileItIsReset) {
  PausePool pool(2);
  std::atomic<int> ran = 0;
  std::atomic<bool> over = false;
  int submitted = 0;
  std::thread submitter([&] {
    for (; !over || submitted == 0; ++submitted) {
      pool.detach_task([&] { ++ran; });
      if (submitted % 100 == 0) pool.submit_task([] {}).get();
    }
  });
  for (Count i = 0; i < 20; ++i) pool.reset(1 + i % 3);
  over = true;
  submitter.join();
  pool.wait();
  EXPECT_EQ(ran, submitted);
}

TEST(BsThreadPool, ThreadsKnowTheirIndexAndPool) {
  EXPECT_FALSE(BS::this_thread::get_index().has_value());
  EXPECT_FALSE(BS::this_thread::get_pool().has_value());
  std::vector<std::atomic<int>> begun(3);
  const auto init = [&begun] { ++begun[*BS::this_thread::get_index()]; };
  Pool pool(3, init);
  pool.wait();
  for (const auto& count : begun) EXPECT_EQ(count, 1);
  EXPECT_EQ(pool.submit_task([] { return BS::this_thread::get_pool(); }).get(), &pool);
  EXPECT_LT(*pool.submit_task([] { return BS::this_thread::get_index(); }).get(), 3U);
  pool.reset(2, init);
  pool.wait();
  EXPECT_EQ(begun[1], 2);
}

TEST(BsThreadPool, ThreadsAreKnownByIdAndHandle) {
  Pool pool(3);
  std::vector<std::thread::id> ids = pool.get_thread_ids();
  ASSERT_EQ(ids.size(), 3U);
  EXPECT_EQ(std::set<std::thread::id>(ids.begin(), ids.end()).size(), 3U);
  const auto here = pool.submit_task([] { return std::this_thread::get_id(); }).get();
  EXPECT_NE(std::find(ids.begin(), ids.end(), here), ids.end());
  const auto handles = pool.get_native_handles();
  ASSERT_EQ(handles.size(), 3U);
  EXPECT_NE(handles[0], handles[2]);
}

TEST(BsThreadPool, TheDestructorRunsWhatWaitsUnlessPaused) {
  std::atomic<int> ran = 0;
  {
    PausePool pool(2);
    for (int i = 0; i < 100; ++i) pool.detach_task([&] { ++ran; });
  }
  EXPECT_EQ(ran, 100);
  std::future<void> left;
  {
    PausePool pool(2);
    pool.pause();
    left = pool.submit_task([&] { ++ran; });
  }
  EXPECT_EQ(ran, 100);
  EXPECT_THROW(left.get(), std::future_error);
}

TEST(BsThreadPool, TasksAreNeitherCopiedNorKept) {
  struct Copied {
    Copied() = default;
    Copied(Copied&&) noexcept = default;
    Copied(const Copied&) { ADD_FAILURE(); }
    void operator()(int) const {}
    std::shared_ptr<int> held = std::make_shared<int>();
  };
  Pool pool(2);
  Copied task;
  const std::weak_ptr<int> held = task.held;
  pool.detach_loop(0, 100, std::move(task));
  pool.wait();
  EXPECT_TRUE(held.expired());
}

TEST(BsThreadPool, AMultiFutureTellsOfAll) {
  Pool pool(2);
  Gate gate;
  auto futures = pool.submit_sequence(0, 4, [&](int i) {
    if (i == 3) gate.pass();
    if (i == 1) throw std::out_of_range("one");
  });
  EXPECT_TRUE(futures.valid());
  EXPECT_FALSE(futures.wait_for(1ms));
  EXPECT_LT(futures.ready_count(), 4U);
  gate.opener.set_value();
  futures.wait();
  EXPECT_TRUE(futures.wait_until(std::chrono::steady_clock::now()));
  EXPECT_EQ(futures.ready_count(), 4U);
  EXPECT_THROW(futures.get(), std::out_of_range);
  EXPECT_FALSE(futures.valid());
}

// Where there is no memory the call throws and nothing was handed over, or the task runs once.
TEST(BsThreadPool, WithoutMemoryATaskRunsOnceOrTheCallThrows) {
  // As many as make the pool's queue grow, or fewer where each one allocates.
  constexpr int kTasks = BS_THREAD_POOL_VERSION_MAJOR == 4 ? 200 : 5000;
  handoff::test::until_enough_memory([] {
    std::atomic<int> ran = 0;
    int accepted = 0;
    PausePool pool(1);
    pool.pause();
    (void)handoff::test::had_memory([&] {
      for (; accepted < kTasks; ++accepted) pool.detach_task([&] { ++ran; });
    });
    pool.unpause();
    pool.wait();
    EXPECT_EQ(ran, accepted);
  });
}

#if BS_THREAD_POOL_VERSION_MAJOR == 4

TEST(BsThreadPool4, ADetachedTaskThatThrowsEndsTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        Pool pool(1);
        pool.detach_task([] { throw std::runtime_error("unheard"); });
        pool.wait();
      },
      "unheard");
}

TEST(BsThreadPool4, TheTypeOfALoopMayBeNamed) {
  Pool pool(2);
  std::atomic<std::int64_t> sum = 0;
  pool.detach_loop<std::int64_t>(-1, 9, [&](std::int64_t i) { sum += i; });
  pool.wait();
  EXPECT_EQ(sum, 35);
}

TEST(BsThreadPool4, UtilitiesSignalPrintAndMeasure) {
  std::ostringstream told;
  BS::synced_stream stream(told);
  BS::signaller signal;
  std::thread waiter([&] {
    signal.wait();
    stream.println("a ", 1, BS::synced_stream::flush);
  });
  signal.ready();
  waiter.join();
  EXPECT_EQ(told.str(), "a 1\n");
  BS::timer timer;
  timer.start();
  timer.stop();
  EXPECT_LE(timer.ms(), timer.current_ms());
}

#else

TEST(BsThreadPool5, ADetachedTaskThatThrowsIsDropped) {
  Pool pool(1);
  std::atomic<int> ran = 0;
  pool.detach_task([] { throw std::runtime_error("unheard"); });
  pool.detach_task([&] { ++ran; });
  pool.wait();
  EXPECT_EQ(ran, 1);
}

TEST(BsThreadPool5, EachThreadCallsTheCleanup) {
  std::vector<std::atomic<int>> ended(2);
  std::atomic<int> begun = 0;
  {
    BS::thread_pool pool(2, [&](std::size_t index) { begun += static_cast<int>(index) + 1; });
    pool.set_cleanup_func([&](std::size_t index) {
      EXPECT_EQ(*BS::this_thread::get_index(), index);
      ++ended[index];
    });
    pool.reset(2);
    EXPECT_EQ(begun, 3);
    pool.set_cleanup_func([&] { ++ended[*BS::this_thread::get_index()]; });
  }
  EXPECT_EQ(ended[0], 2);
  EXPECT_EQ(ended[1], 2);
}

TEST(BsThreadPool5, TasksInBulkAreMoved) {
  Pool pool(2);
  std::atomic<int> ran = 0;
  std::vector<BS::task_t> tasks;
  for (int i = 0; i < 10; ++i) tasks.emplace_back([&, owned = std::make_unique<int>()] { ++ran; });
  pool.detach_bulk(tasks);
  std::vector<std::function<int()>> others(4, [&] { return ++ran; });
  pool.submit_bulk(others.begin(), others.begin() + 2).wait();
  EXPECT_EQ(pool.submit_bulk(others).size(), 4U);
  pool.wait();
  EXPECT_EQ(ran, 14 + 2 - 2);
}

TEST(BsThreadPool5, IndicesOfTwoTypesCountInOneThatHoldsBoth) {
  using BS::common_index_type_t;
  static_assert(std::is_same_v<common_index_type_t<int, unsigned>, std::int64_t>);
  static_assert(std::is_same_v<common_index_type_t<std::int8_t, std::uint8_t>, std::int16_t>);
  static_assert(std::is_same_v<common_index_type_t<std::int16_t, std::uint8_t>, std::int16_t>);
  static_assert(std::is_same_v<common_index_type_t<std::uint16_t, std::int8_t>, std::int32_t>);
  static_assert(std::is_same_v<common_index_type_t<int, std::uint64_t>, std::uint64_t>);
  static_assert(std::is_same_v<common_index_type_t<short, long>, long>);
  static_assert(BS::thread_pool_version == BS::version(5, 1, 0));
  EXPECT_EQ(BS::thread_pool_version.to_string(), "5.1.0");
  static_assert((~BS::tp::pause & (BS::tp::pause | BS::tp::priority)) == BS::tp::priority);
  Pool pool(2);
  std::atomic<std::int64_t> sum = 0;
  pool.detach_loop(-1, 9U, [&](std::int64_t i) { sum += i; });
  pool.wait();
  EXPECT_EQ(sum, 35);
}

TEST(BsThreadPool5, AStreamPrintsToAllItsStreams) {
  std::ostringstream first, second;
  BS::synced_stream stream(first);
  stream.add_stream(second);
  stream.println("a ", 1, BS::synced_stream::flush);
  stream.remove_stream(first);
  stream.print("b");
  EXPECT_EQ(first.str(), "a 1\n");
  EXPECT_EQ(second.str(), "a 1\nb");
  EXPECT_EQ(stream.get_streams().size(), 1U);
}

TEST(BsThreadPool5, NativeExtensionsReachTheThread) {
  Pool pool;
  const auto usable = BS::get_os_process_affinity();
  ASSERT_TRUE(usable.has_value());
  EXPECT_EQ(pool.get_thread_count(),
            static_cast<std::size_t>(std::count(usable->begin(), usable->end(), true)));
  EXPECT_TRUE(BS::set_os_process_affinity(*usable));
  pool.reset(1);
  pool.submit_task([&] {
        EXPECT_TRUE(BS::this_thread::set_os_thread_name("named"));
        EXPECT_EQ(BS::this_thread::get_os_thread_name(), "named");
        EXPECT_FALSE(BS::this_thread::set_os_thread_name("a name that is too long"));
        EXPECT_TRUE(BS::this_thread::set_os_thread_affinity(*usable));
        EXPECT_EQ(BS::this_thread::get_os_thread_affinity(), usable);
        EXPECT_TRUE(BS::this_thread::set_os_thread_priority(BS::os_thread_priority::idle));
        EXPECT_EQ(BS::this_thread::get_os_thread_priority(), BS::os_thread_priority::idle);
      })
      .get();
  const auto priority = BS::get_os_process_priority();
  EXPECT_TRUE(!priority || BS::set_os_process_priority(*priority));
}

#endif

}  // namespace
