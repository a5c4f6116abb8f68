// SPDX-License-Identifier: MIT
//
// Ranges and loops on a ThreadPool, waited for and started: what its head comment adds to
// core/bulk.hpp.
#include "support/loop_forms.hpp"
#include "support/own_parts.hpp"
#include "support/test.hpp"
#include "unit/pool/modes.hpp"

namespace {

using namespace handoff;

class RunTest : public test::ModeTest {};
HANDOFF_EACH_MODE(RunTest);

struct Told {
  std::atomic<int> times{0};
  Tally tally;
  auto completion() {
    return [this](const Tally& told) noexcept {
      tally = told;
      ++times;
    };
  }
  void await() const {
    while (times == 0) std::this_thread::yield();
  }
};

TEST_P(RunTest, WorksOnWhenThePoolIsClosed) {
  ThreadPool pool(options(2));
  (void)pool.close();
  std::size_t sum = 0;  // only this thread is left
  EXPECT_EQ(pool.run(100, [&](IndexRange range) { sum += range.size(); }).done, 100U);
  parallel_for(pool, 0, 100, [&](std::size_t i) { sum += i; });
  EXPECT_EQ(sum, 100U + 4950U);
}

TEST_P(RunTest, ALoopInATaskTakesEveryForm) {
  for (const std::size_t width : {1U, 3U}) {
    ThreadPool pool(options(width));
    pool.submit([&] { test::expect_all_loop_forms(pool); }).get();
  }
}

// All workers must be inside at once, or this hangs; and the starter goes on.
TEST_P(RunTest, AStartedOneIsDoneByAllWorkers) {
  for (const std::size_t width : {1U, 2U, 4U}) {
    ThreadPool pool(options(width));
    std::atomic<std::size_t> inside{0};
    std::atomic<int> here{0};
    Told told;
    BulkOperation run(pool, width,
                      [&, starter = std::this_thread::get_id()](std::size_t, std::size_t) {
                        here += std::this_thread::get_id() == starter;
                        ++inside;
                        while (inside < width) std::this_thread::yield();
                      },
                      told.completion(), {.block = 1});
    ASSERT_EQ(run.start(), Status::ok);
    told.await();
    EXPECT_EQ(told.tally.done, width);
    EXPECT_EQ(here, 0);
  }
}

TEST_P(RunTest, InAStartedOneEachWorkerBeginsInItsOwnPart) {
  ThreadPool pool(options(3));
  test::expect_own_parts(3, [&](std::size_t count, test::FirstBlocks& blocks) {
    Told told;
    const auto body = [&](std::size_t first, std::size_t last) { blocks(IndexRange{first, last}); };
    BulkOperation run(pool, count, body, told.completion());
    ASSERT_EQ(run.start(), Status::ok);
    told.await();
  });
}

// What is dropped before it begins ends at once, and says why.
TEST_P(RunTest, AStartedOneThatIsDroppedIsToldOf) {
  const auto nothing = [](std::size_t, std::size_t) { FAIL(); };
  for (const bool late : {false, true}) {
    test::Gate gate;
    ThreadPool pool(options(1));
    test::hold(pool, gate);
    Told told;
    BulkOperation run(pool, 10, nothing, told.completion());
    ASSERT_EQ(run.start(), Status::ok);
    const Tally tally = test::close_a_held(
        pool, gate, late ? Closing::finish_until(sync::Deadline{}) : Closing::abandon);
    EXPECT_EQ(told.times, 1);
    EXPECT_EQ(late ? told.tally.expired : told.tally.cancelled, 10U);
    EXPECT_TRUE(told.tally.balanced());
    EXPECT_EQ(late ? tally.expired : tally.cancelled, 1U) << "one task";
  }
}

// Tasks that blocks made are run as ever, and the run does not wait for a pause to end.
TEST_P(RunTest, APauseInTheMidstOfARunHoldsUpNobody) {
  ThreadPool pool(options(1));
  Told told;
  std::atomic<int> tasks{0};
  BulkOperation run(pool, 10,
                    [&](std::size_t first, std::size_t) {
                      if (first == 0) pool.pause();
                      pool.post([&] { ++tasks; });
                    },
                    told.completion(), {.block = 1});
  ASSERT_EQ(run.start(), Status::ok);
  told.await();
  EXPECT_EQ(told.tally.done, 10U);
  pool.resume();
  pool.wait();
  EXPECT_GT(tasks, 0);
}

}  // namespace
