// SPDX-License-Identifier: MIT
//
// sort and stable_sort: the same as std's, whatever the items, the iterators and the executor; and
// what they leave behind a comparison, a projection, a move or a stop that ends them.
#include <memory_resource>

#include "conformance/strangers.hpp"
#include "unit/graph/sorting.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;
using test::Shape;

// An item of which only the key is compared.
struct Order {
  int price = 0;
  std::size_t place = 0;
  bool operator==(const Order&) const = default;
};

std::vector<Order> orders_of(const std::vector<int>& prices) {
  std::vector<Order> orders;
  for (std::size_t i = 0; i < prices.size(); ++i) orders.push_back({prices[i], i});
  return orders;
}

// Counts that decide which way is taken.
constexpr std::size_t counts[] = {0, 1, 2, 3, 9, 33, 100, 1000, 2049, 20000};

template <class T>
std::vector<T> numbers_as(const std::vector<int>& numbers) {
  std::vector<T> result;
  for (const int number : numbers) {
    if constexpr (std::is_floating_point_v<T>) {
      result.push_back(static_cast<T>(number) / T{3});
    } else if constexpr (sizeof(T) == 8) {
      result.push_back(static_cast<T>(std::int64_t{number} * 0x12345678));
    } else {
      result.push_back(static_cast<T>(number));
    }
  }
  return result;
}

template <class T>
class SortOfNumbers : public ::testing::Test {};
using Numbers =
    ::testing::Types<char, bool, std::uint8_t, std::int16_t, std::uint16_t, char32_t, int, unsigned,
                     long, unsigned long long, float, double, long double>;
TYPED_TEST_SUITE(SortOfNumbers, Numbers);

TYPED_TEST(SortOfNumbers, IsThatOfStd) {
  auto random = test::random();
  ThreadTeam team{{.width = 3}};
  for (const std::size_t count : counts) {
    for (const Shape shape : test::all_shapes) {
      const auto numbers = numbers_as<TypeParam>(test::numbers_of(shape, count, random));
      const auto input = std::make_unique<TypeParam[]>(count);  // no vector<bool>
      const auto expected = std::make_unique<TypeParam[]>(count);
      std::copy(numbers.begin(), numbers.end(), input.get());
      std::copy(numbers.begin(), numbers.end(), expected.get());
      std::sort(expected.get(), expected.get() + count);
      EXPECT_EQ(handoff::sort(team, input.get(), input.get() + count), input.get() + count);
      ASSERT_TRUE(std::equal(input.get(), input.get() + count, expected.get()))
          << count << " of shape " << static_cast<int>(shape);
      std::copy(numbers.begin(), numbers.end(), input.get());
      std::reverse(expected.get(), expected.get() + count);
      handoff::stable_sort(team, input.get(), input.get() + count, std::greater<>());
      ASSERT_TRUE(std::equal(input.get(), input.get() + count, expected.get()))
          << count << " of shape " << static_cast<int>(shape);
    }
  }
}

// Each is there as often as before, NaN too, which are the last ones; zeros keep their order.
TEST(Sort, PutsWhatIsNotANumberLast) {
  auto random = test::random();
  ThreadTeam team{{.width = 2}};
  for (const std::size_t count : {7UL, 30UL, 500UL, 30000UL}) {
    std::vector<double> input(count);
    for (double& each : input) {
      constexpr double nan = std::numeric_limits<double>::quiet_NaN();
      constexpr double infinity = std::numeric_limits<double>::infinity();
      const double special[] = {nan, -nan, infinity, -infinity, 0.0, -0.0, 1e-310, -1e-310};
      each = random() % 2 == 0 ? special[random() % 8] : std::ldexp(double(random()), -40) - 1e6;
    }
    const auto bits = [](double number) { return std::bit_cast<std::uint64_t>(number); };
    auto expected = test::stably_sorted(
        input, [](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); });
    auto sorted = input;
    handoff::stable_sort(team, sorted);
    ASSERT_TRUE(std::ranges::equal(sorted, expected, {}, bits, bits));
    std::deque<double> elsewhere(input.begin(), input.end());
    handoff::sort(team, elsewhere, std::ranges::less());
    ASSERT_TRUE(std::ranges::equal(elsewhere, expected, {}, bits, bits));
    expected = test::stably_sorted(
        input, [](double a, double b) { return a > b || (std::isnan(a) && !std::isnan(b)); });
    handoff::stable_sort(team, input, std::ranges::greater());
    ASSERT_TRUE(std::ranges::equal(input, expected, {}, bits, bits));
  }
}

