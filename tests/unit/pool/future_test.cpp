// SPDX-License-Identifier: MIT
//
// Future: results, failures, waiting inside and outside of tasks, continuations, ends of life.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <handoff/pool/future.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/pool/to_std.hpp>
#include <memory>
#include <numeric>
#include <optional>
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
  EXPECT_EQ(pool.wait(), Status::ok) << "a failure with a Future is nobody else's";
  const Tally tally = pool.close();
  EXPECT_EQ(tally.failed, 2U);
  EXPECT_TRUE(tally.first_failure);
}

TEST_P(FutureTest, BecomesAStandardFuture) {
  ThreadPool pool(options(2));
  std::future<std::unique_ptr<int>> value =
      pool.submit([] { return std::make_unique<int>(4); }).to_std();
  EXPECT_EQ(*value.get(), 4);
  int target = 0;
  EXPECT_EQ(&pool.submit([&target]() -> int& { return target; }).to_std().get(), &target);
  Gate gate;
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
  EXPECT_EQ(pool.wait(), Status::ok) << "a failure with a future is nobody else's";
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
  ThreadPool pool(options(1));
  Gate begun;
  Gate gate;
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
    while (pool.execute([] {}) == Status::ok) std::this_thread::yield();
    test::await_long_sleep(closer);  // it has said what to drop
    gate.open();
  });
  (void)pool.close(abandon);
  opener.join();
  first.get();
  EXPECT_THROW(dropped.get(), NotRun);
  EXPECT_THROW(other.get(), NotRun);
  EXPECT_THROW(large.get(), NotRun);
  EXPECT_TRUE(ends_first) << "before anybody hears";
  EXPECT_EQ(kept.use_count(), 1);
}

TEST_P(FutureTest, WaitsWithADeadlineAndAStop) {
  ThreadPool pool(options(1));
  Gate gate;
  auto future = pool.submit([&] { gate.wait(); });
  EXPECT_EQ(future.wait_for(0ms), Status::timed_out);
  EXPECT_EQ(future.wait_for(-1h), Status::timed_out);
  EXPECT_EQ(future.wait_for(1ms), Status::timed_out);
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(future.wait_until(sync::no_deadline, source.get_token()), Status::stopped);
  EXPECT_FALSE(future.is_ready());
  std::thread opener([&] { gate.open(); });
  EXPECT_EQ(future.wait_for(std::chrono::hours::max()), Status::ok);
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
  ThreadPool pool(options(2));
  Gate gate;
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
  ThreadPool pool(options(2));
  std::vector<Future<int>> futures;
  Gate gate;
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

// Neither what runs them nor who looks for their source goes down a stack by one for each.
TEST_P(FutureTest, ALongChainNeedsNoDeepStack) {
  constexpr int links = 100'000;
  const auto chain = [](Future<int> future) {
    for (int i = 0; i < links; ++i) future = std::move(future).then([](int n) { return n + 1; });
    return future;
  };
  ThreadPool pool(options(1));
  Gate gate;
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
    EXPECT_EQ(queued.wait_for(1ms), Status::timed_out);
    auto next = std::move(queued).then([](int n) { return n + 1; });
    EXPECT_EQ(next.wait_for(1ms), Status::timed_out);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(next.wait_until(sync::no_deadline, stop.get_token()), Status::stopped);
    EXPECT_EQ(ran, 0);
    return next.get();
  });
  EXPECT_EQ(waiting.get(), 2);
}

// A failure of the source reaches who waits for what follows, wherever that runs.
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

}  // namespace
