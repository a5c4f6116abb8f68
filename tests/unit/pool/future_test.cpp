// SPDX-License-Identifier: MIT
//
// Futures of a pool: standard futures, deep chains, waits for what the pool cannot bring. What each
// Future promises is in core/future_test.cpp.
#include <future>
#include <handoff/core/internal/promise.hpp>

#include "support/test.hpp"
#include "unit/pool/modes.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;
using test::Gate;

class FutureTest : public test::ModeTest {};
HANDOFF_EACH_MODE(FutureTest);

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
  Gate gate;
  ThreadPool pool(options(1));
  test::hold(pool, gate);
  std::future<int> dropped = pool.submit([] { return 1; }).to_std();
  auto kept = std::make_shared<int>(1);
  std::future<void> other;
  bool ends_first = false;
  std::shared_ptr<void> end(
      &ends_first, [&](void*) { ends_first = other.wait_for(0s) == std::future_status::timeout; });
  other = submit_std(pool, [kept, end = std::move(end)] {});
  std::future<std::size_t> large =  // beside its task
      submit_std(pool, [kept, much = std::array<char, 1000>()] { return much.size(); });
  (void)test::close_a_held(pool, gate, Closing::abandon);
  EXPECT_THROW(dropped.get(), NotRun);
  EXPECT_THROW(other.get(), NotRun);
  EXPECT_THROW(large.get(), NotRun);
  EXPECT_TRUE(ends_first) << "before anybody hears";
  EXPECT_EQ(kept.use_count(), 1);
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

// ---- A wait for what the own pool cannot bring -------------------------------------------------

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

}  // namespace
