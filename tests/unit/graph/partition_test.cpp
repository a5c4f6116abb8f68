// SPDX-License-Identifier: MIT
//
// partition: the same items on each side as std's, and what it leaves behind a predicate, a move or
// a stop that ends it.
#include "conformance/strangers.hpp"
#include "unit/graph/sorting.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;
using test::Shape;

// Slow, so that some microseconds of work are soon left.
bool is_even(int number) {
  for (int i = 0; i < 20; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
  return number % 2 == 0;
}

template <class E, class Items, class Pred>
void expect_partition(E& executor, Items items, Pred pred) {
  Items expected = items;
  const auto wanted = std::ranges::partition(expected, pred);
  const auto rest = handoff::partition(executor, items, pred);
  ASSERT_EQ(rest.begin() - items.begin(), wanted.begin() - expected.begin());
  ASSERT_EQ(rest.end(), items.end());
  ASSERT_TRUE(std::all_of(items.begin(), rest.begin(), pred));
  ASSERT_TRUE(std::none_of(rest.begin(), rest.end(), pred));
  std::ranges::sort(items);
  std::ranges::sort(expected);
  ASSERT_EQ(items, expected);
}

TEST(Partition, IsThatOfStd) {
  auto random = test::random();
  std::vector<std::unique_ptr<ThreadTeam>> teams;
  for (const std::size_t width : {1UL, 2UL, 5UL, 16UL}) {
    teams.push_back(std::make_unique<ThreadTeam>(ThreadTeamOptions{.width = width}));
  }
  for (std::size_t round = 0; round < test::rounds(500); ++round) {
    ThreadTeam& team = *teams[random() % teams.size()];
    const std::size_t count = random() % (std::size_t{1} << (random() % 16));
    const Shape shape = test::all_shapes[random() % test::all_shapes.size()];
    const std::vector<int> numbers = test::numbers_of(shape, count, random);
    const int pivot = numbers.empty() ? 0 : numbers[random() % count];
    expect_partition(team, numbers, is_even);
    expect_partition(team, numbers, [pivot](int number) { return number < pivot; });
    std::deque<std::string> texts;
    for (const int number : numbers) texts.push_back(std::to_string(number));
    expect_partition(team, texts, [](const std::string& text) { return is_even(text.back()); });
  }
}

TEST(Partition, RunsOnWhateverRunsLoops) {
  auto random = test::random();
  const std::vector<int> numbers = test::numbers_of(Shape::random, 20000, random);
  ThreadPool pool{{.width = 2}};
  expect_partition(pool, numbers, is_even);
  InlineExecutor here;
  expect_partition(here, numbers, is_even);
  test::StrangersExecutor stranger(2);
  expect_partition(stranger, numbers, is_even);
}

TEST(Partition, TakesIteratorsProjectionsAndTemporaries) {
  ThreadTeam team{{.width = 2}};
  std::vector<test::Owner> owners;
  for (int i = 0; i < 5000; ++i) owners.emplace_back(i);
  const auto rest =
      handoff::partition(team, owners.begin(), owners.end(), is_even, &test::Owner::value);
  EXPECT_EQ(rest.size(), 2500U);
  EXPECT_TRUE(std::ranges::all_of(owners.begin(), rest.begin(), is_even, &test::Owner::value));
  static_assert(std::is_same_v<decltype(handoff::partition(team, std::vector<int>{1}, is_even)),
                               std::ranges::dangling>);
}

TEST(Partition, IsEndedByAStopOrADeadline) {
  ThreadTeam team{{.width = 2}};
  std::stop_source stop;
  stop.request_stop();
  for (const std::size_t count : {10UL, 10000UL}) {
    std::vector<int> numbers(count, 1);
    EXPECT_THROW(handoff::partition(team, numbers, is_even, {}, {.until = stop.get_token()}),
                 NotRun);
    EXPECT_THROW(handoff::partition(team, numbers, is_even, {}, {.until = 0ms}), NotRun);
  }
}

TEST(Partition, LeavesAPermutationBehindAPredicateThatThrowsOrStops) {
  auto random = test::random();
  for (const std::size_t width : {1UL, 2UL, 16UL}) {
    ThreadTeam team{{.width = width}};
    for (const std::size_t count : {20UL, 100UL, 6000UL}) {
      std::vector<int> numbers = test::numbers_of(Shape::random, count, random);
      for (long at = 0; at < static_cast<long>(count); at += count < 1000 ? 1 : 397) {
        for (const bool throws : {true, false}) {
          std::vector<test::Owner> owners;
          for (const int number : numbers) owners.emplace_back(number);
          std::stop_source stop;
          const auto token = stop.get_token();
          test::ThrowsAt calls;
          calls.set(at);
          const auto test = [&](const test::Owner& owner) {
            if (throws) {
              calls();
            } else {
              try {
                calls();
              } catch (const std::domain_error&) {
                stop.request_stop();
              }
            }
            return is_even(owner.value());
          };
          try {
            handoff::partition(team, owners, test, {}, {.until = token});
            EXPECT_FALSE(throws);
          } catch (const std::domain_error&) {
            EXPECT_TRUE(throws);
          } catch (const NotRun&) {
            EXPECT_FALSE(throws);
          }
          std::vector<int> left;
          for (const test::Owner& owner : owners) left.push_back(owner.value());
          std::ranges::sort(left);
          std::ranges::sort(numbers);
          ASSERT_EQ(left, numbers);
        }
      }
    }
  }
}

// A move that throws is undone.
TEST(Partition, LeavesAPermutationBehindAMoveThatThrows) {
  ThreadTeam team{{.width = 2}};
  for (const int count : {10, 60, 3000}) {
    bool has_thrown = true;
    for (long at = 0; has_thrown; at += count < 100 ? 1 : 97) {
      std::vector<test::Fragile> items;
      items.reserve(static_cast<std::size_t>(count));
      for (int i = 0; i < count; ++i) items.emplace_back(i);
      test::Fragile::moves.set(at);
      has_thrown = false;
      try {
        handoff::partition(
            team, items, [](int number) { return !is_even(number); }, &test::Fragile::value);
      } catch (const std::domain_error&) {
        has_thrown = true;
      }
      test::Fragile::moves.set(test::ThrowsAt::never);
      ASSERT_TRUE(std::ranges::all_of(items, &test::Fragile::is_there));
      std::ranges::sort(items);
      for (int i = 0; i < count; ++i) ASSERT_EQ(items[static_cast<std::size_t>(i)].value(), i);
    }
  }
}

TEST(Partition, WakesNobodyForAFewItems) {
  ThreadTeam team{{.width = 2}};
  const auto here = std::this_thread::get_id();
  std::atomic<int> elsewhere{0};
  std::vector<int> numbers(10, 1);
  handoff::partition(team, numbers, [&](int number) {
    if (std::this_thread::get_id() != here) ++elsewhere;
    return number == 2;
  });
  EXPECT_EQ(elsewhere, 0);
}

}  // namespace
