// SPDX-License-Identifier: MIT
//
// Every form of a loop, for each kind of executor.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <handoff/core/index_range.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/sync/clock.hpp>
#include <numeric>
#include <stdexcept>
#include <stop_token>
#include <vector>

namespace handoff::test {

// Integers of one type, of two, below 0, at the ends of their types.
template <class E>
void expect_loops_over_integers(E& executor) {
  std::vector<unsigned char> times(1000);
  const auto expect_all = [&times](unsigned char so_often) {
    for (unsigned char& each : times) {
      ASSERT_EQ(each, so_often);
      each = 0;
    }
  };
  const int n = 1000;
  Tally tally = parallel_for(executor, 0, n, [&](int i) { ++times.at(std::size_t(i)); });
  EXPECT_TRUE(tally.accepted == 1000 && tally.done == 1000 && tally.balanced());
  expect_all(1);
  parallel_for(executor, 0, times.size(), [&](auto i) {
    static_assert(std::is_same_v<decltype(i), std::size_t>);
    ++times[i];
  });
  expect_all(1);
  parallel_for(executor, std::uint16_t{0}, n, [&](long i) { ++times.at(std::size_t(i)); });
  expect_all(1);
  parallel_for(executor, 0L, times.size(), [&](int i) { ++times.at(std::size_t(i)); });
  expect_all(1);
  parallel_for(executor, -500, 500, [&](int i) { ++times.at(std::size_t(i + 500)); });
  expect_all(1);
  parallel_for(executor, INT_MIN, INT_MIN + 1000,
               [&](int i) { ++times.at(static_cast<std::size_t>(i - INT_MIN)); });
  expect_all(1);
  parallel_for(executor, SIZE_MAX - 1000, SIZE_MAX,
               [&](std::size_t i) { ++times.at(i - (SIZE_MAX - 1000)); });
  expect_all(1);
  parallel_for(executor, 0, n, [&](IndexRange part) {
    for (const auto i : part) ++times.at(i);
  });
  expect_all(1);
  for (const int last : {0, -1, INT_MIN}) {
    EXPECT_EQ(parallel_for(executor, 0, last, [](int) { FAIL(); }).accepted, 0U);
  }
  EXPECT_EQ(parallel_for(executor, 5U, -5, [](auto) { FAIL(); }).accepted, 0U);
  EXPECT_THROW(parallel_for(executor, -5, 5U, [](auto) { FAIL(); }), std::logic_error);
  EXPECT_THROW(parallel_for(executor, -5, 5, [](IndexRange) { FAIL(); }), std::logic_error);
}

template <class E>
void expect_loops_over_ranges(E& executor) {
  std::vector<int> numbers(1000, 1);
  parallel_for(executor, numbers, [](int& each) { ++each; });
  parallel_for(executor, numbers.begin(), numbers.end(), [](auto& each) { ++each; });
  parallel_for(executor, numbers.data() + 1, numbers.data() + 2, [](int& each) { each = 4; });
  EXPECT_EQ(numbers[1], 4);
  EXPECT_EQ(std::accumulate(numbers.begin(), numbers.end(), 0), 3001);
  const std::array<long, 3> fixed{1, 2, 3};
  std::atomic<long> sum{0};
  parallel_for(executor, fixed, [&](const long& each) { sum += each; });
  int plain[] = {4, 5};
  parallel_for(executor, plain, [&](int each) { sum += each; });
  EXPECT_EQ(sum, 15);
  parallel_for(executor, std::vector<int>(), [](int) { FAIL(); });
}

// One body for all, not a copy each.
template <class E>
void expect_one_body(E& executor) {
  struct Counts {
    void operator()(std::size_t) { ++*count; }
    std::atomic<int>* count;
  };
  std::atomic<int> count{0};
  parallel_for(executor, std::size_t{0}, std::size_t{100}, Counts{&count});
  EXPECT_EQ(count, 100);
  std::vector<char> seen(100);
  parallel_for(executor, 0, 100, [seen = seen.data()](int i) mutable { seen[i] = 1; });
  EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), 0), 100);
}

template <class E>
void expect_options(E& executor) {
  using namespace std::chrono_literals;
  std::atomic<int> blocks{0};
  parallel_for(executor, 0, 100, [&](IndexRange) { ++blocks; }, {.block = 50});
  if constexpr (requires { executor.choice(); }) {
    EXPECT_LE(blocks, 2);  // one, if it chose to run serially
  } else {
    EXPECT_EQ(blocks, 2);
  }
  std::stop_source source;
  const auto never = [](int) { FAIL(); };
  Tally tally = parallel_for(executor, 0, 100, never, {.until = sync::clock::now()});
  EXPECT_TRUE(tally.expired == 100 && tally.accepted == 100 && tally.balanced());
  std::atomic<std::uint64_t> ran{0};
  const auto stops = [&](int) {
    ++ran;
    source.request_stop();
  };
  tally = parallel_for(executor, 0, 100'000, stops, {.block = 1, .until = source.get_token()});
  EXPECT_TRUE(tally.done == ran && tally.cancelled == 100'000 - ran && tally.balanced());
  EXPECT_GE(ran, 1U);
  EXPECT_LT(ran, 100'000U);
  tally = parallel_for(executor, 0, 100, never, {.until = source.get_token()});
  EXPECT_EQ(tally.cancelled, 100U);
  EXPECT_EQ(parallel_for(executor, 0, 100, [](int) {}, {.until = 1h}).done, 100U);
  EXPECT_EQ(parallel_for(executor, 0, 0, never, {.until = source.get_token()}).accepted, 0U);
}

template <class E>
void expect_reductions(E& executor) {
  const int n = 1000;
  EXPECT_EQ(parallel_reduce(executor, 0, n, 0, [](int i) { return i; }, std::plus<>()), 499'500);
  EXPECT_EQ(parallel_reduce(executor, -3, 4, 0L, [](auto i) { return long{i}; }, std::plus<>()), 0);
  EXPECT_EQ(parallel_reduce(executor, 4, 4, 7, [](int i) { return i; }, std::plus<>()), 7);
}

template <class E>
void expect_all_loop_forms(E& executor) {
  expect_loops_over_integers(executor);
  expect_loops_over_ranges(executor);
  expect_one_body(executor);
  expect_options(executor);
  expect_reductions(executor);
}

}  // namespace handoff::test