// Every way to be stable: by digits of keys, by merges, in a deque, and by index.
template <class E>
void expect_stable(E& executor, const std::vector<int>& prices) {
  const std::vector<Order> input = orders_of(prices);
  const auto is_cheaper = [](const Order& a, const Order& b) { return a.price < b.price; };
  const std::vector<Order> expected = test::stably_sorted(input, is_cheaper);
  std::vector<Order> sorted = input;
  EXPECT_EQ(handoff::stable_sort(executor, sorted, {}, &Order::price), sorted.end());
  ASSERT_EQ(sorted, expected);
  sorted = input;
  handoff::stable_sort(executor, sorted, is_cheaper);
  ASSERT_EQ(sorted, expected);
  std::deque<Order> elsewhere(input.begin(), input.end());
  const auto text = [](const Order& order) { return std::to_string(order.price % 9); };
  handoff::stable_sort(executor, elsewhere.begin(), elsewhere.end(), {}, text);
  const std::vector<Order> by_text =
      test::stably_sorted(input, [&](const Order& a, const Order& b) { return text(a) < text(b); });
  ASSERT_TRUE(std::ranges::equal(elsewhere, by_text));
}

TEST(StableSort, KeepsTheOrderOfEqualItems) {
  auto random = test::random();
  for (const std::size_t width : {1UL, 2UL, 16UL}) {
    ThreadTeam team{{.width = width}};
    for (const std::size_t count : {2UL, 9UL, 33UL, 2049UL, 17000UL}) {
      for (const Shape shape : test::all_shapes) {
        // The largest in one of the three shapes that differ most.
        if (count > 17000 / 2 && shape != Shape::few && shape != Shape::pipe) continue;
        expect_stable(team, test::numbers_of(shape, count, random));
      }
    }
  }
}

TEST(StableSort, RunsOnWhateverRunsLoops) {
  auto random = test::random();
  const std::vector<int> prices = test::numbers_of(Shape::few, 20000, random);
  ThreadPool pool{{.width = 2}};
  expect_stable(pool, prices);
  InlineExecutor here;
  expect_stable(here, prices);
  test::StrangersExecutor stranger(2);
  expect_stable(stranger, prices);
}

// Texts by their first characters, which many have in common, and then by the others.
TEST(Sort, SortsTextsAsStd) {
  struct Named {
    std::string name;
    std::size_t place = 0;
    bool operator==(const Named&) const = default;
  };
  auto random = test::random();
  ThreadTeam team{{.width = 2}};
  const std::string beginnings[] = {"", "a", "a common beginning ", std::string(3, '\0')};
  for (const std::size_t count : {60U, 500U, 17000U}) {
    for (const std::string& beginning : beginnings) {
      for (const std::size_t kinds : {3U, 300U, 1U << 31}) {
        std::vector<Named> input;
        for (std::size_t i = 0; i < count; ++i) {
          std::string text = beginning;
          for (std::size_t left = random() % kinds; left != 0; left /= 7) {
            text += static_cast<char>(left % 7 * 37);  // 0 among them, and what is below 0
          }
          input.push_back({text, i});
        }
        const auto expected = test::stably_sorted(
            input, [](const Named& a, const Named& b) { return a.name < b.name; });
        auto sorted = input;
        handoff::stable_sort(team, sorted, {}, &Named::name);
        ASSERT_EQ(sorted, expected);
        const auto reversed = test::stably_sorted(
            input, [](const Named& a, const Named& b) { return a.name > b.name; });
        handoff::stable_sort(team, input, std::ranges::greater(), &Named::name);
        ASSERT_EQ(input, reversed);
        std::vector<std::string_view> views;
        for (const Named& each : input) views.push_back(each.name);
        handoff::sort(team, views);
        ASSERT_TRUE(std::ranges::is_sorted(views));
      }
    }
  }
}

