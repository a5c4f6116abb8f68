// SPDX-License-Identifier: MIT
//
// The watchdog: it tells of tasks that wait for each other in a circle, once, and of no others. Its
// throw breaks the circle, or these tests would hang.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <handoff/core/when_all.hpp>
#include <handoff/pool/blocking.hpp>
#include <handoff/pool/parallel_for.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "support/support.hpp"
#include "support/threads_of_process.hpp"
#include "unit/pool/modes.hpp"

namespace {

using namespace handoff;
using test::Gate;

struct Circle : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Until the Future is ready and the pools have nothing left: tasks that wait for it, too, have left
// it then.
template <class... Pools>
void await_end(const Future<int>& future, Pools&... pools) {
  while (!future.is_ready()) std::this_thread::yield();
  const auto end = [](ThreadPool& pool) { pool.wait(); };
  (end(pools), ...);
}

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
  // The workers in the order in which they wait; first the one that was thrown out.
  std::vector<std::size_t> close_circle(ThreadPool& pool, std::size_t count) {
    std::vector<Future<int>> futures(count);
    std::atomic<std::size_t> inside{0};
    Gate all_there;
    std::atomic<std::size_t> awake{0};
    std::atomic<int> broken{0};
    std::size_t closer = 0;
    std::vector<std::size_t> workers(count);
    for (std::size_t i = 0; i < count; ++i) {
      futures[i] = pool.submit([&, i] {
        workers[i] = pool.worker_index().value();
        ++inside;
        all_there.wait();
        ++awake;
        while (awake < count) std::this_thread::yield();
        try {
          futures[(i + 1) % count].wait();
        } catch (const Circle&) {
          ++broken;
          closer = i;
        }
        return 1;
      });
    }
    while (inside < count) std::this_thread::yield();
    all_there.open();
    for (const Future<int>& future : futures) future.wait();
    EXPECT_EQ(broken, 1);
    std::rotate(workers.begin(), workers.begin() + static_cast<std::ptrdiff_t>(closer),
                workers.end());
    return workers;
  }

  std::mutex mutex_;
  std::vector<WaitCycle> told_;
};
HANDOFF_EACH_MODE(WaitCycleTest);

TEST_P(WaitCycleTest, ACircleIsToldOnceWithItsTasks) {
  for (const std::size_t count : {2U, 3U, 5U}) {
    ThreadPool pool(watched(count));
    told_.clear();
    const std::vector<std::size_t> wanted = close_circle(pool, count);
    ASSERT_EQ(told_.size(), 1U);
    std::vector<std::size_t> workers;
    for (const WaitCycle::Task& task : told_[0].tasks) {
      workers.push_back(task.worker);
      // g++ names a lambda by its function, clang by its file.
      EXPECT_TRUE(task.name.find("close_circle") != std::string::npos ||
                  task.name.find("wait_cycle_test") != std::string::npos)
          << task.name;
      EXPECT_NE(told_[0].to_string().find(task.name), std::string::npos);
    }
    EXPECT_EQ(workers, wanted) << "the one that closed it first, then the one that each waits for";
  }
}

TEST_P(WaitCycleTest, ACircleClosedFromAllSidesAtOnceIsToldOnce) {
  const std::size_t rounds = test::rounds(1000);
  ThreadPool pool(watched(2));
  for (std::size_t i = 0; i < rounds; ++i) {
    told_.clear();
    close_circle(pool, 2);
    ASSERT_EQ(told_.size(), 1U) << "round " << i;
  }
}

