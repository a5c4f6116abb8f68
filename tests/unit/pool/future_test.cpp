// SPDX-License-Identifier: MIT
//
// Future: results, failures, waiting inside and outside of tasks, continuations, ends of life.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <handoff/core/detail/promise.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/core/to_std.hpp>
#include <handoff/core/when_all.hpp>
#include <handoff/pool/submit_std.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "support/job.hpp"
#include "support/support.hpp"
#include "support/threads_of_process.hpp"
#include "unit/pool/modes.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;
using test::Gate;

class FutureTest : public test::ModeTest {};
HANDOFF_EACH_MODE(FutureTest);

TEST_P(FutureTest, GivesTheResultOnce) {
  ThreadPool pool(options(2));
  const auto join = [](int n, const char* text) { return text + std::to_string(n); };
  Future<std::string> future = pool.submit(join, 3, "x");
  EXPECT_TRUE(future.valid());
  EXPECT_EQ(future.get(), "x3");
  EXPECT_FALSE(future.valid());
  EXPECT_THROW(future.get(), std::logic_error);
  EXPECT_THROW(future.wait(), std::logic_error);
  EXPECT_THROW((void)Future<int>().is_ready(), std::logic_error);
}

TEST_P(FutureTest, GivesWhatWasThrown) {
  ThreadPool pool(options(2));
  auto future = pool.submit([]() -> int { throw std::runtime_error("planned"); });
  EXPECT_THROW(future.get(), std::runtime_error);
  EXPECT_THROW(pool.submit([] { throw 5; }).get(), int);
  pool.wait();
  const Tally tally = pool.close();
  EXPECT_EQ(tally.failed, 2U);
  EXPECT_TRUE(tally.first_failure);
}

TEST_P(FutureTest, BecomesAStandardFuture) {
  Gate gate;
  ThreadPool pool(options(2));
  std::future<std::unique_ptr<int>> value =
      pool.submit([] { return std::make_unique<int>(4); }).to_std();
  EXPECT_EQ(*value.get(), 4);
  int target = 0;
  EXPECT_EQ(&pool.submit([&target]() -> int& { return target; }).to_std().get(), &target);
  auto held = pool.submit([&gate] { gate.wait(); });
  std::future<void> waiting = std::move(held).to_std();
  EXPECT_FALSE(held.valid());
  EXPECT_EQ(waiting.wait_for(0ms), std::future_status::timeout);
  gate.open();
  waiting.get();
  EXPECT_THROW(pool.submit([]() -> int { throw 5; }).to_std().get(), int);
  EXPECT_THROW(pool.submit([] { throw 5; }).to_std().get(), int);
  EXPECT_EQ(pool.submit([] { return 1; }).then([](int n) { return n + 1; }).to_std().get(), 2);
  EXPECT_THROW((void)Future<int>().to_std(), std::logic_error);
  auto unasked = pool.submit([] { return 3; }).to_std();  // nobody takes it
}

TEST_P(FutureTest, AStandardFutureComesWithoutAnother) {
  ThreadPool pool(options(2));
  EXPECT_EQ(*submit_std(
                 pool, [](std::unique_ptr<int> n) { return n; }, std::make_unique<int>(4))
                 .get(),
            4);
  int target = 0;
  EXPECT_EQ(&submit_std(pool, [&target]() -> int& { return target; }).get(), &target);
  submit_std(pool, [large = std::array<int, 100>{7}, &target] { target = large[0]; }).get();
  EXPECT_EQ(target, 7);
  EXPECT_THROW(submit_std(pool, []() -> int { throw 5; }).get(), int);
  auto kept = std::make_shared<int>(1);
  auto future = submit_std(pool, [kept] { return *kept; });
  future.wait();
  EXPECT_EQ(kept.use_count(), 1) << "the closure ended before anybody heard";
  pool.wait();
  const Tally tally = pool.close();
  EXPECT_EQ(tally.failed, 1U);
  EXPECT_TRUE(tally.first_failure);
  EXPECT_THROW((void)submit_std(pool, [] {}), NotRun);
}