TEST(Sort, MovesItemsThatCannotBeCopied) {
  auto random = test::random();
  ThreadTeam team{{.width = 2}};
  for (const std::size_t count : {5UL, 300UL, 5000UL}) {
    std::vector<test::Owner> owners;
    std::deque<std::unique_ptr<int>> pointers;
    for (const int number : test::numbers_of(Shape::random, count, random)) {
      owners.emplace_back(number);
      pointers.push_back(std::make_unique<int>(number));
    }
    handoff::sort(team, owners);
    EXPECT_TRUE(std::ranges::is_sorted(owners));
    handoff::sort(team, owners, std::greater<>(), &test::Owner::value);
    EXPECT_TRUE(std::ranges::is_sorted(owners, std::greater<>()));
    const auto value = [](const std::unique_ptr<int>& each) { return *each; };
    handoff::sort(team, pointers, {}, value);
    EXPECT_TRUE(std::ranges::is_sorted(pointers, {}, value));
  }
}

TEST(Sort, ReturnsNothingThatDangles) {
  ThreadTeam team{{.width = 2}};
  static_assert(std::is_same_v<decltype(handoff::sort(team, std::vector<int>{3, 1, 2})),
                               std::ranges::dangling>);
}

// What is left is a permutation, at whichever call it throws.
template <class Call>
void expect_permutations(std::vector<int> numbers, std::size_t step, Call call) {
  std::ranges::sort(numbers);
  for (long throws_at = 0;; throws_at += static_cast<long>(step)) {
    std::vector<int> left;
    const bool has_thrown = call(throws_at, left);
    std::ranges::sort(left);
    ASSERT_EQ(left, numbers) << "thrown at call " << throws_at;
    if (!has_thrown) break;
  }
}

// Sorts owners of these numbers by `sort`, whose comparison or projection calls a ThrowsAt.
template <class Sort>
void expect_owners_kept(const std::vector<int>& numbers, std::size_t step, Sort sort) {
  expect_permutations(numbers, step, [&](long throws_at, std::vector<int>& left) {
    std::vector<test::Owner> owners;
    for (const int number : numbers) owners.emplace_back(number);
    test::ThrowsAt calls;
    calls.set(throws_at);
    bool has_thrown = false;
    try {
      sort(owners, calls);
    } catch (const std::domain_error&) {
      has_thrown = true;
    }
    for (const test::Owner& owner : owners) left.push_back(owner.value());
    return has_thrown;
  });
}

TEST(Sort, LeavesAPermutationBehindAComparisonThatThrows) {
  auto random = test::random();
  for (const std::size_t width : {1UL, 2UL, 16UL}) {
    ThreadTeam team{{.width = width}};
    const auto by_comparison = [&](auto& owners, test::ThrowsAt& calls) {
      handoff::sort(team, owners, [&calls](const test::Owner& a, const test::Owner& b) {
        calls();
        return a < b;
      });
    };
    for (const Shape shape : {Shape::random, Shape::pipe, Shape::few}) {
      for (const std::size_t count : {2UL, 7UL, 9UL, 20UL, 50UL}) {
        expect_owners_kept(test::numbers_of(shape, count, random), 1, by_comparison);
      }
      expect_owners_kept(test::numbers_of(shape, 3000, random), 4777, by_comparison);
    }
  }
}

TEST(Sort, LeavesAPermutationBehindAProjectionThatThrows) {
  auto random = test::random();
  ThreadTeam team{{.width = 2}};
  const auto by_number = [&](auto& owners, test::ThrowsAt& calls) {
    handoff::stable_sort(team, owners, {}, [&calls](const test::Owner& owner) {
      calls();
      return owner.value();
    });
  };
  for (const std::size_t count : {20UL, 50UL}) {
    expect_owners_kept(test::numbers_of(Shape::random, count, random), 1, by_number);
  }
  expect_owners_kept(test::numbers_of(Shape::random, 17000, random), 9001, by_number);
  expect_owners_kept(test::numbers_of(Shape::pipe, 17000, random), 21001, by_number);
}

