// SPDX-License-Identifier: MIT
//
// merge: the same as std's, and what it leaves behind a comparison, a copy or a stop that ends it.
#include "conformance/strangers.hpp"
#include "unit/graph/sorting.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;
using test::Shape;

// Where it comes from tells whether equal ones keep their order.
struct Entry {
  int key = 0;
  std::size_t from = 0;
  bool operator==(const Entry&) const = default;
};

std::vector<Entry> entries_of(std::vector<int> keys, std::size_t from) {
  std::ranges::sort(keys);
  std::vector<Entry> entries;
  for (const int key : keys) entries.push_back({key, from++});
  return entries;
}

template <class E>
void expect_merge(E& executor, const std::vector<int>& a, const std::vector<int>& b) {
  const std::vector<Entry> first = entries_of(a, 0);
  const std::vector<Entry> second = entries_of(b, 1000000);
  std::vector<Entry> merged(a.size() + b.size());
  std::vector<Entry> expected(merged.size());
  std::ranges::merge(first, second, expected.begin(), {}, &Entry::key, &Entry::key);
  const auto ends =
      handoff::merge(executor, first, second, merged.begin(), {}, &Entry::key, &Entry::key);
  EXPECT_TRUE(ends.in1 == first.end() && ends.in2 == second.end() && ends.out == merged.end());
  ASSERT_EQ(merged, expected);

  std::deque<std::string> texts;
  for (const int number : a) texts.push_back(std::to_string(number));
  std::ranges::sort(texts);
  std::vector<std::string> others(b.size(), "5");
  std::vector<std::string> all(merged.size());
  std::vector<std::string> all_expected(merged.size());
  std::ranges::merge(texts, others, all_expected.begin());
  handoff::merge(executor, texts, others, all.begin());
  ASSERT_EQ(all, all_expected);
}

TEST(Merge, IsThatOfStd) {
  auto random = test::random();
  std::vector<std::unique_ptr<ThreadTeam>> teams;
  for (const std::size_t width : {1UL, 2UL, 5UL, 16UL}) {
    teams.push_back(std::make_unique<ThreadTeam>(ThreadTeamOptions{.width = width}));
  }
  for (std::size_t round = 0; round < test::rounds(500); ++round) {
    const auto some = [&] {
      const std::size_t count = random() % (std::size_t{1} << (random() % 15));
      const Shape shape = test::all_shapes[random() % test::all_shapes.size()];
      return test::numbers_of(shape, count, random);
    };
    expect_merge(*teams[random() % teams.size()], some(), some());
  }
}

TEST(Merge, RunsOnWhateverRunsLoops) {
  auto random = test::random();
  const std::vector<int> a = test::numbers_of(Shape::few, 9000, random);
  const std::vector<int> b = test::numbers_of(Shape::few, 7000, random);
  ThreadPool pool{{.width = 2}};
  expect_merge(pool, a, b);
  InlineExecutor here;
  expect_merge(here, a, b);
  test::StrangersExecutor stranger(2);
  expect_merge(stranger, a, b);
}

TEST(Merge, TakesIteratorsOfDifferentTypes) {
  ThreadTeam team{{.width = 2}};
  std::vector<int> a(20000);
  std::deque<long> b(20000);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<int>(40000 - 2 * i);
    b[i] = static_cast<long>(39999 - 2 * i);
  }
  std::vector<long> out(40000);
  const auto ends =
      handoff::merge(team, a.begin(), a.end(), b.cbegin(), b.cend(), out.begin(), std::greater<>());
  EXPECT_EQ(ends.out, out.end());
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], static_cast<long>(40000 - i));
  using Ends = decltype(handoff::merge(team, std::vector<int>{1}, a, out.begin()));
  static_assert(std::is_same_v<decltype(Ends::in1), std::ranges::dangling>);
}

