// SPDX-License-Identifier: MIT
//
// Faults that pools are known for: none of them must come in. (The herd of wake-ups needs counted
// calls and is in failing_calls_test.cpp.) usual_fault_mutants_test.cpp puts each of them in.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/sync/detail/pause.hpp>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "support/support.hpp"
#include "unit/pool/modes.hpp"

namespace {

using namespace handoff;

class UsualFaults : public test::ModeTest {};
HANDOFF_EACH_MODE(UsualFaults);

// A future of another type than the function's result.
TEST_P(UsualFaults, TheFutureHasTheTypeOfTheResult) {
  ThreadPool pool(options(1));
  auto text = pool.submit([](int n) { return "n=" + std::to_string(n); }, 3);
  static_assert(std::is_same_v<decltype(text), Future<std::string>>);
  EXPECT_EQ(text.get(), "n=3");
}

// What was measured was the hand-over; the tasks had not run.
TEST_P(UsualFaults, WaitMeansThatAllHaveRun) {
  ThreadPool pool(options(2));
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> ran{0};
    for (int i = 0; i < 1000; ++i) pool.post([&] { ++ran; });
    pool.wait();
    ASSERT_EQ(ran, 1000);
  }
}

// Threads that began before the pool was running left again; indices from a counter that all
// pools shared.
TEST_P(UsualFaults, WorkersStayAndAreNumberedPerPool) {
  for (std::size_t round = 0; round < test::rounds(300); ++round) {
    ThreadPool first(options(2));
    ThreadPool second(options(2));
    std::atomic<int> met{0};
    std::atomic<unsigned> indices{0};
    for (int i = 0; i < 2; ++i) {
      second.post([&] {
        EXPECT_EQ(first.worker_index(), std::nullopt);
        indices |= 1U << second.worker_index().value();
        ++met;
        while (met < 2) std::this_thread::yield();  // both workers at once, or this hangs
      });
    }
    (void)second.close();  // does not help, so it was the workers
    ASSERT_EQ(indices, 3U);
  }
}

// A wake-up that got lost left a task asleep until the next one came.
TEST_P(UsualFaults, NoTaskIsLeftAsleep) {
  auto random = test::random();
  ThreadPool pool(options(2));
  for (std::size_t round = 0; round < test::rounds(2'000); ++round) {
    std::atomic<bool> ran{false};
    for (std::uint64_t pause = random() % 2000; pause > 0; --pause) sync::pause();
    pool.post([&] { ran = true; });
    while (!ran) std::this_thread::yield();
  }
}

// Shutting down hung, or a late worker touched what was gone.
TEST_P(UsualFaults, EndsAtAnyMoment) {
  auto random = test::random(1);
  for (std::size_t round = 0; round < test::rounds(500); ++round) {
    ThreadPool pool(options(1 + random() % 4));
    for (std::uint64_t i = random() % 3; i > 0; --i) pool.post([] {});
    for (std::uint64_t pause = random() % 1000; pause > 0; --pause) sync::pause();
  }
}

// Counts that were set after the threads had begun to change them.
TEST_P(UsualFaults, TheCountIsExactFromTheFirstMoment) {
  for (std::size_t round = 0; round < test::rounds(500); ++round) {
    ThreadPool pool(options(3));
    ASSERT_EQ(pool.width(), 3U);
    for (int i = 0; i < 3; ++i) pool.post([] {});
    const Tally tally = pool.close();
    ASSERT_EQ(tally.accepted, 3U);
    ASSERT_EQ(tally.done, 3U);
    ASSERT_EQ(pool.width(), 3U);
  }
}

// A refused task gave a ready future with an invented result.
TEST_P(UsualFaults, ARefusalIsNoResult) {
  auto given = options(1);
  given.capacity = 1;
  given.on_full = OnFull::reject;
  test::Gate gate;
  ThreadPool pool(given);
  test::hold(pool, gate);
  auto accepted = pool.submit([] { return 5; });
  EXPECT_THROW((void)pool.submit([] { return 5; }), NotRun);
  gate.open();
  EXPECT_EQ(accepted.get(), 5);
  (void)pool.close();
  EXPECT_THROW((void)pool.submit([] { return 5; }), NotRun);
}

// What had not begun was dropped without a word.
TEST_P(UsualFaults, TheDestructorDrains) {
  std::atomic<int> ran{0};
  Future<int> last;
  {
    ThreadPool pool(options(1));
    for (int i = 0; i < 1000; ++i) pool.post([&] { ++ran; });
    last = pool.submit([] { return 7; });
  }
  EXPECT_EQ(ran, 1000);
  EXPECT_EQ(last.get(), 7);
}

// Tasks were bound to a worker at the hand-over, and stuck behind a long one.
TEST_P(UsualFaults, NoTaskIsStuckBehindALongOne) {
  test::Gate gate;
  ThreadPool pool(options(2));
  pool.post([&] { gate.wait(); });
  std::atomic<int> ran{0};
  for (int i = 0; i < 1000; ++i) pool.post([&] { ++ran; });
  while (ran < 1000) std::this_thread::yield();  // hangs if one is stuck
  gate.open();
  ThreadPool single(options(1));
  EXPECT_EQ(single.submit([&] { return single.submit([] { return 1; }).get(); }).get(), 1);
}

// No move-only arguments, no member functions, results with a default constructor only, and a
// mode that there is not made no pool.
TEST_P(UsualFaults, TakesEveryCallableAndNoUnknownMode) {
  struct MadeOfAnInt {
    explicit MadeOfAnInt(int v) : value(v) {}
    int read() const { return value; }
    int value;
  };
  ThreadPool pool(options(1));
  EXPECT_EQ(
      pool.submit([](std::unique_ptr<int> p) { return MadeOfAnInt(*p); }, std::make_unique<int>(4))
          .get()
          .value,
      4);
  EXPECT_EQ(pool.submit(&MadeOfAnInt::read, MadeOfAnInt(6)).get(), 6);
  auto unknown = options(1);
  unknown.mode = PoolMode{99};
  EXPECT_THROW(ThreadPool{unknown}, std::logic_error);
}

}  // namespace
