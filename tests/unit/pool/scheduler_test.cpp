// SPDX-License-Identifier: MIT
//
// A pool as a scheduler of senders, against a small model of std::execution, and against the real
// one where it is there.
#include "support/failing.hpp"
#include "support/senders_model.hpp"
#include "support/test.hpp"
#include "unit/pool/modes.hpp"

namespace {

using namespace handoff;
namespace senders = test::senders;
using Scheduler = BasicPoolScheduler<senders::Words>;

static_assert(senders::scheduler<Scheduler>);
static_assert(senders::sender_to<
              Scheduler::Sender,
              senders::Then<Scheduler::Sender, int (*)()>::Receiver<senders::WaitReceiver<int>>>);

class SchedulerTest : public test::ModeTest {};
HANDOFF_EACH_MODE(SchedulerTest);

TEST_P(SchedulerTest, CompletesOnAWorker) {
  ThreadPool pool(options(2));
  ThreadPool other(options(1));
  const Scheduler scheduler(pool);
  EXPECT_EQ(scheduler, Scheduler(pool));
  EXPECT_NE(scheduler, Scheduler(other));
  EXPECT_EQ(scheduler.query(senders::get_forward_progress_guarantee_t{}),
            senders::forward_progress_guarantee::parallel);
  const auto work =
      senders::then(scheduler.schedule(), [&] { return pool.worker_index().value(); });
  for (int i = 0; i < 200; ++i) {
    const auto index = senders::sync_wait(work);
    ASSERT_TRUE(index.has_value());
    ASSERT_LT(*index, 2U);
  }
  EXPECT_EQ(pool.close().done, 200U);
}

TEST_P(SchedulerTest, WhatIsThrownArrives) {
  ThreadPool pool(options(1));
  const auto work = senders::then(Scheduler(pool).schedule(),
                                  []() -> int { throw std::runtime_error("planned"); });
  EXPECT_THROW((void)senders::sync_wait(work), std::runtime_error);
  EXPECT_EQ(pool.close().failed, 0U) << "it reached its receiver";
}

TEST_P(SchedulerTest, AStopIsHeard) {
  ThreadPool pool(options(1));
  std::stop_source source;
  source.request_stop();
  const auto work = senders::then(Scheduler(pool).schedule(), [] { return 1; });
  EXPECT_FALSE(senders::sync_wait(work, source.get_token()).has_value());
  EXPECT_EQ(pool.close().cancelled, 1U);
}

TEST_P(SchedulerTest, AClosedPoolStops) {
  ThreadPool pool(options(1));
  const auto work = senders::then(Scheduler(pool).schedule(), [] { return 1; });
  EXPECT_TRUE(senders::sync_wait(work).has_value());
  (void)pool.close();
  EXPECT_FALSE(senders::sync_wait(work).has_value());
}

TEST_P(SchedulerTest, WhatACloseDropsIsStopped) {
  test::Gate gate;
  ThreadPool pool(options(1));
  test::hold(pool, gate);
  std::atomic<bool> told{false};
  std::thread waiting([&] {
    const auto work = senders::then(Scheduler(pool).schedule(), [] { return 1; });
    (void)senders::sync_wait(work);  // ran, or was dropped; in any case it completes
    told = true;
  });
  std::thread opener([&] {
    while (pool.try_post([] {}) == Status::ok) std::this_thread::yield();
    gate.open();
  });
  const Tally tally = pool.close(Closing::abandon);
  opener.join();
  waiting.join();
  EXPECT_TRUE(told);
  EXPECT_TRUE(tally.balanced());
}

// What a start has to say.
struct CountingReceiver : senders::Unstopped {
  void set_value() && noexcept { ++*done; }
  void set_error(std::exception_ptr) && noexcept { ++*errors; }
  void set_stopped() && noexcept {}
  std::atomic<int>* done;
  std::atomic<int>* errors;
};

TEST_P(SchedulerTest, NoMemoryIsAnError) {
  std::atomic<int> done{0};
  std::atomic<int> errors{0};
  test::Gate gate;
  ThreadPool pool(options(1));
  test::hold(pool, gate);  // from here on the worker asks for no memory
  using Operation = Scheduler::Operation<CountingReceiver>;
  std::vector<std::unique_ptr<Operation>> operations;
  constexpr int count = 1100;  // more than one segment of the queue
  for (int i = 0; i < count; ++i) {
    operations.push_back(
        std::make_unique<Operation>(detail::engine_of(pool), CountingReceiver{{}, &done, &errors}));
  }
  test::fail_after(test::Call::allocation, 0, 0);
  for (const auto& operation : operations) operation->start();
  EXPECT_TRUE(test::stop_failing(test::Call::allocation));
  EXPECT_EQ(errors, 1);
  gate.open();
  pool.wait();
  EXPECT_EQ(done, count - 1);
}

#if defined(HANDOFF_HAS_SENDERS)
TEST_P(SchedulerTest, IsAStandardScheduler) {
  static_assert(detail::senders::scheduler<PoolScheduler>);
  ThreadPool pool(options(2));
  auto work = detail::senders::schedule(pool.get_scheduler()) |
              detail::senders::then([&] { return pool.worker_index().value(); });
  EXPECT_LT(std::get<0>(detail::senders::sync_wait(std::move(work)).value()), 2U);
}

// Whether what stands behind the pool's sender runs there, and is heard of elsewhere.
TEST_P(SchedulerTest, WorksWithStandardAlgorithms) {
  namespace std_senders = detail::senders;
  ThreadPool pool(options(2));
  const auto on_pool = [&pool](int x) { return pool.worker_index().value() < 2 ? x + 1 : 0; };
  const auto result = [](auto&& work) {
    return std_senders::sync_wait(std::forward<decltype(work)>(work)).value();
  };
  const auto one = [&] { return std_senders::schedule(pool.get_scheduler()); };
  EXPECT_EQ(result(std_senders::when_all(one() | std_senders::then([] { return 1; }),
                                         one() | std_senders::then([] { return 2; }))),
            std::tuple(1, 2));
  EXPECT_EQ(result(std_senders::on(pool.get_scheduler(),
                                   std_senders::just(3) | std_senders::then(on_pool))),
            std::tuple(4));
  EXPECT_EQ(result(std_senders::just(5) | std_senders::continues_on(pool.get_scheduler()) |
                   std_senders::then(on_pool)),
            std::tuple(6));
  EXPECT_THROW(
      (void)result(one() | std_senders::then([]() -> int { throw std::runtime_error("planned"); })),
      std::runtime_error);
}
#endif

}  // namespace