// A move that throws is undone.
TEST(Sort, LeavesAPermutationBehindAMoveThatThrows) {
  auto random = test::random();
  ThreadTeam team{{.width = 2}};
  for (const std::size_t count : {2UL, 9UL, 60UL, 3000UL}) {
    for (const Shape shape : {Shape::random, Shape::reversed}) {
      const std::vector<int> numbers = test::numbers_of(shape, count, random);
      for (const bool by_number : {false, true}) {
        expect_permutations(numbers, count < 100 ? 1 : 701, [&](long throws_at, auto& left) {
          std::vector<test::Fragile> items;
          items.reserve(count);
          for (const int number : numbers) items.emplace_back(number);
          test::Fragile::moves.set(throws_at);
          bool has_thrown = false;
          try {
            if (by_number) {
              handoff::sort(team, items, {}, &test::Fragile::value);
            } else {
              handoff::sort(team, items);
            }
            EXPECT_TRUE(std::ranges::is_sorted(items));
          } catch (const std::domain_error&) {
            has_thrown = true;
          }
          test::Fragile::moves.set(test::ThrowsAt::never);
          for (const test::Fragile& item : items) {
            if (item.is_there()) left.push_back(item.value());
          }
          return has_thrown;
        });
      }
    }
  }
}

// No crash, nothing read outside, nothing lost.
TEST(Sort, TakesComparisonsThatAreNoOrder) {
  auto random = test::random();
  ThreadTeam team{{.width = 3}};
  for (const std::size_t count : {2UL, 9UL, 33UL, 1000UL, 6000UL}) {
    std::vector<int> numbers = test::numbers_of(Shape::few, count, random);
    std::vector<int> left = numbers;
    std::vector<std::string> texts(count, "a text that is too long to lie in the object itself");
    const auto expect_all = [&] {
      std::vector<int> sorted = left;
      std::ranges::sort(sorted);
      std::ranges::sort(numbers);
      ASSERT_EQ(sorted, numbers);
    };
    std::atomic<std::uint32_t> state{static_cast<std::uint32_t>(test::seed())};
    const auto by_chance = [&state](const auto&, const auto&) {
      return (state.fetch_add(0x9e3779b9, std::memory_order_relaxed) >> 13) % 2 == 0;
    };
    handoff::sort(team, left, std::less_equal<>());
    expect_all();
    handoff::sort(team, left, [](int, int) { return true; });
    expect_all();
    handoff::sort(team, left, by_chance);
    expect_all();
    handoff::sort(team, texts, by_chance);
    EXPECT_EQ(std::ranges::count(texts, texts.front()), static_cast<std::ptrdiff_t>(count));
  }
}

TEST(Sort, IsEndedByAStopOrADeadline) {
  auto random = test::random();
  ThreadTeam team{{.width = 2}};
  for (const std::size_t count : {10UL, 1000UL, 50000UL}) {
    const std::vector<int> numbers = test::numbers_of(Shape::random, count, random);
    std::vector<int> left = numbers;
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(handoff::sort(team, left, {}, {}, {.until = stop.get_token()}), NotRun);
    EXPECT_THROW(handoff::sort(team, left, {}, {}, {.until = 0ms}), NotRun);
    EXPECT_EQ(left, numbers);
  }
}