TEST(Merge, IsEndedByAStopOrADeadline) {
  ThreadTeam team{{.width = 2}};
  std::stop_source stop;
  stop.request_stop();
  for (const std::size_t count : {10UL, 10000UL}) {
    std::vector<int> a(count);
    std::vector<int> out(2 * count, 7);
    EXPECT_THROW(handoff::merge(team, a, a, out.begin(), {}, {}, {}, {.until = stop.get_token()}),
                 NotRun);
    EXPECT_THROW(handoff::merge(team, a, a, out.begin(), {}, {}, {}, {.until = 0ms}), NotRun);
    EXPECT_EQ(std::ranges::count(out, 7), std::ssize(out));
  }
}

// Each is then as it was, or what belongs there.
TEST(Merge, LeavesEachAsItWasOrAssigned) {
  struct Copied {
    int key = -1;
    test::ThrowsAt* copies = nullptr;
    Copied() = default;
    Copied(int new_key, test::ThrowsAt* new_copies) : key(new_key), copies(new_copies) {}
    Copied(const Copied&) = default;
    Copied& operator=(const Copied& other) {
      (*other.copies)();
      key = other.key;
      return *this;
    }
  };
  for (const std::size_t width : {1UL, 2UL, 16UL}) {
    ThreadTeam team{{.width = width}};
    for (const std::size_t count : {5UL, 40UL, 4000UL}) {
      test::ThrowsAt copies;
      test::ThrowsAt comparisons;
      std::vector<Copied> a;
      std::vector<Copied> b;
      for (std::size_t i = 0; i < count; ++i) {
        a.emplace_back(static_cast<int>(2 * i), &copies);
        b.emplace_back(static_cast<int>(2 * i + 1), &copies);
      }
      for (test::ThrowsAt* calls : {&copies, &comparisons}) {
        bool has_thrown = true;
        for (long at = 0; has_thrown; at += count < 100 ? 1 : 797) {
          std::vector<Copied> out(2 * count);
          calls->set(at);
          has_thrown = false;
          try {
            handoff::merge(team, a, b, out.begin(), [&](const Copied& one, const Copied& other) {
              comparisons();
              return one.key < other.key;
            });
          } catch (const std::domain_error&) {
            has_thrown = true;
          }
          calls->set(test::ThrowsAt::never);
          bool is_prefix = true;
          for (std::size_t i = 0; i < out.size(); ++i) {
            const bool is_assigned = out[i].key == static_cast<int>(i);
            ASSERT_TRUE(is_assigned || (has_thrown && out[i].key == -1));
            ASSERT_TRUE(count >= 100 || is_prefix || !is_assigned);
            is_prefix = is_assigned;
          }
        }
      }
    }
  }
}

TEST(Merge, TakesComparisonsThatAreNoOrder) {
  ThreadTeam team{{.width = 3}};
  std::atomic<std::uint32_t> state{static_cast<std::uint32_t>(test::seed())};
  const auto by_chance = [&state](int, int) {
    return (state.fetch_add(0x9e3779b9, std::memory_order_relaxed) >> 13) % 2 == 0;
  };
  for (const std::size_t count : {3UL, 5000UL}) {
    std::vector<int> a(count);
    std::vector<int> b(count);
    for (std::size_t i = 0; i < count; ++i) {
      a[i] = static_cast<int>(i);
      b[i] = static_cast<int>(count + i);
    }
    std::vector<int> out(2 * count, -1);
    handoff::merge(team, a, b, out.begin(), by_chance);
    std::ranges::sort(out);
    for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], static_cast<int>(i));
  }
}

TEST(Merge, WakesNobodyForAFewItems) {
  ThreadTeam team{{.width = 2}};
  const auto here = std::this_thread::get_id();
  std::atomic<int> elsewhere{0};
  std::vector<int> a(1000, 1);
  std::vector<int> out(2000);
  handoff::merge(team, a, a, out.begin(), [&](int one, int other) {
    if (std::this_thread::get_id() != here) ++elsewhere;
    return one < other;
  });
  EXPECT_EQ(elsewhere, 0);
}

}  // namespace
