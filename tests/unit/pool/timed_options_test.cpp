// SPDX-License-Identifier: MIT
//
// Tasks that begin later, with options: each of them says of a timed task what it says of any.
#include "support/failing.hpp"
#include "support/test.hpp"
#include "unit/pool/modes.hpp"

namespace timed_options_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using test::came_to;

class TimedOptionsTest : public test::ModeTest {};
HANDOFF_EACH_MODE(TimedOptionsTest);

TEST_P(TimedOptionsTest, ThoseOfHighPriorityBeginFirstWhenTheyAreDue) {
  ThreadPool pool(options(1));
  std::vector<int> order;
  pool.pause();
  const sync::Deadline moment = sync::clock::now();
  (void)pool.post_at(moment, [&] { order.push_back(3); }, {.priority = Priority::low});
  (void)pool.post_at(moment, [&] { order.push_back(2); });
  (void)pool.post_at(moment, [&] { order.push_back(1); }, {.priority = Priority::high});
  while (pool.statistics().from_outside != 3) std::this_thread::sleep_for(100us);
  pool.resume();
  (void)pool.close();
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

// In a bounded pool they take room in advance, as all that is due, and give it back.
TEST_P(TimedOptionsTest, WhatIsDueIsNeverRefusedWhateverItsPriority) {
  ThreadPoolOptions given = options(1);
  given.capacity = 1;
  given.on_full = OnFull::reject;
  ThreadPool pool(given);
  std::atomic<int> ran{0};
  for (int i = 0; i < 20; ++i) {
    for (const Priority priority : {Priority::high, Priority::normal, Priority::low}) {
      (void)pool.post_after(0s, [&] { ++ran; }, {.priority = priority});
    }
  }
  while (ran != 60) std::this_thread::sleep_for(100us);
  pool.wait();
  EXPECT_EQ(pool.try_post([] {}), Status::ok) << "there is room again";
  EXPECT_EQ(pool.close().done, 61U);
}

TEST_P(TimedOptionsTest, RunOnTheirWorker) {
  constexpr std::size_t width = 3;
  ThreadPool pool(options(width));
  std::atomic<int> elsewhere{0};
  std::atomic<int> ran{0};
  for (std::size_t i = 0; i < 30; ++i) {
    const std::size_t worker = i % width;
    (void)pool.post_after(std::chrono::microseconds(100 * i),
                          [&, worker] {
                            if (pool.worker_index() != worker) ++elsewhere;
                            ++ran;
                          },
                          {.worker = worker});
  }
  std::atomic<int> times{0};
  const TimerHandle series = pool.post_every(1ms,
                                             [&] {
                                               if (pool.worker_index() != 1U) ++elsewhere;
                                               ++times;
                                             },
                                             {.worker = 1});
  while (ran != 30 || times < 3) std::this_thread::sleep_for(100us);
  const Tally tally = pool.close();
  EXPECT_EQ(elsewhere, 0);
  EXPECT_TRUE(tally.balanced() && tally.pending == 0);
}

TEST_P(TimedOptionsTest, AWorkerThatThereIsNotIsMisuse) {
  ThreadPool pool(options(2));
  EXPECT_THROW((void)pool.post_after(1h, [] {}, {.worker = 2}), std::logic_error);
  EXPECT_THROW((void)pool.post_every(1h, [] {}, {.worker = 2}), std::logic_error);
  EXPECT_EQ(pool.close().accepted, 0U);
}

TEST_P(TimedOptionsTest, AStopEndsASeries) {
  ThreadPool pool(options(1));
  std::stop_source source;
  int ran = 0;
  auto token = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = token;
  TimerHandle handle = pool.post_every(1ms,
                                       [&ran, &source, token = std::move(token)] {
                                         if (++ran == 3) source.request_stop();
                                       },
                                       {.until = source.get_token()});
  while (!watch.expired()) std::this_thread::sleep_for(100us);
  EXPECT_FALSE(handle.cancel_and_wait());
  EXPECT_TRUE(came_to(pool.close(), {.done = 3, .cancelled = 1})) << "a run did not begin";
  EXPECT_EQ(ran, 3);
}

TEST_P(TimedOptionsTest, WhatComesTooLateExpires) {
  ThreadPool pool(options(1));
  std::atomic<int> ran{0};
  const sync::Deadline now = sync::clock::now();
  (void)pool.post_at(now + 1ms, [&] { ++ran; }, {.until = now});
  (void)pool.post_at(now + 1ms, [&] { ran += 10; }, {.until = now + 1h});
  while (pool.tally().expired != 1 || ran == 0) std::this_thread::sleep_for(100us);
  EXPECT_TRUE(came_to(pool.close(), {.done = 1, .expired = 1}));
  EXPECT_EQ(ran, 10);
}

TEST_P(TimedOptionsTest, ADeadlineEndsASeries) {
  ThreadPool pool(options(1));
  std::atomic<std::size_t> ran{0};
  TimerHandle handle = pool.post_every(1ms, [&] { ++ran; }, {.until = sync::clock::now() + 10ms});
  while (pool.tally().expired != 1) std::this_thread::sleep_for(100us);
  EXPECT_FALSE(handle.cancel_and_wait());
  EXPECT_TRUE(came_to(pool.close(), {.done = ran, .expired = 1}));
}

// ... to on_error and to NotRun; a name of nothing is none.
TEST_P(TimedOptionsTest, TheNameIsSaid) {
  std::mutex mutex;
  std::vector<std::string> names;
  ThreadPoolOptions given = options(1);
  given.on_error = [&](const TaskFailure& failure) {
    const std::lock_guard lock(mutex);
    names.emplace_back(failure.task);
  };
  ThreadPool pool(given);
  const auto fails = [] { throw std::runtime_error("planned"); };
  const sync::Deadline moment = sync::clock::now();
  (void)pool.post_at(moment, fails, {.name = "once"});
  pool.wait();
  (void)pool.post_at(moment, fails);
  const TimerHandle series = pool.post_every(1ms, fails, {.name = "again"});
  const auto seen = [&] {
    const std::lock_guard lock(mutex);
    return names.size();
  };
  while (seen() < 4) std::this_thread::sleep_for(100us);
  (void)pool.close();
  EXPECT_EQ(std::count(names.begin(), names.end(), "once"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), ""), 1);
  EXPECT_GE(std::count(names.begin(), names.end(), "again"), 2);
  const auto post = [&] { return pool.post_after(1ms, fails, {.name = "too late"}); };
  EXPECT_TRUE(test::says(test::caught<NotRun>(post).value(), "too late"));
}

// The worker has ended, and the system refuses it a thread when the moment has come.
TEST(TimedOptionsOfCachedTest, AThreadThatIsRefusedIsAskedForAgain) {
  ThreadPool pool(test::soon_alone());
  (void)pool.post_after(0s, [] {});  // starts the thread that waits
  pool.wait();
  std::atomic<std::size_t> ran_on{pool.width()};
  test::fail_after(test::Call::thread, 0, EAGAIN);
  (void)pool.post_after(1ms, [&] { ran_on = pool.worker_index().value(); }, {.worker = 3});
  while (ran_on == pool.width()) std::this_thread::sleep_for(100us);
  EXPECT_TRUE(test::stop_failing(test::Call::thread)) << "once it was refused";
  EXPECT_EQ(ran_on, 3U);
}

}}  // namespace timed_options_test
