// SPDX-License-Identifier: MIT
//
// What a task threw and nobody was told is said when its pool ends.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <handoff/core/closing.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/lost_failure.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "unit/pool/modes.hpp"

namespace handoff { namespace {

using namespace std::chrono_literals;

std::vector<std::string> told;

class LostFailureTest : public test::ModeTest {
 protected:
  LostFailureTest() {
    told.clear();
    set_lost_failure_handler([](const char* what) noexcept { told.emplace_back(what); });
  }
  ~LostFailureTest() override { set_lost_failure_handler(nullptr); }
};
HANDOFF_EACH_MODE(LostFailureTest);

void fail() { throw std::runtime_error("disk\nfull"); }

TEST_P(LostFailureTest, IsToldWhenThePoolEnds) {
  for (const char* const name : {"", "resize\x1b"}) {
    auto given = options(1);
    given.name = "thumb'nails";
    {
      ThreadPool pool(given);
      std::string own(name);
      pool.post(fail, {.name = own.c_str()});
      while (pool.tally().failed == 0) std::this_thread::yield();
      own.assign(own.size(), '?');  // need not outlive the task
      pool.post([] { throw 2; });  // the first is told
    }
    ASSERT_EQ(told.size(), 1U);
    const std::string task = *name == 0 ? "a task" : "the task 'resize\\x1b'";
    EXPECT_EQ(told[0], "ThreadPool 'thumb'nails': " + task +
                           " threw: disk\\x0afull; nobody was told: catch it in the task, set "
                           "on_error, or call wait() before the pool ends");
    told.clear();
  }
}

TEST_P(LostFailureTest, IsNoneIfSomebodyWasTold) {
  {
    ThreadPool pool(options(1));
    pool.post(fail);
    EXPECT_THROW(pool.wait(), std::runtime_error);
    EXPECT_THROW(pool.submit(fail).get(), std::runtime_error);
    EXPECT_THROW((void)pool.run(1, [](IndexRange) { fail(); }), std::runtime_error);
    TaskGroup group(pool);
    group.run(fail);
    EXPECT_THROW(group.wait(), std::runtime_error);
  }
  {
    ThreadPool pool(options(1));
    pool.post(fail);
    EXPECT_TRUE(pool.close(Closing::finish).first_failure);
  }
  {
    int heard = 0;
    auto given = options(1);
    given.on_error = [&heard](const TaskFailure&) { ++heard; };
    {
      ThreadPool pool(given);
      pool.post(fail);
    }
    EXPECT_EQ(heard, 1);
  }
  EXPECT_TRUE(told.empty());
}

TEST_P(LostFailureTest, AfterAWaitIsToldAgain) {
  {
    ThreadPool pool(options(1));
    pool.post(fail);
    EXPECT_THROW(pool.wait(), std::runtime_error);
    (void)pool.post_after(1ms, fail);
    while (pool.tally().failed != 2) std::this_thread::yield();
  }
  EXPECT_EQ(told.size(), 1U);
}

// The program's pool has ended, and may be used still.
TEST_P(LostFailureTest, OfTheProgramsPoolIsTold) {
  {
    ThreadPool pool(options(1));
    pool.post(fail);
    ASSERT_TRUE(detail::engine_of(pool).end());
    EXPECT_EQ(told.size(), 1U);
    pool.post(fail);  // runs here
  }
  EXPECT_EQ(told.size(), 2U);
}

TEST(LostFailureDeathTest, IsALineOnStandardError) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        default_pool().post([] { throw 1; }, {.name = "first"});
        std::exit(3);
      },
      testing::ExitedWithCode(3),
      "handoff: ThreadPool 'handoff-pool': the task 'first' threw: an exception that is no "
      "std::exception; nobody was told");
}

}}  // namespace handoff
