// SPDX-License-Identifier: MIT
//
// The watchdog: it tells of tasks that wait for each other in a circle, once, and of no others. Its
// throw breaks the circle, or these tests would hang.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <handoff/pool/thread_pool.hpp>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/support.hpp"
#include "unit/pool/modes.hpp"

namespace {

using namespace handoff;
using test::Gate;

struct Circle : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class WaitCycleTest : public test::ModeTest {
 protected:
  ThreadPoolOptions watched(std::size_t width) {
    ThreadPoolOptions given = options(width);
    given.on_wait_cycle = [this](const WaitCycle& cycle) {
      const std::lock_guard lock(mutex_);
      told_.push_back(cycle);
      throw Circle(cycle.to_string());
    };
    return given;
  }

  // Tasks 0 to count - 1 on so many workers, each waits for the next one, from the same moment on.
  void close_circle(ThreadPool& pool, std::size_t count) {
    std::vector<Future<int>> futures(count);
    std::atomic<std::size_t> inside{0};
    Gate all_there;
    std::atomic<std::size_t> awake{0};
    std::atomic<int> broken{0};
    for (std::size_t i = 0; i < count; ++i) {
      futures[i] = pool.submit([&, i] {
        ++inside;
        all_there.wait();
        ++awake;
        while (awake < count) std::this_thread::yield();
        try {
          futures[(i + 1) % count].wait();
        } catch (const Circle&) {
          ++broken;
        }
        return 1;
      });
    }
    while (inside < count) std::this_thread::yield();
    all_there.open();
    for (const Future<int>& future : futures) future.wait();
    EXPECT_EQ(broken, 1);
  }

  std::mutex mutex_;
  std::vector<WaitCycle> told_;
};
HANDOFF_EACH_MODE(WaitCycleTest);

TEST_P(WaitCycleTest, ACircleIsToldOnceWithItsTasks) {
  for (const std::size_t count : {2U, 3U, 5U}) {
    ThreadPool pool(watched(count));
    told_.clear();
    close_circle(pool, count);
    ASSERT_EQ(told_.size(), 1U);
    ASSERT_EQ(told_[0].tasks.size(), count);
    std::vector<bool> seen(count);
    for (const WaitCycle::Task& task : told_[0].tasks) {
      ASSERT_LT(task.worker, count);
      EXPECT_FALSE(seen[task.worker]) << "each worker once";
      seen[task.worker] = true;
      // g++ names a lambda by its function, clang by its file.
      EXPECT_TRUE(task.name.find("close_circle") != std::string::npos ||
                  task.name.find("wait_cycle_test") != std::string::npos)
          << task.name;
      EXPECT_NE(told_[0].to_string().find(task.name), std::string::npos);
    }
  }
}

TEST_P(WaitCycleTest, ACircleClosedFromAllSidesAtOnceIsToldOnce) {
  const std::size_t rounds = test::rounds(3000);
  ThreadPool pool(watched(2));
  for (std::size_t i = 0; i < rounds; ++i) {
    told_.clear();
    close_circle(pool, 2);
    ASSERT_EQ(told_.size(), 1U) << "round " << i;
  }
}

TEST_P(WaitCycleTest, ATaskThatWaitsForItselfIsACircleOfOne) {
  ThreadPool pool(watched(1));
  Future<int> own;
  Gate there;
  own = pool.submit([&]() -> int {
    there.wait();
    own.wait();
    return 1;
  });
  there.open();
  EXPECT_THROW((void)own.get(), Circle);
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].tasks.size(), 1U);
  EXPECT_EQ(told_[0].tasks[0].worker, 0U);
}

// What lies below on the stack of a thread waits with it.
TEST_P(WaitCycleTest, WaitsBelowOthersCount) {
  ThreadPool pool(watched(1));
  Future<int> outer;
  Gate there;
  outer = pool.submit([&] {
    there.wait();
    auto inner = pool.submit([&] {
      outer.wait();  // on the stack of what it waits for
      return 1;
    });
    return inner.get();
  });
  there.open();
  EXPECT_THROW((void)outer.get(), Circle);
  EXPECT_EQ(told_.size(), 1U);
}

TEST_P(WaitCycleTest, ACircleThroughTwoPoolsIsFound) {
  ThreadPool one(watched(1));
  ThreadPool other(watched(1));
  Future<int> first;
  Future<int> second;
  Gate there;
  std::atomic<int> inside{0};
  const auto wait_for = [&](Future<int>& next) {
    ++inside;
    there.wait();
    next.wait();
    return 1;
  };
  first = one.submit([&] { return wait_for(second); });
  second = other.submit([&] { return wait_for(first); });
  while (inside < 2) std::this_thread::yield();
  there.open();
  first.wait();
  second.wait();
  int broken = 0;
  for (Future<int>* future : {&first, &second}) {
    try {
      EXPECT_EQ(future->get(), 1);
    } catch (const Circle&) {
      ++broken;
    }
  }
  EXPECT_GE(broken, 1);
  EXPECT_EQ(told_.size(), 1U);
}

TEST_P(WaitCycleTest, WaitsThatEndAreNotTold) {
  ThreadPool pool(watched(3));
  for (int round = 0; round < 50; ++round) {
    Gate gate;
    std::atomic<int> inside{0};
    auto last = pool.submit([&] {
      ++inside;
      gate.wait();
      return 1;
    });
    auto middle = pool.submit([&] {
      ++inside;
      while (inside < 2) std::this_thread::yield();
      return last.get() + 1;
    });
    while (inside < 2) std::this_thread::yield();
    auto first = pool.submit([&] { return middle.get() + 1; });
    std::this_thread::yield();
    gate.open();
    EXPECT_EQ(first.get(), 3);
  }
  // With a deadline the circle opens by itself.
  Future<Status> own;
  Gate there;
  own = pool.submit([&] {
    there.wait();
    return own.wait_for(std::chrono::milliseconds(1));
  });
  there.open();
  EXPECT_EQ(own.get(), Status::timed_out);
  EXPECT_TRUE(told_.empty());
}

}  // namespace
