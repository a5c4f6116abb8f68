// SPDX-License-Identifier: MIT
//
// Every form of a loop, for each kind of executor.
#pragma once

#include <climits>
#include <ranges>

#include "support/test.hpp"

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

// Ranges whose ends are of another type, or whose distances are wider than any integer.
template <class E>
void expect_loops_over_views(E& executor) {
  std::vector<int> numbers(1000, 1);
  parallel_for(executor, numbers.begin(), numbers.cend(), [](int& each) { ++each; });
  parallel_for(executor, numbers.cbegin(), numbers.end(), [](const int&) {});
  std::atomic<std::size_t> sum{0};
  parallel_for(executor, std::views::iota(std::size_t{0}, numbers.size()),
               [&](std::size_t i) { sum += i * static_cast<std::size_t>(numbers[i]); });
  EXPECT_EQ(sum, 2 * 499'500U);
  parallel_for(executor, std::views::counted(numbers.begin(), 1000), [](int& each) { ++each; });
  EXPECT_EQ(std::accumulate(numbers.begin(), numbers.end(), 0), 3000);
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
  EXPECT_EQ(blocks, 2);
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

// It counts once, however many parts there are.
template <class E>
void expect_reductions_from_an_initial_value(E& executor) {
  const auto one = [](int) { return 1; };
  for (const int n : {0, 1, 2, 255, 256, 257, 1000}) {
    EXPECT_EQ(parallel_reduce(executor, 0, n, 10, one, std::plus<>()), 10 + n);
  }
  const auto text = [](int i) { return std::to_string(i); };
  EXPECT_EQ(parallel_reduce(executor, 0, 4, std::string("from "), text, std::plus<>()),
            "from 0123");
}

template <class E>
void expect_reductions_of_ranges(E& executor) {
  struct Pixel {
    int value = 3;
    int twice() const { return 2 * value; }
  };
  std::vector<Pixel> pixels(1000);
  EXPECT_EQ(parallel_reduce(executor, pixels, 1, &Pixel::value, std::plus<>()), 3001);
  EXPECT_EQ(
      parallel_reduce(executor, pixels.begin(), pixels.cend(), 1, &Pixel::twice, std::plus<>()),
      6001);
  const std::vector<Pixel> none;
  EXPECT_EQ(parallel_reduce(executor, none, 7, &Pixel::value, std::plus<>()), 7);
  EXPECT_EQ(parallel_reduce(
                executor, std::views::iota(std::size_t{0}, std::size_t{1000}), 0L,
                [](std::size_t i) { return static_cast<long>(i); }, std::plus<>()),
            499'500);
  // One map for all threads, with what it keeps.
  struct Counting {
    std::atomic<int> calls{0};  // so it cannot be copied
    int operator()(const Pixel& pixel) { return ++calls, pixel.value; }
  } map;
  EXPECT_EQ(parallel_reduce(executor, pixels, 1, map, std::plus<>(), {.block = 10}), 3001);
  EXPECT_EQ(map.calls, 1000);
}

// A combine that takes nothing but what its message asks for.
template <class E>
void expect_reductions_in_order(E& executor) {
  std::string expected = ":";
  for (int i = 0; i < 40'000; ++i) expected += std::to_string(i);
  const auto append = [](std::string&& text, int i) { return std::move(text) + std::to_string(i); };
  EXPECT_EQ(parallel_reduce(
                executor, 0, 40'000, std::string(":"), [](int i) { return i; }, append),
            expected);
}

template <class E>
void expect_reductions_with_options(E& executor) {
  const auto same = [](int i) { return i; };
  EXPECT_EQ(parallel_reduce(executor, 0, 1000, 0, same, std::plus<>(), {.block = 500}), 499'500);
  std::stop_source source;
  source.request_stop();
  const auto status_of = [&](const Until& until) {
    try {
      (void)parallel_reduce(executor, 0, 1000, 0, same, std::plus<>(), {.until = until});
    } catch (const NotRun& not_run) {
      return not_run.status();
    }
    return Status::ok;
  };
  EXPECT_EQ(status_of(source.get_token()), Status::stopped);
  EXPECT_EQ(status_of(sync::clock::now()), Status::timed_out);
  EXPECT_EQ(status_of(std::chrono::hours(1)), Status::ok);
}

template <class E>
void expect_all_loop_forms(E& executor) {
  expect_loops_over_integers(executor);
  expect_loops_over_ranges(executor);
  expect_loops_over_views(executor);
  expect_one_body(executor);
  expect_options(executor);
  expect_reductions(executor);
  expect_reductions_from_an_initial_value(executor);
  expect_reductions_of_ranges(executor);
  expect_reductions_in_order(executor);
  expect_reductions_with_options(executor);
}

}  // namespace handoff::test
