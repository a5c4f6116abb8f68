// SPDX-License-Identifier: MIT
//
// compat/study_pool: the study's programs.

#include <threadpool.h>

#include "support/test.hpp"

namespace {

std::string func(int a, int b, int c) {
  return std::to_string(a) + std::to_string(b) + std::to_string(c);
}

TEST(StudyPool, TheStudysProgramRunsInEachMode) {
  for (const PoolMode mode : {PoolMode::MODE_FIXED, PoolMode::MODE_CACHED, PoolMode::MODE_ACTIVE}) {
    ThreadPool pool(mode);
    pool.start(2);
    pool.start(3);  // says nothing new
    std::future<std::string> res1 = pool.submitTask(func, 1, 2, 3);
    std::future<int> res2 = pool.submitTask([](int num) -> int { return 123 + num; }, 666);
    EXPECT_EQ(res1.get(), "123");
    EXPECT_EQ(res2.get(), 789);
  }
}

TEST(StudyPool, ArgumentsAreCopiedUnlessByReference) {
  ThreadPool pool;
  pool.start();
  int kept = 1;
  pool.submitTask([](int& number) { ++number; }, kept).get();
  EXPECT_EQ(kept, 1);
  pool.submitTask([](int& number) { ++number; }, std::ref(kept)).get();
  EXPECT_EQ(kept, 2);
}

TEST(StudyPool, EmptyTasksAllRunAlsoWhenFewMayWait) {
  for (const PoolMode mode : {PoolMode::MODE_FIXED, PoolMode::MODE_CACHED, PoolMode::MODE_ACTIVE}) {
    std::atomic<int> ran = 0;
    {
      ThreadPool pool(mode);
      pool.setTaskMaxCount(8);
      pool.setThreadMaxCount(3);
      pool.setThreadIdleTimeout(1);
      pool.start(1);
      for (int i = 0; i < 10000; ++i) pool.submitTask([&] { ++ran; });
    }
    EXPECT_EQ(ran, 10000);
  }
}

TEST(StudyPool, BeforeItStartsAFutureSaysNotRun) {
  ThreadPool pool;
  pool.setMode(PoolMode::MODE_ACTIVE);
  EXPECT_THROW(pool.submitTask(func, 1, 2, 3).get(), handoff::NotRun);
}

}  // namespace
