// SPDX-License-Identifier: MIT
//
// TaskGroup: failures, the ends of waits, owners of all kinds.
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>

#include "support/support.hpp"
#include "support/test.hpp"
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

// A task that divides its work while the pool is closed: each part runs, or the wait tells.
TEST_P(TaskGroupTest, AWaitTellsThatTheClosingPoolDroppedATask) {
  const std::pair<Closing, Status> kCloses[] = {{Closing::abandon, Status::stopped},
                                                {Closing::finish_until(0s), Status::timed_out}};
  for (const auto& [how, why] : kCloses) {
    ThreadPool pool(options(1));
    Gate begun;
    Future<Status> told = pool.submit([&] {
      begun.open();
      for (TaskGroup group(pool);;) {
        int ran = 0;
        group.run([&ran] { ++ran; });
        try {
          group.wait();
          if (ran != 1) return Status::ok;  // in silence
        } catch (const NotRun& not_run) {
          group.run([] { ADD_FAILURE() << "not dropped"; });
          EXPECT_EQ(group.wait(1h), not_run.status());
          return not_run.status();
        }
      }
    });
    begun.wait();
    (void)pool.close(how);
    EXPECT_EQ(told.get(), why);
  }
}

TEST_P(TaskGroupTest, ManyThreadsWaitForASharedOne) {
  ThreadPool pool(options(2));
  for (int round = 0; round < 20; ++round) {
    int sum = 0;  // plain: each wait orders it
    TaskGroup group(pool, {.shared = true});
    group.run([&] { group.run([&] { sum += 1; }); });
    std::vector<std::thread> waiters;
    for (int i = 0; i < 3; ++i) {
      waiters.emplace_back([&] {
        group.wait();
        EXPECT_EQ(sum, 1);
      });
    }
    pool.post([&] {
      group.wait();
      EXPECT_EQ(sum, 1);
    });
    group.wait();
    EXPECT_EQ(sum, 1);
    for (auto& waiter : waiters) waiter.join();
    pool.wait();
  }
  EXPECT_EQ(pool.close().failed, 0U);
}

// Each wait tells, however late, and a cancel stays.
TEST_P(TaskGroupTest, OfASharedOneEachWaitTells) {
  ThreadPool pool(options(2));
  TaskGroup failed(pool, {.shared = true});
  failed.run([] { throw 7; });
  std::thread([&] { EXPECT_THROW(failed.wait(), int); }).join();
  for (int i = 0; i < 2; ++i) EXPECT_THROW((void)failed.wait(Until()), int);
  TaskGroup cancelled(pool, {.shared = true});
  cancelled.cancel();
  cancelled.run([] { FAIL(); });
  std::thread([&] { EXPECT_EQ(cancelled.wait(1h), Status::stopped); }).join();
  EXPECT_EQ(cancelled.wait(Until()), Status::stopped);
  EXPECT_TRUE(cancelled.cancelled());
}

// The others wait on.
TEST_P(TaskGroupTest, AWaitWithAnEndLeavesASharedOneAlone) {
  ThreadPool pool(options(2));
  Gate gate;
  int ran = 0;
  TaskGroup group(pool, {.shared = true});
  group.run([&] {
    gate.wait();
    ++ran;
  });
  std::thread([&] {
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(group.wait(0s), Status::timed_out);
    EXPECT_EQ(group.wait(stop.get_token()), Status::stopped);
  }).join();
  gate.open();
  EXPECT_EQ(group.wait(Until()), Status::ok);
  EXPECT_EQ(ran, 1);
}

// Its worker waits for what lies in another thread's deque: a stand-in runs it. And its maker runs
// what nobody else can.
TEST_P(TaskGroupTest, ASharedOneIsWaitedForInATask) {
  ThreadPool pool(options(1));
  int ran = 0;
  TaskGroup group(pool, {.shared = true});
  group.run([&ran] { ++ran; });
  pool.submit([&] { group.wait(); }).get();
  EXPECT_EQ(ran, 1);
  (void)pool.close();
  group.run([&ran] { ++ran; });
  group.wait();
  EXPECT_EQ(ran, 2);
  group.run([&ran] { ++ran; });  // the destructor's
}

TEST_P(TaskGroupTest, TheHookHearsOfTheFirstFailure) {
  ThreadPool pool(options(2));
  std::thread::id caller;
  std::thread::id thrower;
  int calls = 0;
  TaskGroup group(pool, {.on_failure = [&] {
                    ++calls;
                    caller = std::this_thread::get_id();
                  }});
  for (int round = 1; round <= 2; ++round) {
    group.run([&] {
      thrower = std::this_thread::get_id();
      throw std::runtime_error("planned");
    });
    EXPECT_THROW(group.wait(), std::runtime_error);
    EXPECT_EQ(calls, 2 * round - 1);
    EXPECT_EQ(caller, thrower);
    EXPECT_THROW(group.run_and_wait([] { throw 1; }), int);
    EXPECT_EQ(calls, 2 * round);
  }
  group.run([] {});
  group.wait();
  EXPECT_EQ(calls, 4);
}

// What has not begun when the first one fails is dropped.
TEST_P(TaskGroupTest, TheHookMayCancelTheRest) {
  Gate gate;
  ThreadPool pool(options(1));
  hold(pool, gate);
  {
    TaskGroup group(pool, {.on_failure = [&] { group.cancel(); }});
    int ran = 0;
    for (int i = 0; i < 10; ++i) {
      group.run([&ran] {
        ++ran;
        throw 1;
      });
    }
    EXPECT_THROW(group.wait(), int);
    EXPECT_EQ(ran, 1);
  }
  gate.open();
  const Tally tally = pool.close();
  EXPECT_EQ(tally.failed, 1U);
  EXPECT_EQ(tally.cancelled, 9U);
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
