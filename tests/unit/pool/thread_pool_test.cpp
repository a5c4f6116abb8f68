// SPDX-License-Identifier: MIT
//
// ThreadPool: handing over, order, bounds, failures, closing, misuse. Each test runs in every mode.
#include <handoff/sync/internal/pause.hpp>

#include "support/test.hpp"
#include "unit/pool/modes.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace test;

class ThreadPoolTest : public test::ModeTest {};
HANDOFF_EACH_MODE(ThreadPoolTest);

// Threads that began before the pool was running left again; indices from a counter that all
// pools shared.
TEST_P(ThreadPoolTest, WorkersStayAndAreNumberedPerPool) {
  for (std::size_t round = 0; round < test::rounds(300); ++round) {
    ThreadPool first(options(2));
    ThreadPool second(options(2));
    std::atomic<int> met{0};
    std::atomic<unsigned> indices{0};
    for (int i = 0; i < 2; ++i) {
      second.post([&, outside = std::this_thread::get_id()] {
        EXPECT_NE(std::this_thread::get_id(), outside);
        EXPECT_EQ(first.worker_index(), std::nullopt);
        indices |= 1U << second.worker_index().value();
        ++met;
        while (met < 2) std::this_thread::yield();  // both workers at once, or this hangs
      });
    }
    EXPECT_EQ(second.worker_index(), std::nullopt);
    (void)second.close();  // does not help, so it was the workers
    ASSERT_EQ(indices, 3U);
  }
}

// Tasks were bound to a worker at the hand-over, and stuck behind a long one.
TEST_P(ThreadPoolTest, NoTaskIsStuckBehindALongOne) {
  Gate gate;
  ThreadPool pool(options(2));
  for (int round = 0; round < 20; ++round) {
    auto held = pool.submit([&] { gate.wait(); });
    std::atomic<int> ran{0};
    for (int i = 0; i < 100; ++i) pool.post([&] { ++ran; });
    while (ran < 100) std::this_thread::yield();  // hangs if one is stuck
    gate.open();
    held.get();
    gate.shut();
  }
}

struct NoDefault {
  explicit NoDefault(int v) : value(v) {}
  int value;
};

TEST_P(ThreadPoolTest, TakesAnyCallable) {
  struct Account {
    int balance = 0;
    int add(int amount) { return balance += amount; }
  };
  ThreadPool pool(options(2));
  Account account;
  EXPECT_EQ(pool.submit(&Account::add, &account, 5).get(), 5);
  EXPECT_EQ(pool.submit([p = std::make_unique<int>(7)] { return *p; }).get(), 7);
  EXPECT_EQ(*pool.submit([](std::unique_ptr<int> p) { return p; }, std::make_unique<int>(8)).get(),
            8);
  int target = 0;
  int& reference = pool.submit([&target]() -> int& { return target; }).get();
  EXPECT_EQ(&reference, &target);
  pool.submit([] {}).get();
  EXPECT_EQ(pool.submit([] { return NoDefault(3); }).get().value, 3);
  std::array<char, 500> large{};
  large[499] = 'x';
  EXPECT_EQ(pool.submit([large] { return large[499]; }).get(), 'x');
  std::atomic<char> seen{0};
  pool.post([large, &seen] { seen = large[499]; });
  pool.wait();
  EXPECT_EQ(seen, 'x');
}

TEST_P(ThreadPoolTest, ANumberIsTheWidth) {
  ThreadPool pool(3);
  EXPECT_EQ(pool.width(), 3U);
  EXPECT_EQ(pool.submit([] { return 1; }).get(), 1);
}

TEST_P(ThreadPoolTest, ClosuresEndBeforeAnybodyHears) {
  ThreadPool pool(options(2));
  for (std::size_t i = 0; i < test::rounds(1000); ++i) {
    auto token = std::make_shared<int>(1);
    const std::weak_ptr<int> watch = token;
    if (i % 2 == 0) {
      pool.submit([token = std::move(token)] { return *token; }).wait();
    } else {
      pool.post([token = std::move(token)] {});
      pool.wait();
    }
    ASSERT_TRUE(watch.expired());
  }
}

struct ThrowsWhenCopied {
  ThrowsWhenCopied() = default;
  ThrowsWhenCopied(const ThrowsWhenCopied& other) : copies(other.copies - 1) {
    if (copies < 0) throw std::runtime_error("copied once too often");
  }
  int operator()() const { return 1; }
  int copies = 0;
};

