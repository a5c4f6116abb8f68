// SPDX-License-Identifier: MIT
//
// TaskGroup: division, nesting, cancelling, failures, owners of all kinds.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/sync/clock.hpp>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include "support/support.hpp"
#include "unit/pool/modes.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;
using test::Gate;

class TaskGroupTest : public test::ModeTest {};
HANDOFF_EACH_MODE(TaskGroupTest);

long fib(ThreadPool& pool, int n) {
  if (n < 2) return n;
  long a = 0;
  TaskGroup group(pool);
  group.run([&] { a = fib(pool, n - 1); });
  const long b = fib(pool, n - 2);
  group.wait();
  return a + b;
}

TEST_P(TaskGroupTest, DividesAndWaits) {
  const int n = test::sanitized ? 14 : 20;
  const long expected = test::sanitized ? 377 : 6765;
  for (const std::size_t width : {1U, 2U, 5U}) {
    ThreadPool pool(options(width));
    EXPECT_EQ(fib(pool, n), expected) << "from outside";
    EXPECT_EQ(pool.submit([&] { return fib(pool, n); }).get(), expected) << "from inside";
    EXPECT_TRUE(pool.close().balanced());
  }
}

int nest(ThreadPool& pool, int depth) {
  if (depth == 0) return 0;
  int below = 0;
  TaskGroup group(pool);
  group.run([&] { below = nest(pool, depth - 1); });
  group.wait();
  return below + 1;
}

TEST_P(TaskGroupTest, NestsDeeply) {
  const int depth = test::sanitized ? 1'000 : 10'000;
  for (const std::size_t width : {1U, 2U, 8U}) {
    ThreadPool pool(options(width));
    EXPECT_EQ(pool.submit([&] { return nest(pool, depth); }).get(), depth);
  }
}

TEST_P(TaskGroupTest, TasksOfAGroupMayAddToIt) {
  ThreadPool pool(options(3));
  for (std::size_t round = 0; round < test::rounds(200); ++round) {
    std::atomic<int> ran{0};
    TaskGroup group(pool);
    for (int i = 0; i < 4; ++i) {
      group.run([&] {
        ++ran;
        for (int k = 0; k < 3; ++k) {
          group.run([&] {
            ++ran;
            group.run([&] { ++ran; });
          });
        }
      });
    }
    ASSERT_EQ(group.wait(Until()), Status::ok);
    ASSERT_EQ(ran, 28);
  }
}

TEST_P(TaskGroupTest, MayBeUsedAgainAndBesideOthers) {
  ThreadPool pool(options(2));
  std::atomic<int> ran{0};
  auto first = std::make_unique<TaskGroup>(pool);
  auto second = std::make_unique<TaskGroup>(pool);
  for (int round = 0; round < 10; ++round) {
    first->run([&] { ++ran; });
    second->run([&] { ++ran; });
    first->wait();
  }
  first.reset();
  second->wait();
  second.reset();
  EXPECT_EQ(ran, 20);
}

TEST_P(TaskGroupTest, TheDestructorWaits) {
  ThreadPool pool(options(2));
  std::atomic<int> ran{0};
  {
    TaskGroup group(pool);
    for (int i = 0; i < 100; ++i) group.run([&] { ++ran; });
    group.run([] { throw 1; });
  }
  EXPECT_EQ(ran, 100);
}

TEST_P(TaskGroupTest, WaitRethrowsTheFirstFailureOnce) {
  ThreadPool pool(options(2));
  TaskGroup group(pool);
  std::atomic<int> ran{0};
  for (int i = 0; i < 20; ++i) {
    group.run([&, i] {
      ++ran;
      if (i % 4 == 0) throw std::runtime_error("planned");
    });
  }
  EXPECT_THROW(group.wait(), std::runtime_error);
  EXPECT_EQ(ran, 20);
  EXPECT_EQ(group.wait(Until()), Status::ok);
  pool.wait();
  EXPECT_EQ(pool.close().failed, 5U);
}

