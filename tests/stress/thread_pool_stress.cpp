// SPDX-License-Identifier: MIT
//
// Pools under real threads: coming and going, closing under load. No failure in n rounds bounds the
// rate of wrong ones below 3/n (95 %); a hang ends the test by its watchdog.
// The rounds of all builds add up to 10^5 pools that come and go.
#include <handoff/sync/internal/pause.hpp>

#include "books/pool_books.hpp"
#include "support/test.hpp"
#include "support/usage.hpp"
#include "unit/pool/modes.hpp"

namespace {

using namespace handoff;

class ThreadPoolStress : public test::ModeTest {};
HANDOFF_EACH_MODE(ThreadPoolStress);

TEST_P(ThreadPoolStress, ComesAndGoes) {
  auto random = test::random();
  const std::size_t rounds = test::rounds(17'000);
  for (std::size_t round = 0; round < rounds; ++round) {
    // Most of them small, or starting threads would be all there is.
    const std::size_t width = 1 + random() % (random() % 20 == 0 ? 16 : 2);
    const std::uint64_t tasks = random() % 4;
    std::uint64_t ran[4] = {};  // plain: the end of the pool orders them before the look
    {
      test::AuditedPool pool(options(width));
      for (std::uint64_t i = 0; i < tasks; ++i) {
        pool.post([&ran, i] { ++ran[i]; });
      }
    }
    for (std::uint64_t i = 0; i < tasks; ++i) ASSERT_EQ(ran[i], 1U) << "round " << round;
  }
}

// Eight threads hand over tasks of all kinds until they are refused, while the pool is closed in
// some way at some moment: every task that was accepted is accounted for, exactly.
TEST_P(ThreadPoolStress, ClosesUnderLoad) {
  const std::size_t rounds = test::rounds(100);
  for (std::size_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE(testing::Message() << "stream " << round);
    auto random = test::random(round);
    auto given = options(1 + random() % 4);
    if (random() % 2 == 0) given.capacity = 1 + random() % 50;
    given.on_full = OnFull{static_cast<std::uint8_t>(random() % 3)};
    given.on_error = [](const TaskFailure&) {};
    test::AuditedPool pool(given);
    std::atomic<std::uint64_t> accepted{0};
    std::atomic<std::uint64_t> begun{0};
    std::vector<std::thread> submitters;
    for (std::uint64_t i = 0; i < 8; ++i) {
      submitters.emplace_back([&, seed = random()] {
        std::mt19937_64 mine(seed);
        for (int left = 20'000; left > 0; --left) {  // a bound, where the closer gets no CPU
          const std::uint64_t kind = mine() % 8;
          const Status status = pool.try_post([&, kind] {
            ++begun;
            if (kind == 0) throw 1;
            if (kind == 1 && pool.try_post([&] { ++begun; }) == Status::ok) ++accepted;
          });
          if (status == Status::closed) return;
          if (status == Status::ok) ++accepted;
        }
      });
    }
    for (std::uint64_t spin = random() % 20'000; spin > 0; --spin) sync::pause();
    const std::uint64_t how = random() % 3;
    const std::chrono::microseconds time(random() % 500);
    const Closing ways[] = {Closing::finish, Closing::abandon, Closing::finish_until(time)};
    const Tally tally = pool.close(ways[how]);
    for (auto& submitter : submitters) submitter.join();
    ASSERT_TRUE(tally.balanced());
    ASSERT_EQ(tally.pending, 0U);
    ASSERT_EQ(tally.accepted, accepted);
    ASSERT_EQ(tally.done + tally.failed, begun);
    ASSERT_TRUE(how == 1 || tally.cancelled == 0);
    ASSERT_TRUE(how == 2 || tally.expired == 0);
  }
}

TEST_P(ThreadPoolStress, WaitMeansIdle) {
  test::AuditedPool pool(options(3));
  std::atomic<std::uint64_t> ran{0};
  const std::size_t rounds = test::rounds(10'000);
  std::uint64_t expected = 0;
  auto random = test::random();
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::uint64_t tasks = random() % 5;
    for (std::uint64_t i = 0; i < tasks; ++i) {
      pool.post([&] {
        pool.post([&] { ++ran; });
        ++ran;
      });
    }
    expected += 2 * tasks;
    pool.wait();
    ASSERT_EQ(ran, expected) << "round " << round;
  }
}

// Threads of all kinds wait for one group, some of them come late, and one of its tasks may throw:
// all hear of everything.
TEST_P(ThreadPoolStress, ManyWaitForOneGroup) {
  auto random = test::random();
  test::AuditedPool pool(options(2));
  const std::size_t rounds = test::rounds(2'000);
  for (std::size_t round = 0; round < rounds; ++round) {
    std::uint64_t ran[6] = {};  // plain: each wait orders them
    const std::uint64_t thrower = random() % 8;
    TaskGroup group(pool, {.shared = true});
    const auto wait = [&] {
      bool threw = false;
      try {
        group.wait();
      } catch (int) {
        threw = true;
      }
      for (const std::uint64_t times : ran) ASSERT_EQ(times, 1U) << "round " << round;
      ASSERT_EQ(threw, thrower < 3) << "round " << round;
    };
    for (std::uint64_t i = 0; i < 3; ++i) {
      group.run([&, i] {
        group.run([&, i] {
          ++ran[i];
          if (i == thrower) throw 1;
        });
        TaskGroup inner(pool);
        inner.run([&, i] { ++ran[3 + i]; });
        inner.wait();
      });
    }
    std::thread others[] = {std::thread(wait), std::thread(wait)};
    const Future<void> task = pool.submit(wait);
    wait();
    for (std::thread& other : others) other.join();
    (void)task.wait();
  }
}

std::uint64_t tree(ThreadPool& pool, std::uint64_t seed, int depth) {
  if (depth == 0) return 1;
  std::uint64_t sums[4] = {};
  TaskGroup group(pool);
  const std::uint64_t parts = 1 + seed % 4;
  for (std::uint64_t i = 0; i < parts; ++i) {
    group.run([&pool, &sums, seed, depth, i] {
      sums[i] = tree(pool, seed * 2862933555777941757U + i, depth - 1);
    });
  }
  EXPECT_EQ(group.wait(Until()), Status::ok);
  return sums[0] + sums[1] + sums[2] + sums[3];
}

std::uint64_t leaves(std::uint64_t seed, int depth) {
  if (depth == 0) return 1;
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < 1 + seed % 4; ++i) {
    sum += leaves(seed * 2862933555777941757U + i, depth - 1);
  }
  return sum;
}

TEST_P(ThreadPoolStress, UnbalancedTrees) {
  auto random = test::random();
  test::AuditedPool pool(options(4));
  const std::size_t rounds = test::rounds(200);
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::uint64_t seed = random();
    ASSERT_EQ(tree(pool, seed, 7), leaves(seed, 7));
  }
}

// Pools of every mode that have worked and have nothing to do.
// What a Future came to.
template <class R>
bool has_ended(Future<R> future) {
  try {
    (void)future.get();
  } catch (const NotRun&) {
  }
  return true;
}

// Races, deadlines, requests to stop and 64 readers, all at once: each Future ends, each task is
// counted once, and nothing of what they hold is left.
TEST_P(ThreadPoolStress, FuturesEndOnce) {
  const auto held = std::make_shared<int>(1);
  const std::size_t rounds = test::rounds(300);
  for (std::size_t round = 0; round < rounds; ++round) {
    auto random = test::random(round);
    test::AuditedPool pool(options(1 + random() % 4));
    const auto begin = [&]() -> Future<int> {
      if (random() % 2 == 0) return pool.submit([held] { return *held; });
      return pool.submit([held, turns = random() % 500](const sync::StopToken& stop) {
        for (auto left = turns; left > 0 && !stop.stop_requested(); --left) sync::yield();
        return *held;
      });
    };
    const auto follow = [&](Future<int> future) -> Future<int> {
      const std::chrono::microseconds time(random() % 200);
      if (random() % 2 == 0) future = std::move(future).then([held](int n) { return n + *held; });
      return random() % 2 == 0 ? std::move(future) : with_timeout(pool, std::move(future), time);
    };
    std::vector<Future<int>> parts;
    for (int i = 0; i < 8; ++i) parts.push_back(follow(begin()));
    auto all = when_all(begin(), follow(begin()));
    auto any = when_any(std::move(parts));
    if (random() % 2 == 0) (void)all.request_stop();
    if (random() % 2 == 0) (void)any.request_stop();
    const auto config = follow(begin()).share();
    std::vector<std::thread> readers;
    for (int i = 0; i < (round % 50 == 0 ? 64 : 2); ++i) {
      readers.emplace_back([config] { config.wait(); });
    }
    EXPECT_TRUE(has_ended(std::move(any)));
    EXPECT_TRUE(has_ended(std::move(all)));
    for (std::thread& reader : readers) reader.join();
    const Tally tally = pool.close();
    ASSERT_TRUE(tally.balanced());
    ASSERT_EQ(tally.pending, 0U);
  }
  EXPECT_EQ(held.use_count(), 1);
}

TEST(ThreadPoolStressIdle, SleepingPoolsCostNothing) {
  using namespace std::chrono_literals;
  const test::ThreadsSince threads;
  std::vector<ThreadPool> pools;
  for (const PoolMode mode : test::each_mode) {
    ThreadPoolOptions options;
    options.mode = mode;
    options.width = 4;
    pools.emplace_back(options);
    for (int i = 0; i < 100; ++i) pools.back().post([] {});
  }
  for (ThreadPool& pool : pools) pool.wait();
  std::this_thread::sleep_for(500ms);
  const auto before = threads.cpu_time();
  std::this_thread::sleep_for(10s);
  EXPECT_GE(threads.made().size(), 3 * 4 + 1U);  // `cached` keeps as many as there are CPUs
  EXPECT_LE(threads.cpu_time() - before, 10ms);
  for (ThreadPool& pool : pools) EXPECT_TRUE(pool.close().balanced());
}

// The same harness must see a task that ran twice or never.
TEST(ThreadPoolStressCanary, TheCountSeesALostTask) {
  test::AuditedPool pool({.width = 2});
  std::atomic<std::uint64_t> begun{0};
  for (int i = 0; i < 10; ++i) {
    pool.post([&, i] { begun += i == 3 ? 0 : 1; });
  }
  EXPECT_NE(pool.close().done, begun);
}

}  // namespace