TEST_P(FutureTest, AClosureEndsBeforeItsStandardFutureHears) {
  ThreadPool pool(options(1));
  const auto expect_end = [&](auto function) {
    std::future<decltype(function())> future;
    bool called = false;
    bool ends_first = false;
    Gate known;
    Gate ended;
    std::shared_ptr<void> end(&ended, [&](void*) {
      ends_first = called && future.wait_for(0s) == std::future_status::timeout;
      ended.open();
    });
    future = submit_std(pool, [&known, &called, function, end = std::move(end)] {
      known.wait();
      called = true;
      return function();
    });
    known.open();
    ended.wait();
    EXPECT_TRUE(ends_first);
    future.wait();
  };
  expect_end([] {});
  expect_end([] { return 1; });
  expect_end([]() -> int { throw 1; });
}

TEST_P(FutureTest, AStandardFutureOfADroppedTaskSaysSo) {
  Gate begun;
  Gate gate;
  ThreadPool pool(options(1));
  auto first = pool.submit([&] {
    begun.open();
    gate.wait();
  });
  begun.wait();
  std::future<int> dropped = pool.submit([] { return 1; }).to_std();
  auto kept = std::make_shared<int>(1);
  std::future<void> other;
  bool ends_first = false;
  std::shared_ptr<void> end(
      &ends_first, [&](void*) { ends_first = other.wait_for(0s) == std::future_status::timeout; });
  other = submit_std(pool, [kept, end = std::move(end)] {});
  std::future<std::size_t> large =  // beside its task
      submit_std(pool, [kept, much = std::array<char, 1000>()] { return much.size(); });
  std::thread opener([&, closer = gettid()] {
    while (pool.try_post([] {}) == Status::ok) std::this_thread::yield();
    test::await_long_sleep(closer);  // it has said what to drop
    gate.open();
  });
  (void)pool.close(Closing::abandon);
  opener.join();
  first.get();
  EXPECT_THROW(dropped.get(), NotRun);
  EXPECT_THROW(other.get(), NotRun);
  EXPECT_THROW(large.get(), NotRun);
  EXPECT_TRUE(ends_first) << "before anybody hears";
  EXPECT_EQ(kept.use_count(), 1);
}

TEST_P(FutureTest, WaitsWithADeadlineAndAStop) {
  Gate gate;
  ThreadPool pool(options(1));
  auto future = pool.submit([&] { gate.wait(); });
  EXPECT_EQ(future.wait(0ms), Status::timed_out);
  EXPECT_EQ(future.wait(-1h), Status::timed_out);
  EXPECT_EQ(future.wait(1ms), Status::timed_out);
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(future.wait(source.get_token()), Status::stopped);
  EXPECT_FALSE(future.is_ready());
  std::thread opener([&] { gate.open(); });
  EXPECT_EQ(future.wait(std::chrono::hours::max()), Status::ok);
  EXPECT_TRUE(future.is_ready());
  opener.join();
}

TEST_P(FutureTest, MayEndBeforeItsTaskOrAfterItsPool) {
  std::optional<Future<std::shared_ptr<int>>> later;
  const auto token = std::make_shared<int>(1);
  {
    ThreadPool pool(options(2));
    for (std::size_t i = 0; i < test::rounds(1000); ++i) {
      (void)Future(pool.submit([token] { return token; }));
    }
    later = pool.submit([token] { return token; });
  }
  EXPECT_EQ(token.use_count(), 2);
  EXPECT_EQ(later->get(), token);
  later.reset();
  EXPECT_EQ(token.use_count(), 1);
}

// Each task waits for the next: on one worker that only ends if waiting runs it.
int chain(ThreadPool& pool, int depth) {
  if (depth == 0) return 0;
  return pool.submit([&pool, depth] { return chain(pool, depth - 1); }).get() + 1;
}

TEST_P(FutureTest, NestedSubmitAndWaitEnds) {
  const int depth = 10'000;  // more than fits on one stack in an unoptimised build
  for (const std::size_t width : {1U, 2U, 8U}) {
    ThreadPool pool(options(width));
    EXPECT_EQ(pool.submit([&] { return chain(pool, depth); }).get(), depth);
    const Tally tally = pool.close();
    EXPECT_EQ(tally.done, static_cast<std::uint64_t>(depth) + 1);
    EXPECT_TRUE(tally.balanced());
  }
}

