// SPDX-License-Identifier: MIT
//
// for_each, transform, reduce, scans, find_if, count_if: the same as those of std on random inputs
// at all widths, and what becomes of exceptions, stops, memory and small inputs.
#include <memory_resource>

#include "conformance/strangers.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;

template <class T>
std::vector<T> random_numbers(std::mt19937_64& random, std::size_t count) {
  std::vector<T> numbers(count);
  for (T& number : numbers) number = static_cast<T>(random() % 1000);
  return numbers;
}

// Around the places where something changes: nothing, one, whole vectors, parts, hand-overs.
std::size_t random_count(std::mt19937_64& random) {
  constexpr std::array edges{0U, 1U, 2U, 16U, 64U, 128U, 1000U, 4096U, 16384U, 32768U, 50000U};
  const bool is_large = random() % 32 == 0;
  const std::size_t edge = edges[random() % (is_large ? edges.size() : 7)];
  return edge + random() % 8;
}

// std::string takes the ways of any type: no lanes, no vectors, no known operation.
template <class E>
void texts_are_the_same_as_by_std(E& executor, std::mt19937_64& random) {
  std::vector<std::string> texts(random() % 1500);
  for (auto& text : texts) text = std::string(1, static_cast<char>('a' + random() % 26));
  EXPECT_EQ(reduce(executor, texts, std::string("_")),
            std::accumulate(texts.begin(), texts.end(), std::string("_")));
  std::vector<std::string> got(texts.size());
  std::vector<std::string> want(texts.size());
  inclusive_scan(executor, texts, got.begin());
  std::inclusive_scan(texts.begin(), texts.end(), want.begin());
  EXPECT_EQ(got, want);
  exclusive_scan(executor, texts, got.begin(), std::string("_"));
  std::exclusive_scan(texts.begin(), texts.end(), want.begin(), std::string("_"));
  EXPECT_EQ(got, want);
}

template <class E>
void numbers_are_the_same_as_by_std(E& executor, std::mt19937_64& random) {
  const std::size_t count = random_count(random);
  const std::vector<int> v = random_numbers<int>(random, count);
  const auto is_third = [](long x) { return x % 3 == 0; };
  const auto twice = [](int x) { return 2L * x; };
  std::vector<long> got(count);
  std::vector<long> want(count);
  const auto expect = [&](const char* what) { EXPECT_EQ(got, want) << what << " of " << count; };

  const auto [in, out] = transform(executor, v, got.begin(), [](long x) { return x + 1; }, twice);
  EXPECT_TRUE(in == v.end() && out == got.end());
  std::transform(v.begin(), v.end(), want.begin(), [](int x) { return 2L * x + 1; });
  expect("transform");
  transform(executor, v, want, got.begin(), std::minus<>(), twice);
  std::transform(v.begin(), v.end(), want.begin(), want.begin(),
                 [](int x, long y) { return 2L * x - y; });
  expect("transform of two");
  EXPECT_EQ(for_each(executor, got.begin(), got.end(), [](long& x) { x *= 3; }), got.end());
  std::for_each(want.begin(), want.end(), [](long& x) { x *= 3; });
  expect("for_each");
  inclusive_scan(executor, v, got.begin());
  std::inclusive_scan(v.begin(), v.end(), want.begin());
  expect("inclusive_scan");
  exclusive_scan(executor, v, got.begin(), 7L);
  std::exclusive_scan(v.begin(), v.end(), want.begin(), 7L);
  expect("exclusive_scan");
  exclusive_scan(executor, got, got.begin(), 1L);  // in place, in vectors
  std::exclusive_scan(want.begin(), want.end(), want.begin(), 1L);
  expect("exclusive_scan in place");
  const auto greater = [](long a, long b) { return std::max(a, b); };
  inclusive_scan(executor, got, got.begin(), greater);
  std::inclusive_scan(want.begin(), want.end(), want.begin(), greater);
  expect("inclusive_scan of no sum");

  EXPECT_EQ(reduce(executor, v, 5L), std::reduce(v.begin(), v.end(), 5L)) << count;
  EXPECT_EQ(reduce(executor, v, -1, std::bit_xor<>()),
            std::accumulate(v.begin(), v.end(), -1, std::bit_xor<>()));
  EXPECT_EQ(transform_reduce(executor, v, 0L, greater, twice),
            std::transform_reduce(v.begin(), v.end(), 0L, greater, twice));
  EXPECT_EQ(count_if(executor, v, is_third, twice), std::count_if(v.begin(), v.end(), is_third));
  const int wanted = count == 0 ? 0 : v[random() % count];
  EXPECT_EQ(find_if(executor, v, [wanted](int x) { return x == wanted; }),
            std::find(v.begin(), v.end(), wanted));
  EXPECT_EQ(find_if(executor, v, [](int x) { return x < 0; }), v.end());
}