TEST_P(WaitCycleTest, ATaskThatWaitsForItselfIsACircleOfOne) {
  Gate there;
  ThreadPool pool(watched(1));
  Future<int> own;
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

// A thread that is thrown out and waits again closes the circle again.
TEST_P(WaitCycleTest, ACircleThatIsClosedAgainIsToldAgain) {
  Gate all_there;
  ThreadPool pool(watched(2));
  std::array<Future<int>, 2> futures;
  std::array<std::atomic<int>, 2> broken{};
  std::atomic<int> inside{0};
  for (std::size_t i = 0; i < 2; ++i) {
    futures[i] = pool.submit([&, i] {
      ++inside;
      all_there.wait();
      while (broken[i] < 3) {
        try {
          futures[1 - i].wait();
          break;
        } catch (const Circle&) {
          ++broken[i];
        }
      }
      return 1;
    });
  }
  while (inside < 2) std::this_thread::yield();
  all_there.open();
  await_end(futures[0], pool);
  EXPECT_EQ(broken[0] + broken[1], 3) << "the other one slept on";
  EXPECT_EQ(told_.size(), 3U);
}

// What lies below on the stack of a thread waits with it.
TEST_P(WaitCycleTest, WaitsBelowOthersCount) {
  Gate there;
  ThreadPool pool(watched(1));
  Future<int> outer;
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
  Gate there;
  ThreadPool one(watched(1));
  ThreadPool other(watched(1));
  Future<int> first;
  Future<int> second;
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

// Waits that nobody can be thrown out of, and those that end when they are told to: the hook asks
// them to stop.
class StoppedWaitTest : public test::ModeTest {
 protected:
  ThreadPoolOptions watched(std::size_t width) {
    ThreadPoolOptions given = options(width);
    given.core = GetParam() == PoolMode::cached ? width : 0;
    given.on_wait_cycle = [this](const WaitCycle& cycle) {
      const std::lock_guard lock(mutex_);
      told_.push_back(cycle);
      stop_.request_stop();
    };
    return given;
  }
  // For ever, but for the hook.
  template <class R>
  Status wait(const Future<R>& future) {
    return future.wait(stop_.get_token());
  }

  void expect_told(std::size_t tasks) {
    ASSERT_EQ(told_.size(), 1U);
    EXPECT_EQ(told_[0].tasks.size(), tasks) << told_[0].to_string();
    for (const WaitCycle::Task& task : told_[0].tasks) {
      EXPECT_EQ(task.queued, "") << told_[0].to_string();
    }
  }
  void expect_told_queued(const std::string& queued) {
    ASSERT_EQ(told_.size(), 1U);
    int found = 0;
    for (const WaitCycle::Task& task : told_[0].tasks) {
      if (task.queued.find(queued) == std::string::npos) continue;
      ++found;
      const std::string text = task.queued + ", queued behind worker";
      EXPECT_NE(told_[0].to_string().find(text), std::string::npos);
    }
    EXPECT_EQ(found, 1) << told_[0].to_string();
  }

  std::mutex mutex_;
  std::vector<WaitCycle> told_;
  std::stop_source stop_;
};
HANDOFF_EACH_MODE(StoppedWaitTest);

int same(int n) { return n; }

TEST_P(WaitCycleTest, ACircleThroughContinuationsIsTold) {
  Gate there;
  ThreadPool pool(watched(2));
  std::array<Future<int>, 2> futures;
  std::atomic<int> inside{0};
  std::atomic<int> broken{0};
  for (std::size_t i = 0; i < 2; ++i) {
    futures[i] = pool.submit([&, i] {
      ++inside;
      there.wait();
      std::vector<Future<int>> all;
      all.push_back(std::move(futures[1 - i]).then(same));
      try {
        return when_all(std::move(all)).then([](auto ready) { return ready[0].get(); }).get();
      } catch (const Circle&) {
        ++broken;
      }
      return 1;
    });
  }
  while (inside < 2) std::this_thread::yield();
  there.open();
  EXPECT_EQ(pool.close().done, 2U);
  EXPECT_EQ(broken, 1);
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].tasks.size(), 2U) << told_[0].to_string();
}

// A function that follows a task runs on that one's thread, and waits there like a task.
TEST_P(WaitCycleTest, ACircleThroughWhatAContinuationRunsIsTold) {
  Gate there;
  ThreadPool pool(watched(2));
  Future<int> outer;
  Future<int> followed;
  std::atomic<int> inside{0};
  outer = pool.submit([&] {
    ++inside;
    there.wait();
    return followed.get();
  });
  followed = pool.submit([&] {
                   ++inside;
                   there.wait();
                   return 1;
                 })
                 .then([&](int n) {
                   outer.wait();
                   return n;
                 });
  while (inside < 2) std::this_thread::yield();
  there.open();
  await_end(outer, pool);
  EXPECT_THROW((void)outer.get(), Circle);
  EXPECT_EQ(told_.size(), 1U);
}

TEST_P(StoppedWaitTest, ACircleThroughAGroupIsTold) {
  Gate there;
  ThreadPool pool(watched(2));
  Future<int> outer;
  outer = pool.submit([&] {
    there.wait();
    Gate stolen;
    TaskGroup group(pool);
    group.run([&] {
      stolen.open();
      EXPECT_EQ(wait(outer), Status::stopped);
    });
    stolen.wait();  // it runs on the other worker
    EXPECT_EQ(group.wait(Until()), Status::ok);
    return 1;
  });
  there.open();
  EXPECT_EQ(outer.get(), 1);
  expect_told(2);
}

// The thread that closes the circle has a seat in a pool without a watchdog on top.
TEST_P(StoppedWaitTest, ASeatInAnUnwatchedPoolHidesNothing) {
  Gate there;
  ThreadPool pool(watched(2));
  Future<int> outer;
  outer = pool.submit([&] {
    there.wait();
    std::atomic<pid_t> thief{0};
    TaskGroup group(pool);
    group.run([&] {
      thief = gettid();
      EXPECT_EQ(wait(outer), Status::stopped);
    });
    while (thief == 0) std::this_thread::yield();
    test::await_long_sleep(thief);
    ThreadPool unwatched(options(1));
    const TaskGroup seat(unwatched);
    EXPECT_EQ(group.wait(Until()), Status::ok);
    return 1;
  });
  there.open();
  EXPECT_EQ(outer.get(), 1);
  expect_told(2);
}