// At every moment: by a comparison that asks for the stop.
TEST(Sort, LeavesAPermutationBehindAStop) {
  auto random = test::random();
  ThreadTeam team{{.width = 2}};
  for (const std::size_t count : {3000UL, 17000UL}) {
    for (const Shape shape : {Shape::random, Shape::pipe}) {
      for (const bool by_number : {false, true}) {
        const std::size_t step = count * (test::slow ? 3 : 1);
        const auto numbers = test::numbers_of(shape, count, random);
        expect_permutations(numbers, step, [&](long stops_at, auto& left) {
          std::vector<test::Owner> owners;
          for (const int number : numbers) owners.emplace_back(number);
          std::stop_source stop;
          std::atomic<long> calls{0};
          const auto count_call = [&](const test::Owner& owner) {
            if (calls.fetch_add(1, std::memory_order_relaxed) == stops_at) stop.request_stop();
            return owner.value();
          };
          const auto token = stop.get_token();
          try {
            if (by_number) {
              handoff::sort(team, owners, {}, count_call, {.until = token});
            } else {
              handoff::sort(team, owners, [](int a, int b) { return a < b; }, count_call,
                            {.until = token});
            }
          } catch (const NotRun& failure) {
            EXPECT_EQ(failure.status(), Status::stopped);
          }
          for (const test::Owner& owner : owners) left.push_back(owner.value());
          return stop.stop_requested();
        });
      }
    }
  }
}

// All room comes from there, and is given back; and where there is none, nothing is lost.
TEST(Sort, TakesItsRoomWhereItIsTold) {
  auto random = test::random();
  ThreadTeam team{{.width = 2}};
  const auto sorts = [&](const std::vector<int>& numbers, test::CountedResource& resource) {
    std::vector<int> by_digits = numbers;
    std::vector<Order> by_keys = orders_of(numbers);
    std::deque<std::string> by_merges;
    for (const int number : numbers) by_merges.push_back(std::to_string(number));
    const std::deque<std::string> texts = by_merges;
    try {
      handoff::sort(team, by_digits, {}, {}, {.scratch = &resource});
      handoff::sort(team, by_keys, {}, &Order::price, {.scratch = &resource});
      handoff::sort(team, by_merges, {}, [](const auto& text) { return std::stoi(text) % 7; },
                    {.scratch = &resource});
      handoff::sort(team, by_merges, {}, {}, {.scratch = &resource});
      EXPECT_TRUE(std::ranges::is_sorted(by_merges));
      EXPECT_EQ(resource.fails_at, test::CountedResource::never);
    } catch (const std::bad_alloc&) {
    }
    std::ranges::sort(by_digits);
    std::vector<int> expected = numbers;
    std::ranges::sort(expected);
    EXPECT_EQ(by_digits, expected);
    std::ranges::sort(by_merges);
    std::deque<std::string> sorted_texts = texts;
    std::ranges::sort(sorted_texts);
    EXPECT_EQ(by_merges, sorted_texts);
    EXPECT_EQ(resource.taken, 0U);
    return resource.calls;
  };
  for (const std::size_t count : {100UL, 17000UL}) {
    const std::vector<int> numbers = test::numbers_of(Shape::random, count, random);
    test::CountedResource counted;
    const std::size_t calls = sorts(numbers, counted);
    EXPECT_GT(calls, 4U);
    for (std::size_t call = 0; call < calls; ++call) {
      test::CountedResource failing;
      failing.fails_at = call;
      sorts(numbers, failing);
    }
  }
  std::pmr::unsynchronized_pool_resource pool;
  std::vector<std::string> texts(3000, "x");
  handoff::sort(team, texts, {}, {}, {.scratch = &pool});
}

// A range that is in order needs no room; a small one wakes nobody.
TEST(Sort, NeedsNeitherRoomNorThreadsWithoutReason) {
  ThreadTeam team{{.width = 2}};
  std::vector<int> numbers(100000);
  std::iota(numbers.begin(), numbers.end(), 0);
  test::CountedResource none;
  handoff::sort(team, numbers, {}, {}, {.scratch = &none});
  handoff::sort(team, numbers, std::greater<>(), {}, {.scratch = &none});
  EXPECT_TRUE(std::ranges::is_sorted(numbers, std::greater<>()));
  handoff::sort(team, numbers.begin(), numbers.begin() + 8, {}, {}, {.scratch = &none});
  EXPECT_EQ(none.calls, 0U);

  auto random = test::random();
  std::vector<std::string> texts;
  for (const int number : test::numbers_of(Shape::random, 1000, random)) {
    texts.push_back(std::to_string(number));
  }
  std::atomic<int> elsewhere{0};
  const auto here = std::this_thread::get_id();
  handoff::sort(team, texts, [&](const std::string& a, const std::string& b) {
    if (std::this_thread::get_id() != here) ++elsewhere;
    return a < b;
  });
  EXPECT_EQ(elsewhere, 0);
  EXPECT_TRUE(std::ranges::is_sorted(texts));
}