// HANDOFF_ALGORITHM_ROUNDS: how many inputs each algorithm gets.
TEST(Algorithms, AreTheSameAsThoseOfStd) {
  auto random = test::random();
  const char* const given = std::getenv("HANDOFF_ALGORITHM_ROUNDS");
  const std::size_t rounds = given != nullptr ? std::strtoull(given, nullptr, 10)
                             : test::deep()   ? 10000
                                              : 200;
  std::vector<std::unique_ptr<ThreadTeam>> teams;
  for (std::size_t width = 1; width <= 16; ++width) {
    teams.push_back(std::make_unique<ThreadTeam>(width));
  }
  ThreadPool pool(3);
  test::StrangersExecutor strangers(2);
  InlineExecutor caller;
  for (std::size_t round = 0; round < rounds && !HasFailure(); ++round) {
    const std::size_t which = random() % (teams.size() + 3);
    const auto check = [&](auto& executor) {
      numbers_are_the_same_as_by_std(executor, random);
      if (round % 16 == 0) texts_are_the_same_as_by_std(executor, random);
    };
    if (which < teams.size()) {
      check(*teams[which]);
    } else if (which == teams.size()) {
      check(pool);
    } else if (which == teams.size() + 1) {
      check(strangers);
    } else {
      check(caller);
    }
  }
}

template <class T>
struct Sums {
  T known = 0;
  T unknown = 0;
  T mapped = 0;
  std::vector<T> inclusive;
  std::vector<T> exclusive;
  std::vector<T> by_function;
  bool operator==(const Sums&) const = default;
};

template <class T, class E>
Sums<T> sums_of(E& executor, const std::vector<T>& v) {
  const auto add = [](T a, T b) { return a + b; };
  Sums<T> sums;
  sums.known = reduce(executor, v, T{});
  sums.unknown = reduce(executor, v, T{}, add);
  sums.mapped = transform_reduce(executor, v, T{}, add, [](T x) { return x / 3; });
  sums.inclusive.resize(v.size());
  sums.exclusive.resize(v.size());
  sums.by_function.resize(v.size());
  inclusive_scan(executor, v, sums.inclusive.begin());
  exclusive_scan(executor, v, sums.exclusive.begin(), T{1});
  inclusive_scan(executor, v, sums.by_function.begin(), add);
  return sums;
}

template <class T>
void sums_do_not_depend_on_the_width() {
  auto random = test::random(2);
  InlineExecutor caller;
  for (const std::size_t count : {7U, 1000U, 16385U, 40001U, 100000U}) {
    std::vector<T> v(count);
    for (T& number : v) number = T{1} / static_cast<T>(1 + random() % 1000);
    const Sums<T> alone = sums_of<T>(caller, v);
    EXPECT_NEAR(alone.known, std::accumulate(v.begin(), v.end(), 0.0), 1e-3 * alone.known);
    EXPECT_NEAR(alone.inclusive.back(), alone.known, 1e-3 * alone.known);
    for (const std::size_t width : {1U, 2U, 3U, 8U, 16U}) {
      ThreadTeam team(width);
      EXPECT_TRUE(sums_of<T>(team, v) == alone) << count << " on " << width;
    }
    ThreadPool pool(2);
    EXPECT_TRUE(sums_of<T>(pool, v) == alone) << count << " on a pool";
  }
}
TEST(Algorithms, SumsOfFloatsDoNotDependOnTheWidth) { sums_do_not_depend_on_the_width<float>(); }
TEST(Algorithms, SumsOfDoublesDoNotDependOnTheWidth) { sums_do_not_depend_on_the_width<double>(); }