TEST_P(StoppedWaitTest, ACircleThroughALoopIsTold) {
  Gate there;
  ThreadPool pool(watched(2));
  Future<int> outer;
  outer = pool.submit([&] {
    there.wait();
    const auto here = std::this_thread::get_id();
    std::atomic<int> inside{0};
    parallel_for(pool, 0, 2, [&](std::size_t) {
      ++inside;
      while (inside < 2) std::this_thread::yield();
      if (std::this_thread::get_id() == here) return;
      EXPECT_EQ(wait(outer), Status::stopped);
    });
    return 1;
  });
  there.open();
  EXPECT_EQ(outer.get(), 1);
  expect_told(2);
}

TEST_P(StoppedWaitTest, WhatTheHookThrowsInAGroupIsAFailureOfTheGroup) {
  ThreadPoolOptions given = options(2);
  given.on_wait_cycle = [this](const WaitCycle&) {
    stop_.request_stop();
    throw Circle("told");
  };
  Gate there;
  ThreadPool pool(given);
  Future<int> outer;
  outer = pool.submit([&] {
    there.wait();
    Gate waits;
    TaskGroup group(pool);
    group.run([&] {
      waits.open();
      try {
        (void)wait(outer);
      } catch (const Circle&) {
        throw;  // if it was this one that closed the circle
      }
    });
    waits.wait();
    EXPECT_THROW(group.wait(), Circle);
    return 1;
  });
  there.open();
  EXPECT_EQ(outer.get(), 1);
}

// A timed closure has no name: the hook gets the name of the task, or that it was to begin later.
TEST_P(StoppedWaitTest, ACircleThroughATimedTaskIsTold) {
  for (const char* const name : {"", "flush"}) {
    stop_ = {};
    told_.clear();
    Gate there;
    ThreadPool pool(watched(2));
    Future<int> outer;
    outer = pool.submit([&] {
      there.wait();
      Gate begun;
      TimerHandle timer = pool.post_after(std::chrono::seconds(0),
                                          [&] {
                                            begun.open();
                                            EXPECT_EQ(wait(outer), Status::stopped);
                                          },
                                          {.name = name});
      begun.wait();
      EXPECT_FALSE(timer.cancel_and_wait());
      return 1;
    });
    there.open();
    EXPECT_EQ(outer.get(), 1);
    expect_told(2);
    ASSERT_FALSE(HasFailure());
    const std::string wanted = *name != 0 ? name : "a task that was to begin later";
    EXPECT_NE(told_[0].to_string().find(wanted), std::string::npos) << told_[0].to_string();
  }
}

TEST_P(StoppedWaitTest, ACircleThroughTheEndOfAnotherPoolIsTold) {
  ThreadPool pool(watched(1));
  for (const bool closes : {false, true}) {
    stop_ = {};
    told_.clear();
    Future<int> outer;
    Gate there;
    outer = pool.submit([&] {
      there.wait();
      Gate begun;
      ThreadPool other(watched(1));
      other.post([&] {
        begun.open();
        EXPECT_EQ(wait(outer), Status::stopped);
      });
      begun.wait();
      if (!closes) {
        other.wait();
      }
      return 1;
    });
    there.open();
    EXPECT_EQ(outer.get(), 1);
    expect_told(2);
  }
}

// With a stop token a wait does not help, and so may wait for what is queued behind it.
TEST_P(StoppedWaitTest, WhatIsQueuedBehindAllWhoWaitIsTold) {
  for (const std::size_t width : {1U, 2U}) {
    ThreadPool pool(watched(width));
    stop_ = {};
    told_.clear();
    std::atomic<std::size_t> inside{0};
    std::vector<Future<int>> waiting;
    for (std::size_t i = 0; i < width; ++i) {
      waiting.push_back(pool.submit([&] {
        ++inside;
        while (inside < width) std::this_thread::yield();
        auto queued = pool.submit(same, 3);
        auto next = std::move(queued).then(same).then(same);
        (void)wait(next);  // stopped; or ok, if the other one was stopped before and then began it
        return next.get();  // helps
      }));
    }
    for (Future<int>& future : waiting) EXPECT_EQ(future.get(), 3);
    expect_told_queued("int (*)(int)");
    EXPECT_EQ(told_[0].tasks.size(), 1U) << "itself is one of those who would have to begin it";
  }
}

