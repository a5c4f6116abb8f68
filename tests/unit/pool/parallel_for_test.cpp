// SPDX-License-Identifier: MIT
//
// parallel_for and parallel_reduce: every index once, failures, nesting, sums that do not move.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <handoff/pool/parallel_for.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/loop_forms.hpp"
#include "support/own_parts.hpp"
#include "support/support.hpp"
#include "unit/pool/modes.hpp"

namespace {

using namespace handoff;

class ParallelForTest : public test::ModeTest {};
HANDOFF_EACH_MODE(ParallelForTest);

TEST_P(ParallelForTest, EveryIndexOnce) {
  for (const std::size_t width : {1U, 2U, 7U}) {
    ThreadPool pool(options(width));
    for (const std::size_t count : {0U, 1U, 2U, 3U, 100U, 10'000U}) {
      std::vector<unsigned char> times(count + 10);  // plain bytes: the loop keeps threads apart
      parallel_for(pool, 10, count + 10, [&](std::size_t i) { ++times[i]; });
      for (std::size_t i = 0; i < times.size(); ++i) ASSERT_EQ(times[i], i < 10 ? 0 : 1);
    }
    parallel_for(pool, 5, 4, [](std::size_t) { FAIL(); });
  }
}

TEST_P(ParallelForTest, TakesEveryForm) {
  for (const std::size_t width : {1U, 3U}) {
    ThreadPool pool(options(width));
    test::expect_all_loop_forms(pool);
    pool.submit([&] { test::expect_all_loop_forms(pool); }).get();
  }
}

TEST_P(ParallelForTest, TakesBlocks) {
  ThreadPool pool(options(2));
  std::vector<unsigned char> times(1000);
  parallel_for(pool, 0, times.size(), [&](IndexRange range) {
    for (const std::size_t i : range) ++times[i];
  });
  EXPECT_EQ(times, std::vector<unsigned char>(1000, 1));
}

// Two threads must be inside at once, or this hangs.
TEST_P(ParallelForTest, CallsOthers) {
  ThreadPool pool(options(2));
  std::atomic<int> inside{0};
  parallel_for(pool, 0, 3, [&](std::size_t) {
    ++inside;
    while (inside < 3) std::this_thread::yield();
  });
  EXPECT_EQ(inside, 3) << "the caller and both workers";
}

TEST_P(ParallelForTest, EachThreadBeginsInItsOwnPart) {
  ThreadPool pool(options(2));
  const auto loop = [&](std::size_t count, test::FirstBlocks& blocks) {
    parallel_for(pool, 0, count, [&](IndexRange block) { blocks(block); });
  };
  test::expect_own_parts(3, loop, std::this_thread::get_id());
}

TEST_P(ParallelForTest, Nests) {
  ThreadPool pool(options(3));
  std::vector<std::atomic<int>> times(20 * 30 * 5);
  parallel_for(pool, 0, 20, [&](std::size_t i) {
    parallel_for(pool, 0, 30, [&](std::size_t j) {
      parallel_for(pool, 0, 5, [&](std::size_t k) { ++times[(i * 30 + j) * 5 + k]; });
    });
  });
  for (const auto& count : times) ASSERT_EQ(count, 1);
}

TEST_P(ParallelForTest, TheFirstFailureIsRethrown) {
  ThreadPool pool(options(2));
  for (int round = 0; round < 50; ++round) {
    std::atomic<std::size_t> ran{0};
    EXPECT_THROW(parallel_for(pool, 0, 100'000,
                              [&](std::size_t i) {
                                ++ran;
                                if (i == 50) throw std::runtime_error("planned");
                              }),
                 std::runtime_error);
    EXPECT_LE(ran, 100'000U);
  }
  EXPECT_THROW(parallel_for(pool, 0, 1000, [](std::size_t) { throw 1; }), int);
  pool.wait();
  EXPECT_TRUE(pool.close().balanced());
}

TEST_P(ParallelForTest, WorksOnWhenThePoolIsClosed) {
  ThreadPool pool(options(2));
  (void)pool.close();
  int sum = 0;  // only this thread is left
  parallel_for(pool, 0, 100, [&](std::size_t i) { sum += static_cast<int>(i); });
  EXPECT_EQ(sum, 4950);
}

TEST_P(ParallelForTest, ReducesInOrder) {
  ThreadPool pool(options(3));
  for (const std::size_t count : {0U, 1U, 2U, 255U, 256U, 257U, 1000U}) {
    std::string expected = "<";
    for (std::size_t i = 0; i < count; ++i) expected += std::to_string(i) + ",";
    const std::string joined = parallel_reduce(
        pool, 0, count, std::string(), [](std::size_t i) { return std::to_string(i) + ","; },
        [](std::string a, const std::string& b) { return std::move(a) + b; });
    ASSERT_EQ("<" + joined, expected) << "associative is enough";
  }
}

TEST_P(ParallelForTest, ASumIsTheSameOnAnyWidth) {
  auto random = test::random();
  std::vector<double> values(10'000);
  for (double& value : values) {
    value = std::ldexp(static_cast<double>(random()), -static_cast<int>(random() % 90));
  }
  double first = 0;
  for (const std::size_t width : {1U, 2U, 3U, 5U}) {
    ThreadPool pool(options(width));
    for (int round = 0; round < 5; ++round) {
      const double sum = parallel_reduce(
          pool, 0, values.size(), 0.0, [&](std::size_t i) { return values[i]; }, std::plus<>());
      if (first == 0) first = sum;
      ASSERT_EQ(sum, first);
    }
  }
}

}  // namespace
