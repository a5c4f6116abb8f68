// SPDX-License-Identifier: MIT
//
// What a task of a pool threw and nobody took is told.
#include "support/unheard.hpp"
#include "support/test.hpp"
#include "unit/pool/modes.hpp"

namespace handoff { namespace {

using namespace std::chrono_literals;

std::vector<std::string>& told = test::Unheard::told();

class UnheardTaskTest : public test::ModeTest {
  const test::Unheard unheard_;
};
HANDOFF_EACH_MODE(UnheardTaskTest);

void fail() { throw std::runtime_error("disk\nfull"); }

TEST_P(UnheardTaskTest, IsToldWhenThePoolEnds) {
  for (const char* const name : {"", "resize\x1b"}) {
    auto given = options(1);
    given.name = "thumb'nails";
    {
      ThreadPool pool(given);
      std::string own(name);
      pool.post(fail, {.name = own.c_str()});
      while (pool.tally().failed == 0) std::this_thread::yield();
      own.assign(own.size(), '?');  // need not outlive the task
      EXPECT_TRUE(told.empty());
    }
    ASSERT_EQ(told.size(), 1U);
    const std::string task = *name == 0 ? "a task" : "the task 'resize\\x1b'";
    EXPECT_EQ(told[0], "ThreadPool 'thumb'nails': " + task +
                           " threw: disk\\x0afull; nobody took it: set on_error, call wait(), or "
                           "catch it there");
    told.clear();
  }
}

// wait() takes one: it cannot take the next.
TEST_P(UnheardTaskTest, OfSeveralIsToldAtOnceButForTheFirst) {
  ThreadPool pool(options(1));
  pool.post(fail);
  pool.post([] { throw 2; }, {.name = "second"});
  while (pool.tally().failed != 2) std::this_thread::yield();
  EXPECT_THROW(pool.wait(), std::runtime_error);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].find("the task 'second' threw: an exception that is no std::exception; nobody "
                         "took it: wait() takes the first one only"),
            std::string::npos)
      << told[0];
}

TEST_P(UnheardTaskTest, IsNoneIfSomebodyTookIt) {
  {
    ThreadPool pool(options(1));
    pool.post(fail);
    EXPECT_THROW(pool.wait(), std::runtime_error);
    EXPECT_THROW(pool.submit(fail).get(), std::runtime_error);
    EXPECT_THROW((void)pool.run(1, [](IndexRange) { fail(); }), std::runtime_error);
    TaskGroup group(pool);
    group.run(fail);
    EXPECT_THROW(group.wait(), std::runtime_error);
    TaskGroup shared(pool, {.shared = true});  // which keeps its failure for further waits
    shared.run(fail);
    EXPECT_THROW(shared.wait(), std::runtime_error);
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

// A Tally counts.
TEST_P(UnheardTaskTest, IsToldByACloseToo) {
  ThreadPool pool(options(1));
  pool.post(fail);
  EXPECT_TRUE(pool.close(Closing::finish).first_failure);
  EXPECT_EQ(told.size(), 1U);
}

// Which of them throws first is the pool's to choose: a group and a loop stand for all.
TEST_P(UnheardTaskTest, OfAGroupIsToldOnce) {
  ThreadPool pool(options(2));
  {
    TaskGroup group(pool);
    for (int i = 0; i < 3; ++i) group.run(fail);
    EXPECT_THROW(group.wait(), std::runtime_error);
    EXPECT_THROW((void)pool.run(3, [](IndexRange) { fail(); }, {.block = 1}), std::runtime_error);
    EXPECT_TRUE(told.empty());
    for (int i = 0; i < 3; ++i) group.run(fail);
  }
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0], "TaskGroup: a task threw: disk\\x0afull; nobody took it: call wait()");
}

TEST_P(UnheardTaskTest, AfterAWaitIsToldAgain) {
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
TEST_P(UnheardTaskTest, OfTheProgramsPoolIsTold) {
  {
    ThreadPool pool(options(1));
    pool.post(fail);
    ASSERT_TRUE(detail::engine_of(pool).end());
    EXPECT_EQ(told.size(), 1U);
    pool.post(fail);  // runs here
  }
  EXPECT_EQ(told.size(), 2U);
}

template <class E, class End>
void told_at_the_end_of_the_future(E& executor, const End& end) {
  const test::Unheard unheard;
  (void)executor.submit(fail);
  end();
  EXPECT_EQ(told.size(), 1U);
  auto shared = executor.submit(fail).share();
  end();
  EXPECT_EQ(told.size(), 1U);
  shared = {};
  EXPECT_EQ(told.size(), 2U);
  auto heard = executor.submit(fail);
  end();
  EXPECT_THROW(heard.get(), std::runtime_error);
  EXPECT_EQ(told.size(), 2U);
}

TEST(UnheardFutureTest, OfAStrandOrALoopIsTold) {
  ThreadPool pool(1);
  SerialExecutor strand(pool);
  told_at_the_end_of_the_future(strand, [&] {
    (void)strand.wait();
    pool.wait();
  });
  EXPECT_EQ(strand.close().failed, 3U);
  LoopExecutor loop;
  told_at_the_end_of_the_future(loop, [&] { loop.drain(); });
  EXPECT_EQ(loop.close().failed, 3U);
}

TEST(UnheardTaskDeathTest, IsALineOnStandardError) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        default_pool().post([] { throw 1; }, {.name = "first"});
        std::exit(3);
      },
      testing::ExitedWithCode(3),
      "handoff: ThreadPool 'handoff-pool': the task 'first' threw: an exception that is no "
      "std::exception; nobody took it: ");
}

}}  // namespace handoff