TEST_P(ThreadPoolTest, AClosureThatThrowsWhenCopiedIsTheCallersBusiness) {
  auto given = options(1);
  given.capacity = 1;
  ThreadPool pool(given);
  pool.pause();
  const ThrowsWhenCopied function;
  const TaskOptions named{.name = "task"};
  Future<int> future;
  EXPECT_THROW(pool.post(function), std::runtime_error);
  EXPECT_THROW(pool.post(function, named), std::runtime_error);
  EXPECT_THROW((void)pool.try_post(function), std::runtime_error);
  EXPECT_THROW((void)pool.try_post(function, named), std::runtime_error);
  EXPECT_THROW((void)pool.submit(function), std::runtime_error);
  EXPECT_THROW((void)pool.submit(function, named), std::runtime_error);
  EXPECT_THROW((void)pool.try_submit(future, function), std::runtime_error);
  EXPECT_THROW((void)pool.submit([](const ThrowsWhenCopied&) {}, function), std::runtime_error);
  EXPECT_EQ(pool.tally().accepted, 0U);
  auto after = pool.submit([] { return 3; });  // there is room
  pool.resume();
  EXPECT_EQ(after.get(), 3) << "usable afterwards";
  {
    TaskGroup group(pool);
    EXPECT_THROW(group.run(function), std::runtime_error);
  }
  EXPECT_THROW(pool.post(ThrowsWhenCopied()), std::runtime_error);  // moved: it has its place
  EXPECT_TRUE(came_to(pool.close(), {.done = 1, .cancelled = 1}));
}

TEST_P(ThreadPoolTest, NothingBeginsInACloseWhoseTimeIsOver) {
  std::atomic<int> ran{0};
  ThreadPool pool(options(2));
  pool.pause();
  for (int i = 0; i < 100; ++i) pool.post([&] { ++ran; });
  EXPECT_TRUE(came_to(pool.close(Closing::finish_until(0s)), {.expired = 100}));
  EXPECT_EQ(ran, 0);
}

TEST_P(ThreadPoolTest, DestructionFromATaskIsMisuse) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto* const pool = new ThreadPool(options(1));
        pool->post([pool] { delete pool; });
        std::this_thread::sleep_for(10s);
      },
      "");
}

TEST_P(ThreadPoolTest, ACapacityIsToldAndNothingIsMisuse) {
  EXPECT_EQ(ThreadPool(options(1)).capacity(), unbounded);
  auto given = options(1);
  given.capacity = 3;
  EXPECT_EQ(ThreadPool(given).capacity(), 3U);
  given.capacity = 0;
  EXPECT_THROW(ThreadPool{given}, Misuse);
}

TEST_P(ThreadPoolTest, TrySubmitOfWhatIsStopped) {
  ThreadPool pool(options(1));
  std::stop_source source;
  source.request_stop();
  Future<void> future;
  EXPECT_EQ(pool.try_submit(future, [] { FAIL(); }, {.until = {1h, source.get_token()}}),
            Status::ok);
  EXPECT_THROW(future.get(), NotRun);
  EXPECT_EQ(pool.close().cancelled, 1U);
}

// Not a pool that is narrower than asked for, and says nothing.
TEST_P(ThreadPoolTest, ACpuThatThereIsNotIsAnError) {
  for (const int none : {CPU_SETSIZE - 1, CPU_SETSIZE}) {
    auto given = options(2);
    given.core = 2;
    given.cpus = {sched_getcpu(), none};
    EXPECT_THROW(ThreadPool{given}, std::system_error);
  }
}

TEST_P(ThreadPoolTest, NamesPinsAndHooks) {
  const int cpu = sched_getcpu();
  std::mutex mutex;
  std::set<std::size_t> started;
  std::set<std::size_t> stopped;
  auto given = options(3);
  given.core = 3;
  given.name = "rows";
  given.cpus = {cpu};
  given.on_start = [&](std::size_t index) {
    const std::lock_guard lock(mutex);
    started.insert(index);
  };
  given.on_stop = [&](std::size_t index) {
    const std::lock_guard lock(mutex);
    stopped.insert(index);
  };
  {
    ThreadPool pool(given);
    const auto [name, where] = pool.submit([] {
                                     char text[32] = {};
                                     pthread_getname_np(pthread_self(), text, sizeof text);
                                     return std::pair(std::string(text), sched_getcpu());
                                   })
                                   .get();
    EXPECT_EQ(name, "rows");
    EXPECT_EQ(where, cpu);
  }
  EXPECT_EQ(started, (std::set<std::size_t>{0, 1, 2}));
  EXPECT_EQ(stopped, started);
}

