// SPDX-License-Identifier: MIT
//
// TaskGroup: failures, the ends of waits, owners of all kinds.
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

// An end of a wait, cancel() and a failure end with the wait: the group is used again.
TEST_P(TaskGroupTest, IsUsedAgainAfterEachEnd) {
  std::deque<Gate> gates;
  ThreadPool pool(options(1));
  TaskGroup group(pool);
  std::stop_source stop;
  stop.request_stop();
  const std::function<void()> kEnds[] = {
      [&] { EXPECT_EQ(group.wait(0s), Status::timed_out); },
      [&] { EXPECT_EQ(group.wait(stop.get_token()), Status::stopped); },
      [&] {
        group.cancel();
        group.wait();
      }};
  const auto is_usable = [&] {
    int ran = 0;
    group.run([&ran] { ++ran; });
    EXPECT_EQ(group.wait(1h), Status::ok);
    EXPECT_EQ(ran, 1);
  };
  for (const std::function<void()>& end : kEnds) {
    hold(pool, gates.emplace_back());  // so that nothing of the group has begun
    group.run([] { FAIL(); });
    end();
    gates.back().open();
    is_usable();
  }
  group.run([] { throw 1; });
  EXPECT_THROW(group.wait(), int);
  is_usable();
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

}  // namespace
