// SPDX-License-Identifier: MIT
//
// Loops on executors of every kind, good and bad: the caller sees them to their end.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <handoff/core/inline_executor.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/core/unique_function.hpp>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/loop_forms.hpp"
#include "support/support.hpp"

namespace {

using namespace handoff;

// A thread for each function.
class Threads {
 public:
  explicit Threads(std::size_t width) : width_(width) {}
  ~Threads() { join(); }
  void join() {
    for (;;) {
      std::vector<std::thread> threads;
      {
        const std::lock_guard lock(mutex_);
        threads.swap(threads_);
      }
      if (threads.empty()) return;
      for (auto& thread : threads) thread.join();
    }
  }
  template <class F>
  Status try_post(F&& function) {
    const std::lock_guard lock(mutex_);
    threads_.emplace_back(std::forward<F>(function));
    ++executed;
    return Status::ok;
  }
  std::size_t width() const { return width_; }
  std::atomic<int> executed{0};

 private:
  const std::size_t width_;
  std::mutex mutex_;
  std::vector<std::thread> threads_;
};

class Refusing {
 public:
  template <class F>
  Status try_post(F&&) {
    ++asked;
    return Status::full;
  }
  std::size_t width() const { return 4; }
  std::atomic<int> asked{0};
};

class Throwing {
 public:
  template <class F>
  Status try_post(F&&) {
    throw std::bad_alloc();
  }
  std::size_t width() const { return 4; }
};

// Runs nothing until it is told to, or never.
class Late {
 public:
  template <class F>
  Status try_post(F&& function) {
    functions.emplace_back(std::forward<F>(function));
    return Status::ok;
  }
  std::size_t width() const { return 4; }
  std::vector<UniqueFunction<void()>> functions;
};

template <class E>
void expect_each_index_once(E& executor) {
  for (const std::size_t count : {0U, 1U, 2U, 3U, 100U, 10'000U}) {
    std::vector<unsigned char> times(count + 10);  // plain bytes: the loop keeps threads apart
    parallel_for(executor, 10, count + 10, [&](std::size_t i) { ++times[i]; });
    for (std::size_t i = 0; i < times.size(); ++i) ASSERT_EQ(times[i], i < 10 ? 0 : 1);
    std::fill(times.begin(), times.end(), static_cast<unsigned char>(0));
    parallel_for(executor, 10, count + 10, [&](IndexRange range) {
      for (const std::size_t i : range) ++times[i];
    });
    for (std::size_t i = 0; i < times.size(); ++i) ASSERT_EQ(times[i], i < 10 ? 0 : 1);
  }
  parallel_for(executor, 5, 4, [](std::size_t) { FAIL(); });
}

template <class E>
void expect_the_first_failure(E& executor) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<std::size_t> ran{0};
    EXPECT_THROW(parallel_for(executor, 0, 100'000,
                              [&](std::size_t i) {
                                ++ran;
                                if (i == 50) throw std::runtime_error("planned");
                              }),
                 std::runtime_error);
    EXPECT_LE(ran, 100'000U);
  }
  EXPECT_THROW(parallel_for(executor, 0, 1000, [](std::size_t) { throw 1; }), int);
}

TEST(ParallelForOnAnExecutor, EachIndexOnce) {
  InlineExecutor here;
  expect_each_index_once(here);
  Refusing refusing;
  expect_each_index_once(refusing);
  EXPECT_GT(refusing.asked, 0);
  Throwing throwing;
  expect_each_index_once(throwing);
  for (const std::size_t width : {0U, 1U, 4U}) {
    Threads threads(width);
    expect_each_index_once(threads);
    EXPECT_EQ(threads.executed > 0, width > 0);
  }
}

TEST(ParallelForOnAnExecutor, TakesEveryForm) {
  InlineExecutor here;
  test::expect_all_loop_forms(here);
  Refusing refusing;
  test::expect_all_loop_forms(refusing);
  Threads threads(3);
  test::expect_all_loop_forms(threads);
}

TEST(ParallelForOnAnExecutor, TheFirstFailureIsRethrown) {
  InlineExecutor here;
  expect_the_first_failure(here);
  Refusing refusing;
  expect_the_first_failure(refusing);
  Threads threads(3);
  expect_the_first_failure(threads);
}

// The caller and all that the executor is wide must be inside at once, or this hangs.
TEST(ParallelForOnAnExecutor, CallsAsManyAsItIsWide) {
  Threads threads(3);
  std::atomic<int> inside{0};
  parallel_for(threads, 0, 4, [&](std::size_t) {
    ++inside;
    while (inside < 4) std::this_thread::yield();
  });
  threads.join();
  EXPECT_LE(threads.executed, 3);
}

// The functions outlive the loop, and touch nothing of it.
TEST(ParallelForOnAnExecutor, EndsOnAnExecutorThatRunsNothingUntilLater) {
  Late late;
  auto sum = std::make_unique<std::size_t>(0);
  parallel_for(late, 0, 100, [&](std::size_t i) { *sum += i; });
  EXPECT_EQ(*sum, 4950U);
  ASSERT_EQ(late.functions.size(), 1U) << "one calls the next, when it is called itself";
  sum.reset();
  for (std::size_t i = 0; i < late.functions.size(); ++i) late.functions[i]();
  EXPECT_EQ(late.functions.size(), 1U) << "nobody is called to what is over";
  parallel_for(late, 0, 100, [](std::size_t) {});
  late.functions.clear();  // or are never called
}

// What a helper throws is the loop's, not the executor's.
TEST(ParallelForOnAnExecutor, AHelperThrowsNothingAtTheExecutor) {
  Threads threads(1);  // where an exception would end the program
  std::atomic<int> inside{0};
  EXPECT_THROW(parallel_for(threads, 0, 2,
                            [&](std::size_t) {
                              ++inside;
                              while (inside < 2) std::this_thread::yield();
                              throw std::runtime_error("both");
                            }),
               std::runtime_error);
}

TEST(ParallelForOnAnExecutor, Nests) {
  Threads threads(2);
  std::vector<std::atomic<int>> times(20 * 30);
  parallel_for(threads, 0, 20, [&](std::size_t i) {
    parallel_for(threads, 0, 30, [&](std::size_t j) { ++times[i * 30 + j]; });
  });
  for (const auto& count : times) ASSERT_EQ(count, 1);
}

TEST(ParallelReduceOnAnExecutor, ReducesInOrderAndTheSameOnAnyWidth) {
  std::string expected;
  for (std::size_t i = 0; i < 257; ++i) expected += std::to_string(i) + ",";
  auto random = test::random();
  std::vector<double> values(10'000);
  for (double& value : values) {
    value = std::ldexp(static_cast<double>(random()), -static_cast<int>(random() % 90));
  }
  InlineExecutor here;
  const auto sum = [&](auto& executor) {
    return parallel_reduce(
        executor, 0, values.size(), 0.0, [&](std::size_t i) { return values[i]; }, std::plus<>());
  };
  const double first = sum(here);
  for (const std::size_t width : {1U, 2U, 5U}) {
    Threads threads(width);
    EXPECT_EQ(sum(threads), first);
    const std::string joined = parallel_reduce(
        threads, 0, 257, std::string(), [](std::size_t i) { return std::to_string(i) + ","; },
        [](std::string a, const std::string& b) { return std::move(a) + b; });
    EXPECT_EQ(joined, expected) << "associative is enough";
  }
}

}  // namespace