TEST_P(ThreadPoolTest, EachWorkerHasItsOwnValue) {
  ThreadPool pool(options(3));
  PerWorker<std::uint64_t> sums(pool);
  parallel_for(pool, 0, 100'000, [&](std::size_t i) { sums.here() += i; });
  std::uint64_t sum = 0;
  for (const std::uint64_t part : sums) sum += part;
  EXPECT_EQ(sum, 4'999'950'000U);
  EXPECT_THROW((void)sums.here(), std::logic_error);
}

TEST_P(ThreadPoolTest, ATaskMayWorkForAnotherPool) {
  ThreadPool first(options(1));
  ThreadPool second(options(1));
  // Each pool's only worker waits for the other pool in turn.
  const int depth = first
                        .submit([&] {
                          return second
                                     .submit([&] {
                                       return first
                                                  .submit([&] {
                                                    int n = 0;
                                                    TaskGroup group(second);
                                                    group.run([&] { ++n; });
                                                    group.wait();
                                                    return n;
                                                  })
                                                  .get() +
                                              1;
                                     })
                                     .get() +
                                 1;
                        })
                        .get();
  EXPECT_EQ(depth, 3);
  EXPECT_TRUE(first.close().balanced());
  EXPECT_TRUE(second.close().balanced());
}

// As long as it is told it looks, and does not sleep; otherwise it soon does.
TEST_P(ThreadPoolTest, AWorkerLooksOnAsLongAsItIsTold) {
  if (sync::spin_policy() == sync::Spin::never) GTEST_SKIP() << "one CPU: nobody spins";
  auto given = options(1);
  const auto sleeps_of = [](const ThreadPool& pool) {
    return pool.statistics().workers.front().sleeps;
  };
  for (const auto spin_for : {-1ns, 0ns}) {
    given.spin_for = spin_for;
    const ThreadPool pool(given);
    while (sleeps_of(pool) == 0) std::this_thread::sleep_for(1ms);
  }
  given.spin_for = std::chrono::nanoseconds::max();
  ThreadPool pool(given);
  for (int i = 0; i < 5; ++i) {
    Gate ran;
    pool.post([&ran] { ran.open(); });
    ran.wait();
    std::this_thread::sleep_for(2ms);
  }
  EXPECT_EQ(sleeps_of(pool), 0U);
}

TEST(PoolStatisticsTest, AddsUpAllWorkers) {
  PoolStatistics figures;
  for (std::uint64_t i = 1; i <= 2; ++i) {
    figures.workers.push_back(
        {.run = i, .handed_over = 10 * i, .stolen = 100 * i, .sleeps = 1000 * i});
  }
  const WorkerStatistics sum = figures.sum();
  EXPECT_EQ(sum.run, 3U);
  EXPECT_EQ(sum.handed_over, 30U);
  EXPECT_EQ(sum.stolen, 300U);
  EXPECT_EQ(sum.sleeps, 3000U);
}

TEST_P(ThreadPoolTest, MovesWithItsThreads) {
  ThreadPool first(options(2));
  auto future = first.submit([] { return 4; });
  ThreadPool second(std::move(first));
  EXPECT_EQ(future.get(), 4);
  EXPECT_EQ(second.submit([] { return 5; }).get(), 5);
  second = ThreadPool(options(1));
  EXPECT_EQ(second.width(), 1U);
}

// The program's pool, when the program's static objects have ended.
TEST_P(ThreadPoolTest, AfterTheEndOfTheProgramsPoolItsCallersRunTasks) {
  for (const std::size_t capacity : {unbounded, std::size_t{1}}) {
    auto given = options(1);
    given.capacity = capacity;
    ThreadPool pool(given);
    ASSERT_TRUE(detail::engine_of(pool).end());
    int ran = 0;
    const auto task = [&ran, here = std::this_thread::get_id()] {
      EXPECT_EQ(std::this_thread::get_id(), here);
      ++ran;
    };
    pool.post(task);
    pool.post(task, {.priority = Priority::high});
    pool.post(task, {.worker = 0});
    pool.submit(task).get();
    EXPECT_EQ(ran, 4);
    BulkOperation run(
        pool, 2, [&](std::size_t, std::size_t) { task(); }, [&](const Tally&) noexcept { ++ran; },
        {.block = 1});
    EXPECT_EQ(run.start(), Status::ok);
    EXPECT_EQ(ran, 7);
    EXPECT_EQ(pool.try_post(task), Status::closed);
    EXPECT_EQ(pool.try_post(task, {.priority = Priority::high}), Status::closed);
    EXPECT_EQ(pool.try_post(task, {.worker = 0}), Status::closed);
    EXPECT_THROW((void)pool.post_after(1h, task), NotRun);
    EXPECT_EQ(ran, 7) << "what was refused did not run";
    EXPECT_TRUE(came_to(pool.close(), {.done = 5}));
  }
}

// Tasks that hold up every worker but one, with others in the queues of all.
TEST(ActivePool, LongTasksStrandNoNeighbour) {
  constexpr std::size_t width = 4;
  for (std::size_t round = 0; round < test::rounds(50); ++round) {
    Gate gate;
    ThreadPool pool({.mode = PoolMode::active, .width = width});
    std::atomic<std::size_t> held{0};
    std::atomic<std::size_t> ran{0};
    std::vector<Future<void>> long_ones;
    for (std::size_t i = 0; i + 1 < width; ++i) {
      long_ones.push_back(pool.submit([&] {
        ++held;
        gate.wait();
      }));
      for (int k = 0; k < 40; ++k) pool.post([&ran] { ++ran; });
    }
    while (held + 1 < width) std::this_thread::yield();
    for (int k = 0; k < 200; ++k) pool.post([&ran] { ++ran; });
    while (ran < (width - 1) * 40 + 200) std::this_thread::yield();  // hangs if one is stuck
    gate.open();
    for (auto& long_one : long_ones) long_one.get();
  }
}

TEST(DefaultPool, IsThereForEverybody) {
  EXPECT_EQ(&default_pool(), &default_pool());
  EXPECT_EQ(default_pool().submit([] { return 6; }).get(), 6);
}

}  // namespace