// The only worker is held, so nothing begins but what the owner runs, and the group goes on.
TEST_P(TaskGroupTest, AWaitDropsTheRestAndNoMore) {
  test::Gate gate;
  ThreadPool pool(options(1));
  test::hold(pool, gate);
  std::stop_source source;
  source.request_stop();
  const std::stop_token stop = source.get_token();
  int ran = 0;
  TaskGroup group(pool);
  for (const Until& until : {Until(stop), Until(sync::clock::now())}) {
    group.run([&ran] { ++ran; });
    EXPECT_EQ(group.wait(until), until.has_deadline() ? Status::timed_out : Status::stopped);
    EXPECT_EQ(ran, 0);
  }
  group.run([&ran] { ++ran; });
  group.wait();
  EXPECT_EQ(ran, 1);
  gate.open();
}

TEST_P(TaskGroupTest, ThePoolsTallyTellsOfItsFailure) {
  ThreadPool pool(options(1));
  {
    TaskGroup group(pool);
    group.run([] { throw std::runtime_error("planned"); });
    EXPECT_THROW(group.wait(), std::runtime_error);
  }
  const Tally tally = pool.close();
  EXPECT_EQ(tally.failed, 1U);
  EXPECT_THROW(std::rethrow_exception(tally.first_failure), std::runtime_error);
}

TEST_P(TaskGroupTest, AWaitWithAnEndDropsWhatHasNotBegun) {
  ThreadPool pool(options(2));
  std::atomic<int> ran{0};
  TaskGroup late(pool);
  for (int i = 0; i < 10; ++i) late.run([&] { ++ran; });
  const Status waited = late.wait(0s);
  EXPECT_EQ(waited, ran == 10 ? Status::ok : Status::timed_out);
  const Tally expired = pool.tally();
  EXPECT_EQ(expired.expired + static_cast<unsigned>(ran), 10U);
  std::stop_source source;
  source.request_stop();
  ran = 0;
  TaskGroup stopped(pool);
  for (int i = 0; i < 10; ++i) stopped.run([&] { ++ran; });
  const Status stopped_as = stopped.wait(source.get_token());  // before a look at what ran
  EXPECT_EQ(stopped_as, ran == 10 ? Status::ok : Status::stopped);
  EXPECT_FALSE(stopped.cancelled()) << "that is for cancel()";
  EXPECT_EQ(pool.tally().cancelled + static_cast<unsigned>(ran), 10U);
  ran = 0;
  TaskGroup in_time(pool);
  for (int i = 0; i < 10; ++i) in_time.run([&] { ++ran; });
  const Status both_as = in_time.wait({1h, source.get_token()});
  EXPECT_EQ(both_as, ran == 10 ? Status::ok : Status::stopped);
  TaskGroup soon(pool);
  for (int i = 0; i < 10; ++i) soon.run([&] { ++ran; });
  EXPECT_EQ(soon.wait(1h), Status::ok);
}

// On one worker, in a task: nobody else could have begun them.
TEST_P(TaskGroupTest, WhatTheOwnerHasToRunItselfIsDroppedToo) {
  ThreadPool pool(options(1));
  const Status waited = pool.submit([&] {
                              TaskGroup group(pool);
                              for (int i = 0; i < 10; ++i) group.run([] { FAIL(); });
                              return group.wait(std::chrono::steady_clock::now());
                            })
                            .get();
  EXPECT_EQ(waited, Status::timed_out);
  EXPECT_EQ(pool.close().expired, 10U);
}

TEST_P(TaskGroupTest, CancelDropsWhatHasNotBegun) {
  Gate begun;
  Gate gate;
  ThreadPool pool(options(1));
  auto holder = pool.submit([&] {
    begun.open();
    gate.wait();
  });
  begun.wait();
  TaskGroup group(pool);
  for (int i = 0; i < 10; ++i) group.run([] { FAIL(); });
  group.cancel();
  EXPECT_TRUE(group.cancelled());
  EXPECT_EQ(group.wait(Until()), Status::stopped);
  gate.open();
  holder.get();
  const Tally tally = pool.close();
  EXPECT_EQ(tally.cancelled, 10U);
  EXPECT_TRUE(tally.balanced());
}

