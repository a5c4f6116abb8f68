// SPDX-License-Identifier: MIT
//
// What may be said of a task: its priority, its stop token, its worker.
#include "support/failing.hpp"
#include "support/test.hpp"
#include "unit/pool/modes.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace test;

class TaskOptionsTest : public test::ModeTest {};
HANDOFF_EACH_MODE(TaskOptionsTest);

// The next one after the task that runs now, though that one has made tasks of its own and a batch
// of others has been claimed.
TEST_P(TaskOptionsTest, AnUrgentOneFromOutsideIsNextWhateverTheWorkerHas) {
  std::string order;
  Gate begun;
  Gate posted;
  ThreadPool pool(options(1));
  pool.post([&] {
    for (int i = 0; i < 3; ++i) pool.post([&] { order += 'o'; });
    begun.open();
    posted.wait();
  });
  begun.wait();
  const int normal = test::deep() ? 1'000'000 : 1'000;
  for (int i = 0; i < normal; ++i) pool.post([&] { order += 'n'; });
  pool.post([&] { order += 'h'; }, {.priority = Priority::high});
  pool.post([&] { order += 'u'; }, {.priority = Priority::urgent});
  posted.open();
  (void)pool.close();
  EXPECT_EQ(order.substr(0, 2), "uh");
  EXPECT_EQ(order.size(), static_cast<std::size_t>(normal) + 5);
}

TEST_P(TaskOptionsTest, ALimitKeepsTheOthersAlive) {
  std::string order;
  Gate gate;
  auto limited = options(1);
  limited.starvation_limit = 3;
  ThreadPool pool(limited);
  hold(pool, gate);
  pool.post([&] { order += 'l'; }, {.priority = Priority::low});
  for (int i = 0; i < 3; ++i) pool.post([&] { order += 'n'; });
  for (int i = 0; i < 12; ++i) pool.post([&] { order += 'h'; }, {.priority = Priority::high});
  gate.open();
  EXPECT_EQ(pool.close().done, 17U);
  EXPECT_EQ(order, "hhhlnhhhnhhhnhhh");
}

TEST_P(TaskOptionsTest, WhatIsLateDoesNotBegin) {
  ThreadPool pool(options(1));
  const auto now = std::chrono::steady_clock::now();
  auto token = std::make_shared<int>(5);
  pool.post([token] { FAIL() << *token; }, {.until = now});
  auto late = pool.submit([token] { return *token; }, {.name = "late", .until = now});
  auto in_time = pool.submit([] { return 3; }, {.until = now + 1h});
  std::atomic<int> ran{0};
  pool.post([&] { ++ran; }, {.until = sync::no_deadline});
  pool.post([&] { ++ran; }, {.until = now + 1h});
  EXPECT_EQ(in_time.get(), 3);
  const NotRun refused = caught<NotRun>(late).value();
  EXPECT_EQ(refused.status(), Status::timed_out);
  EXPECT_STREQ(refused.what(), "the task 'late' did not run: timed_out");
  EXPECT_TRUE(came_to(pool.close(), {.done = 3, .expired = 2}));
  EXPECT_EQ(ran, 2);
  EXPECT_EQ(token.use_count(), 1);
}

TEST_P(TaskOptionsTest, AFailureIsToldWithTheNameOfItsTask) {
  std::mutex mutex;
  std::vector<std::string> names;
  auto given = options(1);
  given.on_error = [&](const TaskFailure& failure) {
    EXPECT_THROW(std::rethrow_exception(failure.error), int);
    const std::lock_guard lock(mutex);
    names.emplace_back(failure.task);
  };
  ThreadPool pool(given);
  std::stop_source source;
  std::array<char, 500> large{};
  pool.post([] { throw 1; }, {.name = "small"});
  pool.wait();
  pool.post([large] { throw int{large[0]}; }, {.name = "large"});
  pool.wait();
  pool.post([] { throw 1; }, {.name = "stoppable", .until = source.get_token()});
  pool.post([] { throw 1; }, {.until = source.get_token()});
  pool.post([] {}, {.name = "does not fail"});
  pool.wait();
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"", "large", "small", "stoppable"}));
}