TEST_P(StoppedWaitTest, WhatIsQueuedInAPoolThatWaitsForUsIsTold) {
  Gate there;
  ThreadPool pool(watched(1));
  ThreadPool other(watched(1));
  Future<int> outer;
  outer = pool.submit([&] {
    there.wait();
    Gate begun;
    auto busy = other.submit([&] {
      begun.open();
      (void)wait(outer);  // stopped; or ok, if the other one was stopped before
    });
    begun.wait();
    auto queued = other.submit(same, 1);
    (void)wait(queued);
    return queued.get();
  });
  there.open();
  await_end(outer, pool, other);
  EXPECT_EQ(outer.get(), 1);
  expect_told_queued("int (*)(int)");
  EXPECT_EQ(told_[0].tasks.size(), 2U) << told_[0].to_string();
}

// A thread outside with a seat runs tasks of its group and of the worker that stole one, and
// nothing else: once it sleeps until the group is done it is one of the threads that are stuck.
TEST_P(StoppedWaitTest, WhatIsQueuedBehindTheGroupOfAThreadOutsideIsTold) {
  Gate stolen;
  ThreadPool pool(watched(1));
  TaskGroup group(pool);
  group.run([&] {
    stolen.open();
    // Where no thief finds it.
    auto queued =
        pool.submit([] { return same(1); }, {.name = "the same", .priority = Priority::low});
    EXPECT_EQ(wait(queued), Status::stopped);
    EXPECT_EQ(queued.get(), 1);
  });
  stolen.wait();
  EXPECT_EQ(group.wait(Until()), Status::ok);
  expect_told_queued("the same");
}

TEST_P(StoppedWaitTest, WhatAnotherWorkerOrAStandInBeginsIsNotTold) {
  {
    ThreadPool pool(watched(2));
    for (int i = 0; i < 50; ++i) {
      auto waiting = pool.submit([&] { return wait(pool.submit(same, 1).then(same)); });
      EXPECT_EQ(waiting.get(), Status::ok);
    }
  }
  ThreadPool pool(watched(1));
  for (int i = 0; i < 50; ++i) {
    auto waiting = pool.submit(
        [&] { return blocking([&] { return wait(pool.submit(same, 1).then(same)); }); });
    EXPECT_EQ(waiting.get(), Status::ok);
  }
  EXPECT_TRUE(told_.empty()) << told_[0].to_string();
}

// A wait for a task of another pool lends a worker, which begins what is queued behind it.
TEST_P(StoppedWaitTest, WhatAStandInForAFutureBeginsIsNotTold) {
  ThreadPool pool(watched(1));
  ThreadPool other(watched(1));
  for (std::size_t round = 0; round < test::rounds(100); ++round) {
    Gate begun;
    Gate there;
    Future<int> queued;
    auto busy = other.submit([&] {
      begun.open();
      there.wait();
      return wait(queued);
    });
    begun.wait();
    Gate waits;
    auto waiting = pool.submit([&] {
      waits.open();
      return busy.get();
    });
    waits.wait();
    queued = pool.submit(same, 1);
    there.open();
    ASSERT_EQ(waiting.get(), Status::ok);
  }
  EXPECT_TRUE(told_.empty()) << told_[0].to_string();
}

// The thread that could begin it sleeps, too, but not for ever: at the end of the chain somebody is
// awake.
TEST_P(StoppedWaitTest, WhatASleeperThatWillWakeBeginsIsNotTold) {
  Gate gate;
  ThreadPool pool(watched(2));
  ThreadPool other(watched(2));
  auto awake = other.submit([&] {
    gate.wait();
    return 1;
  });
  std::atomic<pid_t> sleeper{0};
  const auto falls_asleep = [&](ThreadPool& where, auto&& wait_there) {
    auto waiting = where.submit([&sleeper, wait_there] {
      sleeper = gettid();
      return wait_there();
    });
    while (sleeper == 0) std::this_thread::yield();
    test::await_long_sleep(sleeper.exchange(0));
    return waiting;
  };
  auto first = falls_asleep(other, [&] { return wait(awake); });
  auto second = falls_asleep(pool, [&] { return wait(first); });
  auto third = falls_asleep(pool, [&] { return wait(pool.submit(same, 1).then(same)); });
  gate.open();
  for (ThreadPool* const each : {&other, &pool}) each->wait();
  for (Future<Status>* const future : {&first, &second, &third}) {
    EXPECT_EQ(future->get(), Status::ok);  // nobody else looks at it any more
  }
  EXPECT_TRUE(told_.empty()) << told_[0].to_string();
}

TEST_P(WaitCycleTest, WaitsThatEndAreNotTold) {
  Gate there;
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
  own = pool.submit([&] {
    there.wait();
    return own.wait(std::chrono::milliseconds(1));
  });
  there.open();
  EXPECT_EQ(own.get(), Status::timed_out);
  EXPECT_TRUE(told_.empty());
}

}  // namespace