// Whatever stands in between, no sum of a few overflows (UndefinedBehaviorSanitizer looks).
TEST(Algorithms, SignedSumsOverflowOnlyWhereTheyDoInOrder) {
  constexpr int most = std::numeric_limits<int>::max();
  std::vector<int> v(70000);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = i % 2 == 0 ? most : -most;
  ThreadTeam team(2);
  EXPECT_EQ(reduce(team, v, 0), 0);
  std::vector<int> sums(v.size());
  inclusive_scan(team, v, sums.begin());
  for (std::size_t i = 0; i < v.size(); ++i) ASSERT_EQ(sums[i], i % 2 == 0 ? most : 0);
}

// Throws at its call number `at`.
struct Planned : std::runtime_error {
  Planned() : std::runtime_error("planned") {}
};
class Throwing {
 public:
  explicit Throwing(std::size_t at) : left_(static_cast<std::ptrdiff_t>(at)) {}
  void reset(std::size_t at) { left_ = static_cast<std::ptrdiff_t>(at); }
  void call() {
    if (left_.fetch_sub(1) == 0) throw Planned();
  }

 private:
  std::atomic<std::ptrdiff_t> left_;
};

// What allocates nothing but what it gives back.
class CountingResource : public std::pmr::memory_resource {
 public:
  std::size_t asked = 0;
  std::size_t held = 0;
  bool refuses = false;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    ++asked;
    if (refuses) throw std::bad_alloc();
    held += bytes;
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
    held -= bytes;
    std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

// A number that is known to be destroyed as often as it was made, and throws when it is combined.
struct Item {
  static inline std::atomic<int> alive{0};
  explicit Item(int n) : number(std::make_unique<int>(n)) { ++alive; }
  Item(const Item& other) : Item(*other.number) {}
  Item& operator=(const Item& other) {
    *number = *other.number;
    return *this;
  }
  ~Item() { --alive; }
  std::unique_ptr<int> number;
  std::array<char, 120> room{};  // so that few of them are parts of a scan
};

template <class E>
void throw_at_every_call(E& executor) {
  constexpr std::size_t count = 60;  // fewer and more than few_items_a_member
  std::vector<int> v(count, 1);
  for (std::size_t at = 0; at < count; ++at) {
    Throwing throwing(at);
    const auto one = [&](int x) {
      throwing.call();
      return x + 1;
    };
    EXPECT_THROW(for_each(executor, v, one), Planned);
    throwing.reset(at);
    std::vector<int> out(count, 0);
    EXPECT_THROW(transform(executor, v, out.begin(), one), Planned);
    EXPECT_TRUE(std::all_of(out.begin(), out.end(), [](int x) { return x == 0 || x == 2; }));
    throwing.reset(at);
    EXPECT_THROW(transform(executor, v, v, out.begin(), [&](int x, int) { return one(x); }),
                 Planned);
    throwing.reset(at);
    EXPECT_THROW(static_cast<void>(count_if(executor, v, [&](int x) { return one(x) == 0; })),
                 Planned);
    throwing.reset(at);
    EXPECT_THROW(static_cast<void>(find_if(executor, v, [&](int x) { return one(x) == 0; })),
                 Planned);
  }
}

TEST(Algorithms, RethrowWhatIsThrownAtAnyCall) {
  ThreadTeam narrow(2);
  throw_at_every_call(narrow);
  ThreadTeam wide(8);
  throw_at_every_call(wide);
  ThreadPool pool(2);
  throw_at_every_call(pool);
  InlineExecutor caller;
  throw_at_every_call(caller);
}

TEST(Algorithms, DestroyAndGiveBackAllWhenTheOperationThrows) {
  ThreadTeam team(8);
  CountingResource resource;
  {
    const std::vector<Item> v(3000, Item(1));
    std::vector<Item> out(3000, Item(0));
    for (std::size_t at = 0; at < 3200; at += at < 70 ? 1 : 61) {
      Throwing throwing(at);
      const auto add = [&](const Item& a, const Item& b) {
        throwing.call();
        return Item(*a.number + *b.number);
      };
      bool thrown = false;
      try {
        const std::span few(v.data(), 62);  // handed over at once
        EXPECT_EQ(*reduce(team, few, Item(0), add, {.scratch = &resource}).number, 62);
      } catch (const Planned&) {
        thrown = true;
      }
      EXPECT_EQ(thrown, at < 62) << at;
      throwing.reset(at);
      EXPECT_THROW(inclusive_scan(team, v, out.begin(), add, {.scratch = &resource}), Planned);
      EXPECT_EQ(resource.held, 0U);
    }
  }
  EXPECT_GT(resource.asked, 100U);
  EXPECT_EQ(Item::alive, 0);
}

TEST(Algorithms, TakeScratchMemoryOnlyFromTheResource) {
  ThreadTeam team(2);
  CountingResource resource;
  std::vector<float> v(100000, 1.0F);
  EXPECT_EQ(reduce(team, v, 0.0F, std::plus<>(), {.scratch = &resource}), 100000.0F);
  EXPECT_EQ(resource.asked, 1U);
  std::vector<float> out(v.size());
  inclusive_scan(team, v, out.begin(), {}, {.scratch = &resource});
  EXPECT_EQ(resource.asked, 3U);
  EXPECT_EQ(out.back(), 100000.0F);
  const std::span small(v.data(), 1000);
  EXPECT_EQ(reduce(team, small, 0.0F, {}, {.scratch = &resource}), 1000.0F);
  exclusive_scan(team, small, out.begin(), 0.0F, {}, {.scratch = &resource});
  EXPECT_EQ(resource.asked, 3U) << "small inputs need none";
  resource.refuses = true;
  EXPECT_THROW(static_cast<void>(reduce(team, v, 0.0F, {}, {.scratch = &resource})),
               std::bad_alloc);
  EXPECT_THROW(exclusive_scan(team, v, out.begin(), 0.0F, {}, {.scratch = &resource}),
               std::bad_alloc);
  EXPECT_EQ(resource.held, 0U);
}

// Each algorithm on the range, as `run(calls)`: how often a function of ours was called.
template <class E>
void all_algorithms(E& executor, std::vector<int>& v, const AlgorithmOptions& options,
                    const std::function<void(const char*, const std::function<void()>&)>& run) {
  std::vector<int> out(v.size());
  const auto same = [](int x) { return x; };
  const auto never = [](int) { return false; };
  run("for_each", [&] { for_each(executor, v, same, {}, options); });
  run("transform", [&] { transform(executor, v, out.begin(), same, {}, options); });
  run("known transform",
      [&] { transform(executor, v, out.begin(), std::negate<>(), {}, options); });
  run("transform of two",
      [&] { transform(executor, v, v, out.begin(), std::plus<>(), {}, {}, options); });
  run("reduce", [&] { static_cast<void>(reduce(executor, v, 0, std::plus<>(), options)); });
  run("transform_reduce",
      [&] { static_cast<void>(transform_reduce(executor, v, 0, std::plus<>(), same, options)); });
  run("inclusive_scan", [&] { inclusive_scan(executor, v, out.begin(), {}, options); });
  run("exclusive_scan", [&] { exclusive_scan(executor, v, out.begin(), 0, {}, options); });
  run("find_if", [&] { static_cast<void>(find_if(executor, v, never, {}, options)); });
  run("count_if", [&] { static_cast<void>(count_if(executor, v, never, {}, options)); });
  run("sort", [&] { sort(executor, v, {}, {}, options); });
  run("partition", [&] { static_cast<void>(partition(executor, v, never, {}, options)); });
  out.resize(2 * v.size());
  run("merge", [&] { merge(executor, v, v, out.begin(), {}, {}, {}, options); });
}

TEST(Algorithms, ThrowNotRunOnceTheyMayNotBegin) {
  sync::StopSource source;
  source.request_stop();
  const sync::StopToken stopped = source.token();
  ThreadTeam team(2);
  ThreadTeam alone(1);
  for (const std::size_t count : {0U, 1U, 3U, 1000U, 100000U}) {
    std::vector<int> v(count);
    const auto refused = [&](Status why) {
      return [count, why](const char* what, const std::function<void()>& call) {
        Status said = Status::ok;
        try {
          call();
        } catch (const NotRun& left_out) {
          said = left_out.status();
        }
        EXPECT_EQ(said, count == 0 ? Status::ok : why) << what << " of " << count;
      };
    };
    all_algorithms(team, v, {.until = stopped}, refused(Status::stopped));
    all_algorithms(team, v, {.until = 0ms}, refused(Status::timed_out));
    all_algorithms(alone, v, {.until = stopped}, refused(Status::stopped));
  }
}

// A stop in the middle: what has begun ends, the rest is left out.
TEST(Algorithms, StopInTheMiddle) {
  ThreadTeam team(2);
  std::vector<int> v(15);  // handed over at once, one by one
  sync::StopSource source;
  const sync::StopToken token = source.token();
  std::atomic<int> calls{0};
  const auto stops = [&](int) {
    ++calls;
    source.request_stop();
    return false;
  };
  EXPECT_THROW(for_each(team, v, stops, {}, {.until = token}), NotRun);
  EXPECT_THROW(static_cast<void>(find_if(team, v, stops, {}, {.until = token})), NotRun);
  EXPECT_LT(calls, 15);
}

// The elements before the match are done: the match is what it is, although a stop came.
TEST(Algorithms, AMatchThatIsKnownIsFoundThoughAStopCame) {
  ThreadTeam team(2);
  std::vector<int> v(15);
  std::iota(v.begin(), v.end(), 0);
  sync::StopSource source;
  const sync::StopToken token = source.token();
  const auto first = [&](int x) {
    if (x == 0) source.request_stop();
    return x == 0;
  };
  EXPECT_EQ(find_if(team, v, first, {}, {.until = token}), v.begin());
}

// The first element waits until the second one, a match too, was looked at. Nothing behind is.
TEST(FindIf, TakesTheFirstMatchThoughALaterOneIsKnownBefore) {
  ThreadTeam team(2);
  std::vector<int> v(15);
  std::iota(v.begin(), v.end(), 0);
  std::atomic<bool> second_was_seen{false};
  std::atomic<int> calls{0};
  const auto matches = [&](int x) {
    ++calls;
    if (x == 1) second_was_seen = true;
    while (!second_was_seen) std::this_thread::yield();
    return true;
  };
  EXPECT_EQ(find_if(team, v, matches), v.begin());
  EXPECT_EQ(calls, 2);
}

TEST(SmallInputs, OfKnownCostStayWithTheCaller) {
  test::CountingExecutor threads(3);
  std::vector<int> v(16384, 1);
  std::vector<int> out(v.size());
  EXPECT_EQ(reduce(threads, v, 0), 16384);
  transform(threads, v, v, out.begin(), std::plus<>());
  transform(threads, v, out.begin(), std::negate<>());
  inclusive_scan(threads, v, out.begin());
  exclusive_scan(threads, v, out.begin(), 0);
  EXPECT_EQ(threads.posted, 0);
  v.assign(1000000, 1);
  EXPECT_EQ(reduce(threads, v, 0), 1000000);
  EXPECT_GE(threads.posted, 1);
}

// The caller looks at the clock: it does not do alone what takes long, however few items.
TEST(SmallInputs, OfDearItemsAreHandedOver) {
  for (const std::size_t count : {2U, 40U}) {
    test::CountingExecutor threads(3);
    std::vector<int> v(count);
    const auto sleep = [](int) {
      std::this_thread::sleep_for(1ms);
      return false;
    };
    for_each(threads, v, sleep);
    EXPECT_GE(threads.posted.exchange(0), 1) << count;
    std::vector<int> out(count);
    transform(threads, v, out.begin(), std::negate<>(), sleep);  // a dear projection
    EXPECT_GE(threads.posted.exchange(0), 1) << count;
    static_cast<void>(count_if(threads, v, sleep));
    EXPECT_GE(threads.posted.exchange(0), 1) << count;
    static_cast<void>(find_if(threads, v, sleep));
    EXPECT_GE(threads.posted, 1) << count;
  }
}

TEST(SmallInputs, TheCallerDoesAllThatTakesNoTime) {
  std::size_t sum = 0;
  auto alone = [&](IndexRange block) {
    for (const std::size_t i : block) sum += i;
    return true;
  };
  EXPECT_EQ(detail::serial_start(15, 2, {}, alone).done, 0U) << "too few to be timed";
  EXPECT_EQ(detail::serial_start(1000, 1, {}, alone).done, 0U) << "nobody else is there";
  auto ends = [](IndexRange) { return false; };
  EXPECT_EQ(detail::serial_start(1000, 2, {}, ends).done, 1000U);
  std::size_t blocks = 0;
  auto slow = [&](IndexRange block) {
    ++blocks;
    if (block.last >= 10) std::this_thread::sleep_for(1ms);
    return true;
  };
  const std::size_t done = detail::serial_start(100000, 2, {}, slow).done;
  EXPECT_GE(done, 10U);
  EXPECT_LT(done, 100000U);
}

TEST(Algorithms, TakeItemsThatOnlyMove) {
  ThreadTeam team(2);
  using Box = std::unique_ptr<int>;
  std::vector<Box> boxes(20);
  for_each(team, boxes, [](Box& box) { box = std::make_unique<int>(1); });
  std::vector<Box> out(20);
  transform(team, boxes, out.begin(),
            [](const Box& box) { return std::make_unique<int>(*box + 1); });
  EXPECT_TRUE(std::all_of(out.begin(), out.end(), [](const Box& box) { return *box == 2; }));
  const Box sum = transform_reduce(
      team, boxes, std::make_unique<int>(0),
      [](Box a, Box b) { return std::make_unique<int>(*a + *b); },
      [](Box& box) { return std::move(box); });
  EXPECT_EQ(*sum, 20);
  EXPECT_EQ(count_if(team, out, [](const Box& box) { return *box == 2; }), 20);
  EXPECT_EQ(find_if(team, out, [](const Box& box) { return *box != 2; }), out.end());
}

struct Order {
  int price;
  bool is_open() const { return price > 2; }
};

TEST(Algorithms, TakeAllFormsOfRangesAndFunctions) {
  ThreadPool pool(2);
  std::deque<Order> orders{{1}, {2}, {3}, {4}};
  EXPECT_EQ(count_if(pool, orders, &Order::is_open), 2);
  EXPECT_EQ(find_if(pool, orders, [](int price) { return price == 3; }, &Order::price)->price, 3);
  EXPECT_EQ(transform_reduce(pool, orders, 0, std::plus<>(), &Order::price), 10);
  int array[3] = {1, 2, 3};
  EXPECT_EQ(for_each(pool, array, [](int& x) { ++x; }), std::end(array));
  EXPECT_EQ(reduce(pool, std::span<const int>(array), 0), 9);
  EXPECT_EQ(reduce(pool, std::cbegin(array), std::cend(array), 0), 9);
  static_assert(std::is_same_v<decltype(find_if(pool, std::deque<Order>{}, &Order::is_open)),
                               std::ranges::dangling>);
  static_assert(std::is_same_v<decltype(transform(pool, array, array, std::negate<>())),
                               std::ranges::in_out_result<int*, int*>>);
  int out[2];
  const auto ends = transform(pool, array, array + 3, array, array + 2, out, std::plus<>());
  EXPECT_TRUE(ends.in1 == array + 2 && ends.in2 == array + 2 && ends.out == out + 2);
  EXPECT_EQ(out[1], 6);
  std::vector<bool> bits(100, true);  // its references are objects
  EXPECT_EQ(count_if(pool, bits, [](bool bit) { return bit; }), 100);
  std::vector<int> counts(100);
  transform(pool, bits, counts.begin(), [](bool bit) { return bit ? 1 : 0; });
  inclusive_scan(pool, counts.begin(), counts.end(), counts.begin());
  EXPECT_EQ(counts.back(), 100);
}

// An algorithm in the function of another one.
TEST(Algorithms, Nest) {
  ThreadPool pool(2);
  std::vector<std::vector<int>> rows(20, std::vector<int>(100, 1));
  std::vector<int> sums(20);
  transform(pool, rows, sums.begin(), [&](const std::vector<int>& row) {
    return static_cast<int>(count_if(pool, row, [](int x) { return x == 1; }));
  });
  EXPECT_EQ(sums, std::vector<int>(20, 100));
}

}  // namespace