TEST_P(FutureTest, ATaskMayWaitForOneBehindIt) {
  ThreadPool pool(options(1));
  const int sum = pool.submit([&] {
                        std::vector<Future<int>> futures;
                        for (int i = 0; i < 10; ++i) {
                          futures.push_back(pool.submit([i] { return i; }));
                        }
                        int total = 0;
                        for (auto& future : futures) total += future.get();
                        return total;
                      })
                      .get();
  EXPECT_EQ(sum, 45);
}

TEST_P(FutureTest, ThenRunsBehindTheTask) {
  Gate gate;
  ThreadPool pool(options(2));
  auto held = pool.submit([&] {
                    gate.wait();
                    return 20;
                  })
                  .then([](int n) { return n + 1; })
                  .then([](int n) { return std::to_string(n); });
  EXPECT_FALSE(held.is_ready());
  gate.open();
  EXPECT_EQ(held.get(), "21");
  auto ready = pool.submit([] {});
  ready.wait();
  EXPECT_EQ(std::move(ready).then([] { return 3; }).get(), 3) << "runs here";
  auto nothing =
      pool.submit([] { return std::make_unique<int>(4); }).then([](std::unique_ptr<int> p) {
        EXPECT_EQ(*p, 4);
      });
  nothing.get();
}

TEST_P(FutureTest, ThenPassesFailuresOn) {
  ThreadPool pool(options(2));
  auto skipped = pool.submit([]() -> int { throw std::runtime_error("first"); }).then([](int) {
    FAIL() << "ran after a failure";
  });
  EXPECT_THROW(skipped.get(), std::runtime_error);
  auto failing = pool.submit([] { return 1; }).then([](int) -> int { throw 2; });
  EXPECT_THROW(failing.get(), int);
  (void)pool.submit([] {}).then([] { throw 3; });  // nobody looks
  EXPECT_THROW((void)Future<int>().then([](int) {}), std::logic_error);
}

TEST_P(FutureTest, WhenAllIsReadyWhenAllAre) {
  Gate gate;
  ThreadPool pool(options(2));
  std::vector<Future<int>> futures;
  for (int i = 0; i < 20; ++i) {
    futures.push_back(pool.submit([&gate, i] {
      if (i == 7) gate.wait();
      if (i == 9) throw std::runtime_error("nine");
      return i;
    }));
  }
  auto all = when_all(std::move(futures));
  EXPECT_FALSE(all.is_ready());
  gate.open();
  auto ready = all.get();
  ASSERT_EQ(ready.size(), 20U);
  for (int i = 0; i < 20; ++i) {
    auto& future = ready[static_cast<std::size_t>(i)];
    EXPECT_TRUE(future.is_ready());
    if (i == 9) {
      EXPECT_THROW(future.get(), std::runtime_error);
    } else {
      EXPECT_EQ(future.get(), i);
    }
  }
  EXPECT_TRUE(when_all(std::vector<Future<int>>()).is_ready());
}

TEST_P(FutureTest, CountsTasksThatTheirWaitersRan) {
  ThreadPool pool(options(1));
  pool.submit([&] {
        for (int i = 0; i < 50; ++i) {
          auto fine = pool.submit([] { return 1; });
          auto wrong = pool.submit([]() -> int { throw 1; });
          EXPECT_EQ(fine.get(), 1);
          EXPECT_THROW(wrong.get(), int);
        }
      })
      .get();
  const Tally tally = pool.close();
  EXPECT_EQ(tally.accepted, 101U);
  EXPECT_EQ(tally.done, 51U);
  EXPECT_EQ(tally.failed, 50U);
}