// Each way by which a wait may end, and then the group as if it were new: all that it is given
// runs, and the next wait says so.
TEST_P(TaskGroupTest, IsAsNewAfterEachEndOfAWait) {
  using Wait = void (*)(TaskGroup& group);
  struct WaitEnd {
    const char* name;
    Wait wait;
  };
  constexpr WaitEnd kEnds[] = {
      {"ok", [](TaskGroup& group) { group.wait(); }},
      {"timed_out", [](TaskGroup& group) { EXPECT_EQ(group.wait(0s), Status::timed_out); }},
      {"stopped",
       [](TaskGroup& group) {
         std::stop_source source;
         source.request_stop();
         EXPECT_EQ(group.wait(source.get_token()), Status::stopped);
       }},
      {"cancelled",
       [](TaskGroup& group) {
         group.cancel();
         EXPECT_EQ(group.wait(Until()), Status::stopped);
       }},
      {"cancelled, and a wait with an end",
       [](TaskGroup& group) {
         group.cancel();
         EXPECT_EQ(group.wait(1h), Status::stopped);
       }},
      {"cancelled, and run_and_wait()",
       [](TaskGroup& group) {
         group.cancel();
         group.run_and_wait([] {});
       }},
      {"failed", [](TaskGroup& group) { EXPECT_THROW(group.run_and_wait([] { throw 1; }), int); }},
      {"failed and cancelled",
       [](TaskGroup& group) {
         group.cancel();
         EXPECT_THROW(group.run_and_wait([] { throw 1; }), int);
       }},
  };
  Gate gate;
  ThreadPool pool(options(1));
  hold(pool, gate);  // so nothing begins before the wait
  TaskGroup group(pool);
  for (const WaitEnd& end : kEnds) {
    int ran = 0;
    group.run([&ran] { ++ran; });
    end.wait(group);
    EXPECT_FALSE(group.cancelled()) << end.name;
    ran = 0;
    group.run([&ran] { ++ran; });
    EXPECT_EQ(group.wait(1h), Status::ok) << end.name;
    EXPECT_EQ(ran, 1) << end.name;
  }
  gate.open();
}

TEST_P(TaskGroupTest, RunAndWaitRunsHere) {
  ThreadPool pool(options(2));
  TaskGroup group(pool);
  std::thread::id where;
  group.run_and_wait([&] { where = std::this_thread::get_id(); });
  EXPECT_EQ(where, std::this_thread::get_id());
  EXPECT_THROW(group.run_and_wait([] { throw 3; }), int);
}

TEST_P(TaskGroupTest, WorksOnWhenThePoolIsClosed) {
  ThreadPool pool(options(2));
  (void)pool.close();
  TaskGroup group(pool);
  int ran = 0;  // only this thread is left
  for (int i = 0; i < 10; ++i) group.run([&] { ++ran; });
  EXPECT_EQ(group.wait(Until()), Status::ok);
  EXPECT_EQ(ran, 10);
}

TEST_P(TaskGroupTest, MoreOwnersThanSeats) {
  ThreadPool pool(options(2));
  std::atomic<int> sitting{0};
  std::atomic<int> ran{0};
  std::vector<std::thread> owners;
  for (int i = 0; i < 70; ++i) {
    owners.emplace_back([&] {
      TaskGroup group(pool);
      ++sitting;
      while (sitting < 70) std::this_thread::yield();
      group.run([&] { ++ran; });
      group.run([] { throw 1; });
      EXPECT_THROW(group.wait(), int);
    });
  }
  for (auto& owner : owners) owner.join();
  EXPECT_EQ(ran, 70);
  EXPECT_TRUE(pool.close().balanced());
}

TEST_P(TaskGroupTest, ManyOwnersAtOnce) {
  ThreadPool pool(options(2));
  std::vector<std::thread> owners;
  for (int i = 0; i < 6; ++i) {
    owners.emplace_back([&] {
      for (std::size_t round = 0; round < test::rounds(200); ++round) {
        std::atomic<int> ran{0};
        TaskGroup group(pool);
        for (int k = 0; k < 20; ++k) group.run([&] { ++ran; });
        ASSERT_EQ(group.wait(Until()), Status::ok);
        ASSERT_EQ(ran, 20);
      }
    });
  }
  for (auto& owner : owners) owner.join();
}

}  // namespace
