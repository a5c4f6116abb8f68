// SPDX-License-Identifier: MIT
//
// What MessageWorkers::health() notices: a handler that runs too long, and a thread that is gone.
#include "support/child.hpp"
#include "support/test.hpp"
#include "unit/pool/modes.hpp"

namespace worker_health_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using test::Hold;
using State = WorkerHealth::State;

struct Job {
  Hold* hold;
};
struct Other {};

using Workers = MessageWorkers<Job, Other>;

Workers workers_of(const MessageWorkersOptions& options) {
  return Workers(options, [](const Job& job) { (*job.hold)(); }, [](const Other&) {});
}

// Until the report has so many workers in this state.
void await(Workers& workers, State state, std::size_t count) {
  while (workers.health().count(state) != count) std::this_thread::sleep_for(100us);
}

TEST(WorkerHealth, AStuckWorkerIsNoticedAndNamesItsMessage) {
  Hold hold;
  Workers workers = workers_of({.width = 2, .stuck_after = 1ms});
  EXPECT_TRUE(workers.health().healthy());
  ASSERT_EQ(workers.health().workers.size(), 2U);
  ASSERT_EQ(workers.publish(Job{&hold}), Status::ok);
  await(workers, State::stuck, 1);
  const HealthReport report = workers.health();
  EXPECT_FALSE(report.healthy());
  EXPECT_EQ(report.count(State::idle), 1U);
  for (const WorkerHealth& worker : report.workers) {
    if (worker.state != State::stuck) continue;
    EXPECT_GE(worker.busy_for, 1ms);
    EXPECT_NE(std::string(worker.message).find("Job"), std::string::npos) << worker.message;
  }
  hold.gate.open();
  await(workers, State::idle, 2);
  EXPECT_TRUE(workers.health().healthy());
}

TEST(WorkerHealth, WithoutALimitNobodyIsStuck) {
  Hold hold;
  Workers workers = workers_of({.width = 1});
  ASSERT_EQ(workers.publish(Job{&hold}), Status::ok);
  hold.begun.wait();
  std::this_thread::sleep_for(2ms);
  const HealthReport report = workers.health();
  EXPECT_EQ(report.count(State::busy), 1U);
  EXPECT_EQ(report.workers.front().busy_for, 0ns);
  EXPECT_TRUE(report.healthy());
  hold.gate.open();
}

// The limit is each handler's own: many short ones in a row are none that is stuck.
TEST(WorkerHealth, ManyShortMessagesAreNotOneLongOne) {
  Workers workers = workers_of({.width = 1, .stuck_after = 1h});
  for (int i = 0; i < 5000; ++i) {
    ASSERT_EQ(workers.publish(Other{}), Status::ok);
    if (i % 50 == 0) {
      ASSERT_TRUE(workers.health().healthy());
    }
  }
}

// One that is held at the gate runs nothing.
TEST(WorkerHealth, APausedWorkerIsIdle) {
  Workers workers = workers_of({.width = 1, .stuck_after = 1ns});
  EXPECT_EQ(workers.pause(), Status::ok);
  ASSERT_EQ(workers.publish(Other{}), Status::ok);
  EXPECT_EQ(workers.wait(5ms), Status::timed_out);
  EXPECT_EQ(workers.health().count(State::idle), 1U);
  workers.resume();
}

// It has a seat behind those of the workers.
TEST(WorkerHealth, WhoHelpsInAWaitIsNoWorker) {
  Hold first;
  Hold second;
  Workers workers = workers_of({.width = 1});
  ASSERT_EQ(workers.publish(Job{&first}), Status::ok);
  first.begun.wait();
  ASSERT_EQ(workers.publish(Job{&second}), Status::ok);
  const std::jthread helper([&] { EXPECT_EQ(workers.wait(), Status::ok); });
  second.begun.wait();
  const HealthReport report = workers.health();
  EXPECT_EQ(report.workers.size(), 1U);
  EXPECT_EQ(report.count(State::busy), 1U);
  for (Hold* const each : {&first, &second}) each->gate.open();
}

TEST(WorkerHealth, ClosedWorkersAreGone) {
  Workers workers = workers_of({.width = 3});
  (void)workers.close();
  EXPECT_EQ(workers.health().count(State::gone), 3U);
  EXPECT_FALSE(workers.health().healthy());
}

// The child of a fork() has none of its parent's threads, and nothing there has ended them.
TEST(WorkerHealth, AForkLeavesTheWorkersBehind) {
  std::array<Hold, 2> holds;
  Workers workers = workers_of({.width = 2});
  for (Hold& hold : holds) {
    ASSERT_EQ(workers.publish(Job{&hold}), Status::ok);
    hold.begun.wait();  // so both threads have told their ids
  }
  const auto count_gone = [&] { return static_cast<int>(workers.health().count(State::gone)); };
  EXPECT_EQ(test::in_child(count_gone), 2);
  EXPECT_EQ(count_gone(), 0);
  for (Hold& hold : holds) hold.gate.open();
}

// A thread that the kernel ends in the middle of a handler runs no destructor and tells nobody.
TEST(WorkerHealth, AKilledThreadIsGone) {
  if (test::sanitized) GTEST_SKIP() << "their runtimes do not survive it";
  const int gone = test::in_child([] {
    MessageWorkers<Other> workers({.width = 2}, [](const Other&) { ::syscall(SYS_exit, 0); });
    (void)workers.publish(Other{});
    for (int i = 0; i < 10'000; ++i) {
      const auto count = static_cast<int>(workers.health().count(State::gone));
      if (count != 0) ::_exit(count);  // closing would wait for the message
      std::this_thread::sleep_for(1ms);
    }
    return 0;
  });
  EXPECT_EQ(gone, 1);
}

}}  // namespace worker_health_test
