// SPDX-License-Identifier: MIT
//
// TaskGroup: failures, the ends of waits, owners of all kinds.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>
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

TEST_P(TaskGroupTest, WorksOnWhenThePoolIsClosed) {
  ThreadPool pool(options(2));
  (void)pool.close();
  TaskGroup group(pool);
  int ran = 0;  // only this thread is left
  for (int i = 0; i < 10; ++i) group.run([&] { ++ran; });
  EXPECT_EQ(group.wait(Until()), Status::ok);
  EXPECT_EQ(ran, 10);
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