TEST_P(TaskOptionsTest, ARefusalNamesTheTask) {
  ThreadPool pool(options(1));
  (void)pool.close();
  const auto said = [](auto&& call) { return std::string(caught<NotRun>(call).value().what()); };
  EXPECT_EQ(said([&] { pool.post([] {}); }), "the task did not run: closed");
  EXPECT_EQ(said([&] { pool.post([] {}, {.name = "x"}); }), "the task 'x' did not run: closed");
  EXPECT_EQ(said([&] { (void)pool.submit([] {}, {.name = "x"}); }),
            "the task 'x' did not run: closed");
}

TEST_P(TaskOptionsTest, WhatHasBegunGoesOn) {
  test::Hold held;
  ThreadPool pool(options(1));
  std::stop_source source;
  auto future = pool.submit(
      [&] {
        held();
        return source.stop_requested();
      },
      {.until = source.get_token()});
  held.begun.wait();
  source.request_stop();
  held.gate.open();
  EXPECT_TRUE(future.get());
  EXPECT_EQ(pool.close().done, 1U);
}

TEST_P(TaskOptionsTest, APinnedTaskRunsOnItsWorkerInOrder) {
  constexpr std::size_t width = 3;
  std::vector<std::vector<int>> seen(width);
  std::atomic<int> elsewhere{0};
  ThreadPool pool(options(width));
  const int each = static_cast<int>(test::rounds(500));
  for (int i = 0; i < each; ++i) {
    if (i % 50 == 0) std::this_thread::sleep_for(200us);  // so that some sleep
    for (std::size_t worker = 0; worker < width; ++worker) {
      pool.post(
          [&, worker, i] {
            if (pool.worker_index() != worker) ++elsewhere;
            seen[worker].push_back(i);
          },
          {.worker = worker});
    }
    pool.post([] {});
  }
  const Tally tally = pool.close();
  EXPECT_EQ(elsewhere, 0);
  for (const std::vector<int>& order : seen) {
    ASSERT_EQ(order.size(), static_cast<std::size_t>(each));
    for (int i = 0; i < each; ++i) ASSERT_EQ(order[static_cast<std::size_t>(i)], i);
  }
  EXPECT_EQ(tally.done, (width + 1) * static_cast<std::size_t>(each));
}

TEST_P(TaskOptionsTest, AWorkerThatThereIsNotIsMisuse) {
  ThreadPool pool(options(2));
  EXPECT_THROW(pool.post([] {}, {.worker = 2}), std::logic_error);
  EXPECT_THROW(pool.post([] {}, {.worker = ~std::size_t{0}}), std::logic_error);
}

// Worker 3 has no thread when its task comes, and the system refuses one at first.
TEST(CachedTaskOptions, APinnedTaskStartsItsWorker) {
  ThreadPool pool(test::soon_alone());
  for (std::size_t i = 0; i < test::rounds(50); ++i) {
    if (i % 10 == 0) std::this_thread::sleep_for(3ms);  // it ends
    std::atomic<std::size_t> ran_on{pool.width()};
    const auto pinned = [&] { ran_on = pool.worker_index().value(); };
    if (i % 10 == 0) {
      test::fail_after(test::Call::thread, 0, EAGAIN);
      try {
        pool.post(pinned, {.worker = 3});  // it was there after all
      } catch (const std::system_error&) {
        ASSERT_EQ(ran_on, pool.width());
        pool.post(pinned, {.worker = 3});
      }
      (void)test::stop_failing(test::Call::thread);
    } else {
      pool.post(pinned, {.worker = 3});
    }
    while (ran_on == pool.width()) std::this_thread::yield();
    ASSERT_EQ(ran_on, 3U);
  }
  EXPECT_EQ(pool.close().done, test::rounds(50));
}

}  // namespace
