// SPDX-License-Identifier: MIT
//
// Coroutines that go over to a pool, and what becomes of them when it is full or closed.
#include <handoff/core/internal/promise.hpp>

#include "support/failing.hpp"
#include "support/job.hpp"
#include "support/test.hpp"
#include "unit/pool/modes.hpp"

namespace {

using namespace handoff;
using namespace test;

class CoroutineTest : public test::ModeTest {};
HANDOFF_EACH_MODE(CoroutineTest);

Job hop(ThreadPool& pool, Priority priority, std::shared_ptr<std::atomic<int>> there) {
  const auto here = std::this_thread::get_id();
  co_await pool.schedule(priority);
  if (pool.worker_index().value() < pool.width() && std::this_thread::get_id() != here) ++*there;
}

TEST_P(CoroutineTest, GoesOnAsATaskOfThePool) {
  ThreadPool pool(options(2));
  auto there = std::make_shared<std::atomic<int>>(0);
  for (const Priority priority : {Priority::normal, Priority::high, Priority::low}) {
    for (int i = 0; i < 100; ++i) hop(pool, priority, there);
  }
  const Tally tally = pool.close();
  EXPECT_EQ(*there, 300);
  EXPECT_EQ(there.use_count(), 1) << "each has ended";
  EXPECT_EQ(tally.done, 300U);
}

Job between(ThreadPool& one, ThreadPool& other, int times, std::atomic<int>& right, Gate& over) {
  for (int i = 0; i < times; ++i) {
    co_await one.schedule();
    if (one.worker_index() == 0 && !other.worker_index()) ++right;
    co_await other.schedule();
    if (other.worker_index() == 0 && !one.worker_index()) ++right;
  }
  over.open();
}

// The last hand-over is a call by a worker of `one`, which may still be in it when the coroutine is
// over: so `one` ends first.
TEST_P(CoroutineTest, GoesToAndFroBetweenPools) {
  ThreadPool other(options(1));
  ThreadPool one(options(1));
  std::atomic<int> right{0};
  Gate over;
  between(one, other, 200, right, over);
  over.wait();
  EXPECT_EQ(right, 400);
}

Job count_refusal(ThreadPool& pool, Status& status, std::shared_ptr<int> /*held*/ = nullptr) {
  try {
    co_await pool.schedule();
  } catch (const NotRun& error) {
    status = error.status();
  }
}

TEST_P(CoroutineTest, ARefusalIsThrownWhereItIs) {
  Gate gate;
  auto given = options(1);
  given.capacity = 1;
  given.on_full = OnFull::reject;
  ThreadPool pool(given);
  hold(pool, gate);
  pool.post([] {});
  Status status = Status::ok;
  count_refusal(pool, status);
  EXPECT_EQ(status, Status::full);
  gate.open();
  EXPECT_EQ(pool.close().accepted, 2U);
  count_refusal(pool, status);
  EXPECT_EQ(status, Status::closed);
}

TEST_P(CoroutineTest, AFullPoolMayHaveItGoOnHere) {
  Gate gate;
  auto given = options(1);
  given.capacity = 1;
  given.on_full = OnFull::run_here;
  ThreadPool pool(given);
  hold(pool, gate);
  pool.post([] {});
  Status status = Status::full;
  bool went_on = false;
  [](ThreadPool& full, bool& on, Status& said) -> Job {
    co_await full.schedule();
    on = true;
    said = Status::ok;
  }(pool, went_on, status);
  EXPECT_TRUE(went_on) << "before it returned";
  EXPECT_EQ(status, Status::ok);
  gate.open();
  EXPECT_EQ(pool.close().done, 3U);
}

// It is told, and ends what it holds.
TEST_P(CoroutineTest, ADroppedOneGoesOnToItsEnd) {
  for (const bool expired : {false, true}) {
    auto held = std::make_shared<int>(1);
    std::vector<Status> status(20, Status::ok);
    Gate gate;
    ThreadPool pool(options(1));
    hold(pool, gate);
    for (Status& mine : status) count_refusal(pool, mine, held);
    const Tally tally = test::close_a_held(
        pool, gate, expired ? Closing::finish_until(sync::Deadline{}) : Closing::abandon);
    EXPECT_TRUE(tally.balanced());
    EXPECT_EQ(held.use_count(), 1);
    std::uint64_t dropped = 0;
    for (const Status mine : status) {
      if (mine == Status::ok) continue;  // began before the word came
      EXPECT_EQ(mine, expired ? Status::timed_out : Status::stopped);
      ++dropped;
    }
    EXPECT_LE(dropped, expired ? tally.expired : tally.cancelled);
  }
}

// ---- With a deadline ----------------------------------------------------------------------------

Job await_in_time(ThreadPool& pool, Future<int> future, sync::Deadline moment,
                  std::atomic<int>& got) {
  try {
    got = co_await with_timeout(pool, std::move(future), moment);
  } catch (const NotRun& error) {
    got = -static_cast<int>(error.status());
  }
}

TEST_P(CoroutineTest, AwaitsAResultUpToAMoment) {
  ThreadPool pool(options(2));
  std::atomic<int> late{0};
  Gate begun;  // or the moment drops it
  Gate stopped;
  auto task = pool.submit([&](const sync::StopToken& stop) {
    begun.open();
    while (!stop.stop_requested()) std::this_thread::yield();
    stopped.open();
    return 1;
  });
  begun.wait();
  await_in_time(pool, std::move(task), sync::clock::now() + std::chrono::milliseconds(1), late);
  stopped.wait();
  std::atomic<int> in_time{0};
  await_in_time(pool, pool.submit([&] { return 2; }), sync::clock::now() + std::chrono::hours(1),
                in_time);
  while (in_time == 0) std::this_thread::yield();
  const Tally tally = pool.close();
  EXPECT_EQ(late, -static_cast<int>(Status::timed_out));
  EXPECT_EQ(in_time, 2);
  EXPECT_EQ(tally.done, 3U) << "two tasks, and the moment that came";
  EXPECT_EQ(tally.accepted, 3U) << "the other one was not needed";
}

// Far beyond what it takes: the test fails then, and does not hang.
bool await_stop(const sync::StopToken& stop) {
  const sync::Deadline over = sync::deadline_after(std::chrono::seconds(20));
  while (!stop.stop_requested() && sync::clock::now() < over) std::this_thread::yield();
  return stop.stop_requested();
}

TEST_P(CoroutineTest, LateTasksThatFillThePoolHearOfTheMoment) {
  ThreadPool pool(options(1));
  Gate begun;
  std::atomic<int> heard{0};
  std::atomic<int> ran{0};
  const auto until_stopped = [&](const sync::StopToken& stop) {
    begun.open();
    ++ran;
    heard += await_stop(stop) ? 1 : 0;
  };
  std::vector<Future<void>> late;
  for (int i = 0; i < 3; ++i) late.push_back(pool.submit(until_stopped).then([] {}));
  begun.wait();
  for (Future<void>& each : late) {
    each = with_timeout(pool, std::move(each), std::chrono::milliseconds(1));
  }
  for (Future<void>& each : late) EXPECT_THROW(each.get(), NotRun);
  pool.close();
  EXPECT_GE(ran, 1);
  EXPECT_EQ(heard, ran);
}

TEST_P(CoroutineTest, TheMomentEndsAWaitWhileLateTasksFillThePool) {
  ThreadPool pool(options(1));
  Gate begun;
  sync::StopSource released;
  auto task = pool.submit([&begun, token = released.token()] {
    begun.open();
    return await_stop(token);
  });
  begun.wait();
  auto late = with_timeout(pool, std::move(task), std::chrono::milliseconds(1));
  EXPECT_THROW((void)late.get(), NotRun);
  EXPECT_EQ(pool.tally().done, 0U) << "the task still runs";
  released.request_stop();
  EXPECT_EQ(pool.close().done, 2U) << "it, and the moment";
}

// The timers' thread calls it, which a close would wait for.
TEST_P(CoroutineTest, TheStopOfAMomentMustNotCloseThePool) {
  struct Parts {
    ThreadPool pool;
    std::atomic<int> refused{0};
  } parts{ThreadPool(options(1))};
  const auto close = [](void* argument) noexcept {
    auto& its = *static_cast<Parts*>(argument);
    try {
      (void)its.pool.close();
    } catch (const std::logic_error&) {
      ++its.refused;
    }
  };
  Gate begun;
  auto task = parts.pool.submit([&](const sync::StopToken& stop) {
    const sync::StopCallback callback(stop, close, &parts);
    begun.open();
    return await_stop(stop);
  });
  begun.wait();
  auto late = with_timeout(parts.pool, std::move(task), std::chrono::milliseconds(1));
  EXPECT_THROW((void)late.get(), NotRun);
  EXPECT_EQ(parts.pool.close().done, 2U);
  EXPECT_EQ(parts.refused, 1);
}

TEST_P(CoroutineTest, ACloseEndsTheMoments) {
  ThreadPool pool(options(1));
  Future<int> future;
  detail::Promise<int> promise(future);
  std::atomic<int> got{0};
  await_in_time(pool, std::move(future), sync::clock::now() + std::chrono::hours(1), got);
  EXPECT_EQ(pool.close().accepted, 0U);
  EXPECT_EQ(got, -static_cast<int>(Status::stopped));
  promise.set_value(3);
  Future<int> other;
  const detail::Promise<int> never(other);
  EXPECT_THROW((void)with_timeout(pool, std::move(other), std::chrono::hours(1)), NotRun);
  EXPECT_TRUE(other.valid());  // NOLINT(bugprone-use-after-move): refused means unmoved
  EXPECT_THROW((void)with_timeout(pool, Future<int>(), std::chrono::hours(1)), std::logic_error);
}

TEST_P(CoroutineTest, AResultThatIsThereIsInTime) {
  ThreadPool pool(options(1));
  for (int i = 0; i < 100; ++i) {
    auto ready = pool.submit([i] { return i; });
    ready.wait();
    EXPECT_EQ(with_timeout(pool, std::move(ready), std::chrono::microseconds(-1)).get(), i);
  }
}

TEST_P(CoroutineTest, ADeadlineThatGotNoMemoryLeavesNothing) {
  const auto held = std::make_shared<int>(1);
  {
    ThreadPool pool(options(1));
    test::until_whole(test::Call::allocation, 0, [&] {
      try {
        auto task = pool.submit([held](const sync::StopToken& /*stop*/) { return *held; });
        EXPECT_EQ(with_timeout(pool, std::move(task), std::chrono::hours(1)).get(), 1);
      } catch (const std::bad_alloc&) {
      } catch (const NotRun& error) {
        EXPECT_EQ(error.status(), Status::stopped);
      }
    });
    const Tally tally = pool.close();
    EXPECT_TRUE(tally.balanced() && tally.pending == 0);
  }
  EXPECT_EQ(held.use_count(), 1);
}

// A task of the only worker waits: a stand-in does the rest.
TEST_P(CoroutineTest, ATaskMayWaitForAResultWithADeadline) {
  ThreadPool pool(options(1));
  auto outer = pool.submit([&pool] {
    return with_timeout(pool, pool.submit([] { return 4; }), std::chrono::hours(1)).get();
  });
  EXPECT_EQ(outer.get(), 4);
}

Job again_and_again(ThreadPool& pool, int times, Gate& over) {
  for (int i = 0; i < times; ++i) co_await pool.schedule();
  over.open();
}

// The awaiter is the task: once the pool has its memory, going over takes none.
TEST_P(CoroutineTest, AllocatesNothing) {
  ThreadPool pool(options(1));
  for (int warm = 0; warm < 2; ++warm) {
    Gate over;
    again_and_again(pool, 3000, over);
    over.wait();
    pool.wait();
  }
  Gate over;
  const std::size_t before = test::calls(test::Call::allocation);
  again_and_again(pool, 1000, over);
  over.wait();
  EXPECT_LE(test::calls(test::Call::allocation) - before, 1U) << "the coroutine itself";
}

}  // namespace