// A waiting thread that lets go as soon as the result is there, while the task may still be at its
// last step.
TEST_P(FutureTest, EndsAtOnceWhenReady) {
  ThreadPool pool(options(2));
  for (std::size_t i = 0; i < test::rounds(4'000); ++i) {
    auto future = pool.submit([i] { return i; });
    if (i % 3 == 0) std::this_thread::yield();
    ASSERT_EQ(future.get(), i);
  }
}

// Neither what runs them nor what looks for their source goes down a stack by one for each.
TEST_P(FutureTest, ALongChainNeedsNoDeepStack) {
  constexpr int links = 100'000;
  const auto chain = [](Future<int> future) {
    for (int i = 0; i < links; ++i) future = std::move(future).then([](int n) { return n + 1; });
    return future;
  };
  Gate gate;
  ThreadPool pool(options(1));
  auto held = pool.submit([&gate] {
    gate.wait();
    return 0;
  });
  Future<int> outside = chain(std::move(held));
  gate.open();
  EXPECT_EQ(outside.get(), links);
  auto inside = pool.submit([&] { return chain(pool.submit([] { return 0; })).get(); });
  EXPECT_EQ(inside.get(), links);
}

TEST_P(FutureTest, WaitsInWhatFollowsTasksGoDeep) {
  ThreadPool pool(options(1));
  const std::function<int(int)> descend = [&](int depth) {
    if (depth == 0) return 0;
    std::vector<Future<int>> futures;
    futures.push_back(pool.submit([] { return 1; }).then([&descend, depth](int n) {
      return n + descend(depth - 1);
    }));
    return when_all(std::move(futures))
        .then([](std::vector<Future<int>> ready) { return ready[0].get(); })
        .get();
  };
  constexpr int depth = 3000;
  EXPECT_EQ(pool.submit([&] { return descend(depth); }).get(), depth);
}

// The only worker sleeps beside the task that it waits for, as it was told to.
TEST_P(FutureTest, ADeadlineInsideATaskDoesNotHelp) {
  ThreadPool pool(options(1));
  int ran = 0;
  auto waiting = pool.submit([&] {
    auto queued = pool.submit([&ran] { return ++ran; });
    EXPECT_EQ(queued.wait(1ms), Status::timed_out);
    auto next = std::move(queued).then([](int n) { return n + 1; });
    EXPECT_EQ(next.wait(1ms), Status::timed_out);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(next.wait(stop.get_token()), Status::stopped);
    EXPECT_EQ(ran, 0);
    return next.get();
  });
  EXPECT_EQ(waiting.get(), 2);
}

// A failure of the source reaches the thread that waits for what follows, wherever that runs.
TEST_P(FutureTest, FailuresBehindContinuationsReachWhoHelps) {
  ThreadPool pool(options(1));
  auto waiting = pool.submit([&] {
    std::vector<Future<int>> futures;
    futures.push_back(pool.submit([]() -> int { throw std::runtime_error("planned"); }));
    futures.push_back(pool.submit([] { return 1; }).then([](int) -> int { throw 5; }));
    auto ready = when_all(std::move(futures)).get();
    EXPECT_THROW((void)std::move(ready[0]).then([](int n) { return n; }).get(), std::runtime_error);
    EXPECT_THROW((void)ready[1].get(), int);
    return 3;
  });
  EXPECT_EQ(waiting.get(), 3);
  EXPECT_EQ(pool.close().failed, 1U);
}

// ---- A wait for what the own pool cannot bring -------------------------------------------------

// The only worker waits for a task of another pool, which waits for what is queued behind it.
TEST_P(FutureTest, AWaitForAnotherPoolsTaskLendsAWorker) {
  ThreadPool pool(options(1));
  ThreadPool other(options(1));
  for (std::size_t round = 0; round < test::rounds(30); ++round) {
    Gate begun;
    Gate gate;
    auto elsewhere = other.submit([&] {
      begun.open();
      gate.wait();
      return 1;
    });
    begun.wait();  // nobody can begin it by waiting
    auto waiting = pool.submit([&] { return elsewhere.get() + 1; });
    auto queued = pool.submit([&] { gate.open(); });
    EXPECT_EQ(waiting.get(), 2);
    queued.get();
  }
  EXPECT_LE(pool.statistics().lent, test::rounds(30));
  EXPECT_EQ(other.statistics().lent, 0U);
  EXPECT_EQ(pool.close().done, 2 * test::rounds(30));
}

// The same through what follows, and through several.
TEST_P(FutureTest, WaitsForWhatFollowsAnotherPoolsTaskLendAWorker) {
  Gate gate;
  ThreadPool pool(options(1));
  ThreadPool other(options(2));
  std::atomic<int> begun{0};
  const auto held = [&] {
    ++begun;
    gate.wait();
    return 1;
  };
  std::vector<Future<int>> parts;
  parts.push_back(other.submit(held).then([](int n) { return n + 1; }));
  parts.push_back(other.submit(held));
  while (begun < 2) std::this_thread::yield();
  auto waiting = pool.submit([&] {
    parts.push_back(pool.submit([] { return 3; }));
    return when_all(std::move(parts))
        .then([](std::vector<Future<int>> ready) {
          return ready[0].get() + ready[1].get() + ready[2].get();
        })
        .get();
  });
  auto queued = pool.submit([&] { gate.open(); });
  EXPECT_EQ(waiting.get(), 6);
  queued.get();
}

TEST_P(FutureTest, AWaitForWhatComesFromElsewhereLendsAWorker) {
  ThreadPool pool(options(1));
  for (std::size_t round = 0; round < test::rounds(30); ++round) {
    Future<int> coming;
    detail::Promise<int> promise(coming);
    auto waiting = pool.submit([&] { return coming.get(); });
    pool.post([&] { promise.set_value(5); });
    EXPECT_EQ(waiting.get(), 5);
  }
  EXPECT_EQ(pool.close().done, 2 * test::rounds(30));
}

// A worker that sleeps while another one of its pool runs what it waits for: both are busy.
TEST_P(FutureTest, AWaitForATaskOfTheOwnPoolLendsNobody) {
  Gate begun;
  Gate gate;
  ThreadPool pool(options(2));
  std::atomic<bool> follows{false};
  auto held = pool.submit([&] {
                    begun.open();
                    gate.wait();
                    return 1;
                  })
                  .then([&](int n) {
                    follows = true;
                    return n;
                  });
  begun.wait();
  std::atomic<pid_t> waiter{0};
  auto waiting = pool.submit([&] {
    waiter = gettid();
    return held.get();
  });
  while (waiter == 0) std::this_thread::yield();
  test::await_long_sleep(waiter);
  gate.open();
  EXPECT_EQ(waiting.get(), 1);
  EXPECT_TRUE(follows);
  EXPECT_EQ(pool.statistics().lent, 0U);
}

// A thread that only has a seat is not the pool's to replace.
TEST_P(FutureTest, AGuestIsNotReplaced) {
  ThreadPool pool(options(1));
  Future<int> coming;
  detail::Promise<int> promise(coming);
  std::thread maker;
  TaskGroup group(pool);
  group.run_and_wait([&] {
    maker = std::thread([&promise] {
      std::this_thread::sleep_for(1ms);
      promise.set_value(5);
    });
    EXPECT_EQ(coming.get(), 5);
  });
  maker.join();
  EXPECT_EQ(pool.statistics().lent, 0U);
}

// ---- Coroutines ---------------------------------------------------------------------------------

test::Job add(ThreadPool& pool, Future<int> one, Future<int> other, std::atomic<int>& sum,
              Gate& over) {
  const int first = co_await one;
  const int second = co_await std::move(other);
  EXPECT_LT(pool.worker_index().value(), pool.width()) << "where the last result was made";
  sum = first + second;
  over.open();
}

TEST_P(FutureTest, IsAwaitedInACoroutine) {
  ThreadPool pool(options(2));
  for (std::size_t round = 0; round < test::rounds(200); ++round) {
    Gate gate;
    Gate over;
    std::atomic<int> sum{0};
    auto one = pool.submit([] { return 1; });
    auto other = pool.submit([&gate] {
                       gate.wait();
                       return 2;
                     })
                     .then([](int n) { return n + 1; });
    add(pool, std::move(one), std::move(other), sum, over);
    gate.open();
    over.wait();
    EXPECT_EQ(sum, 4);
  }
}

test::Job expect_dropped(Future<int> future, Gate& over) {
  try {
    (void)co_await future;
    ADD_FAILURE() << "it ran";
  } catch (const NotRun& error) {
    EXPECT_EQ(error.status(), Status::stopped);
  }
  over.open();
}

TEST_P(FutureTest, ADroppedTaskIsToldToItsCoroutine) {
  Gate gate;
  Gate over;
  ThreadPool pool(options(1));
  test::hold(pool, gate);
  std::stop_source source;
  expect_dropped(pool.submit([] { return 1; }, {.until = source.get_token()}), over);
  source.request_stop();
  gate.open();
  over.wait();
  EXPECT_EQ(pool.close().cancelled, 1U);
}

}  // namespace