// An executor that refuses its memory in the middle of a sort loses nothing.
class FailingExecutor {
 public:
  explicit FailingExecutor(int fails_at) : left_(fails_at) {}
  class BulkStorage {};
  template <class Body>
  Tally run(std::size_t count, const Body& body, const RunOptions&) {
    if (left_-- == 0) throw std::bad_alloc();
    body(IndexRange{0, count});
    return {.accepted = count, .done = count};
  }
  Status start(std::size_t, BulkWork&, BulkStorage&, const RunOptions&) { return Status::closed; }
  std::size_t width() const { return 2; }

 private:
  int left_;
};

TEST(Sort, LosesNothingWhereTheExecutorFails) {
  auto random = test::random();
  for (const Shape shape : {Shape::random, Shape::skewed, Shape::pipe}) {
    const std::vector<int> numbers = test::numbers_of(shape, 17000, random);
    std::vector<int> expected = numbers;
    std::ranges::sort(expected);
    for (int kind = 0; kind < 3; ++kind) {
      bool has_failed = true;
      for (int fails_at = 0; has_failed; ++fails_at) {
        FailingExecutor executor(fails_at);
        std::vector<int> left = numbers;
        has_failed = false;
        try {
          if (kind == 0) handoff::sort(executor, left);
          if (kind == 1) handoff::sort(executor, left, {}, [](int number) { return number; });
          if (kind == 2) handoff::sort(executor, left, [](int a, int b) { return a < b; });
          EXPECT_EQ(left, expected);
        } catch (const std::bad_alloc&) {
          has_failed = true;
        }
        std::ranges::sort(left);
        ASSERT_EQ(left, expected);
      }
    }
  }
}

// Random sizes, shapes, widths and kinds of items, against std.
TEST(Sort, IsThatOfStdOnRandomInputs) {
  auto random = test::random(1);
  std::vector<std::unique_ptr<ThreadTeam>> teams;
  for (const std::size_t width : {1UL, 2UL, 3UL, 7UL, 16UL}) {
    teams.push_back(std::make_unique<ThreadTeam>(ThreadTeamOptions{.width = width}));
  }
  for (std::size_t round = 0; round < test::rounds(1000); ++round) {
    ThreadTeam& team = *teams[random() % teams.size()];
    const std::size_t limit = std::size_t{1} << (random() % 17);
    const std::size_t count = random() % limit;
    const Shape shape = test::all_shapes[random() % test::all_shapes.size()];
    const std::vector<int> numbers = test::numbers_of(shape, count, random);
    switch (random() % 4) {
      case 0: {
        std::vector<int> sorted = numbers;
        std::vector<int> expected = numbers;
        std::ranges::sort(expected);
        handoff::sort(team, sorted);
        ASSERT_EQ(sorted, expected);
        break;
      }
      case 1: {
        auto sorted = numbers_as<double>(numbers);
        auto expected = sorted;
        std::ranges::sort(expected, std::greater<>());
        handoff::sort(team, sorted, std::greater<>());
        ASSERT_EQ(sorted, expected);
        break;
      }
      case 2: {
        std::vector<std::string> sorted;
        for (const int number : numbers) sorted.push_back(std::to_string(number % 1000));
        std::vector<std::string> expected = sorted;
        std::ranges::sort(expected);
        handoff::sort(team, sorted);
        ASSERT_EQ(sorted, expected);
        break;
      }
      default: expect_stable(team, numbers);
    }
  }
}

}  // namespace
