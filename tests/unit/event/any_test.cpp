// SPDX-License-Identifier: MIT
//
// AnyData and AnyId: what they hold, where it lies, when it ends, and what they are told apart by.
#include "support/failing.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff;
using test::Call;

struct Large {
  std::array<int, 100> numbers{};
};

struct alignas(256) Wide {
  int number = 0;
};

// How many of them there are.
struct Counted {
  explicit Counted(int& alive) : alive_(&alive) { ++*alive_; }
  Counted(Counted&& other) noexcept : alive_(other.alive_) { ++*alive_; }
  ~Counted() { --*alive_; }
  int* alive_;
};

struct Unmade {
  Unmade() { throw std::runtime_error("as asked"); }
};

TEST(AnyData, HoldsWhatItWasGiven) {
  AnyData<> data;
  EXPECT_FALSE(data.has_value());
  EXPECT_FALSE(data.holds<int>());
  EXPECT_EQ(data.get_if<int>(), nullptr);
  data = 7;
  EXPECT_TRUE(data.has_value());
  EXPECT_TRUE(data.holds<int>());
  EXPECT_FALSE(data.holds<unsigned>());
  EXPECT_EQ(data.get<int>(), 7);
  data.get<int>() = 8;
  data = AnyData<>(std::string("eight"));
  EXPECT_FALSE(data.holds<int>());
  EXPECT_EQ(std::as_const(data).get<std::string>(), "eight");
  data.reset();
  EXPECT_FALSE(data.has_value());
}

TEST(AnyData, MovesWhatItHolds) {
  AnyData<> from(std::make_unique<int>(5));
  AnyData<> to(std::move(from));
  EXPECT_FALSE(from.has_value());  // NOLINT(bugprone-use-after-move): empty, by its contract
  EXPECT_EQ(*to.get<std::unique_ptr<int>>(), 5);
  auto& self = to;
  to = std::move(self);
  EXPECT_EQ(*to.get<std::unique_ptr<int>>(), 5);
}

TEST(AnyData, AllocatesForWhatDoesNotFitAndNothingElse) {
  static_assert(AnyData<>::fits<std::string> && AnyData<8>::fits<void*>);
  static_assert(!AnyData<>::fits<Large> && !AnyData<512>::fits<Wide>);
  static_assert(AnyDataOf<char, Large, int>::fits<Large>);
  static_assert(sizeof(AnyDataOf<int>) <= 2 * alignof(std::max_align_t));
  const auto allocations = [](auto&& action) {
    const std::size_t before = test::calls(Call::allocation);
    action();
    return test::calls(Call::allocation) - before;
  };
  AnyData<> data;
  AnyDataOf<char, Large> large;
  EXPECT_EQ(allocations([&] { data = 1.5; }), 0U);
  EXPECT_EQ(allocations([&] { large = Large{{7}}; }), 0U);
  EXPECT_EQ(large.get<Large>().numbers[0], 7);
  // Looked at below, or a compiler might leave the allocation out.
  EXPECT_EQ(allocations([&] { data = Large{{8}}; }), 1U);
  AnyData<> moved;
  EXPECT_EQ(allocations([&] { moved = std::move(data); }), 0U);
  EXPECT_EQ(moved.get<Large>().numbers[0], 8);
}

TEST(AnyData, AssignmentEndsWhatItHeld) {
  int alive = 0;
  AnyData<16> box;
  box.emplace<Counted>(alive);
  AnyData<16> other;
  other.emplace<int>(5);
  box = std::move(other);
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(box.get<int>(), 5);
}

TEST(AnyData, KeepsAlignment) {
  AnyData<512> wide(Wide{3});
  const AnyData<512> moved(std::move(wide));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&moved.get<Wide>()) % alignof(Wide), 0U);
  EXPECT_EQ(moved.get<Wide>().number, 3);
}

template <class T>
void expect_ends_once() {
  int alive = 0;
  {
    AnyData<> first{T(alive)};
    EXPECT_EQ(alive, 1);
    AnyData<> second(std::move(first));
    first = std::move(second);
    EXPECT_EQ(alive, 1);
    first.emplace<T>(alive);
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0);
}

TEST(AnyData, EndsWhatItHoldsOnce) {
  struct LargeCounted : Counted, Large {
    using Counted::Counted;
  };
  expect_ends_once<Counted>();
  expect_ends_once<LargeCounted>();
}

TEST(AnyData, IsEmptyAfterAPayloadThatCouldNotBeMade) {
  AnyData<> data(1);
  EXPECT_THROW(data.emplace<Unmade>(), std::runtime_error);
  EXPECT_FALSE(data.has_value());
  test::until_enough_memory([] {
    const AnyData<> large{Large{}};
    EXPECT_TRUE(large.holds<Large>());
  });
}

TEST(AnyData, OfAnotherTypeIsMisuse) {
  AnyData<> data(1);
  EXPECT_THROW(data.get<long>(), std::logic_error);
  EXPECT_THROW(std::as_const(data).get<long>(), std::logic_error);
  EXPECT_THROW(AnyData<>().get<int>(), std::logic_error);
}

enum class Color { red, green };

// All hashes are equal.
struct Vague {
  int number;
  friend bool operator==(const Vague&, const Vague&) = default;
};

}  // namespace

template <>
struct std::hash<Vague> {
  std::size_t operator()(const Vague&) const noexcept { return 1; }
};

namespace {

TEST(AnyId, IsItsTypeAndItsValue) {
  EXPECT_EQ(AnyId(1), AnyId(1));
  EXPECT_NE(AnyId(1), AnyId(2));
  EXPECT_NE(AnyId(1), AnyId(1L));
  EXPECT_NE(AnyId(0), AnyId(Color::red));
  EXPECT_EQ(AnyId(Color::green), AnyId(Color::green));
  EXPECT_EQ(AnyId("a name"), AnyId(std::string("a name")));
  EXPECT_EQ(AnyId(std::string_view("a name")).hash(), AnyId("a name").hash());
  EXPECT_EQ(*AnyId(3).get_if<int>(), 3);
  EXPECT_EQ(AnyId(3).get_if<long>(), nullptr);
}

TEST(AnyId, HashesAsItsValueDoes) {
  EXPECT_EQ(AnyId(3).hash(), std::hash<int>{}(3));
  EXPECT_EQ(std::hash<AnyId>{}(AnyId("a name")), std::hash<std::string>{}("a name"));
}

TEST(AnyId, EqualHashesAreNotEnough) {
  const AnyId one(Vague{1});
  const AnyId two(Vague{2});
  ASSERT_EQ(one.hash(), two.hash());
  EXPECT_NE(one, two);
  EXPECT_EQ(one, AnyId(Vague{1}));
}

TEST(AnyId, CopiesAndMoves) {
  const std::string text(100, 'x');
  AnyId first(text);
  AnyId second(first);
  EXPECT_EQ(first, second);
  AnyId third(std::move(second));
  EXPECT_EQ(first, third);
  EXPECT_NE(second, first);  // NOLINT(bugprone-use-after-move): it is no id any more
  const AnyId of_nothing(second);
  EXPECT_EQ(of_nothing, second);
  second = third;
  third = AnyId(5);
  EXPECT_EQ(second, first);
  EXPECT_EQ(third, AnyId(5));
  EXPECT_EQ(*second.get_if<std::string>(), text);
}

// A key whose hash or whose copy may throw, and how many there are.
struct Unwilling {
  explicit Unwilling(int number) : value(number) { ++alive; }
  Unwilling(const Unwilling& other) : value(other.value) {
    if (throws_in_copy) throw std::runtime_error("as asked");
    ++alive;
  }
  Unwilling(Unwilling&& other) noexcept : value(other.value) { ++alive; }
  ~Unwilling() { --alive; }
  friend bool operator==(const Unwilling& a, const Unwilling& b) { return a.value == b.value; }

  int value;
  static inline int alive = 0;
  static inline bool throws_in_copy = false;
};

struct Path {
  std::array<int, 20> steps{};
  friend bool operator==(const Path&, const Path&) = default;
};

}  // namespace

template <>
struct std::hash<Unwilling> {
  std::size_t operator()(const Unwilling& key) const {
    if (key.value < 0) throw std::runtime_error("as asked");
    return static_cast<std::size_t>(key.value);
  }
};

template <>
struct std::hash<Path> {
  std::size_t operator()(const Path& path) const noexcept {
    return static_cast<std::size_t>(path.steps[0]);
  }
};

namespace {

TEST(AnyId, LeavesNothingBehindWhereAKeyThrows) {
  {
    EXPECT_THROW(AnyId(Unwilling(-1)), std::runtime_error);
    EXPECT_EQ(Unwilling::alive, 0) << "its hash";
    const AnyId id(Unwilling(5));
    EXPECT_EQ(Unwilling::alive, 1);
    Unwilling::throws_in_copy = true;
    EXPECT_THROW((void)AnyId(id), std::runtime_error);
    AnyId other(7);
    EXPECT_THROW(other = id, std::runtime_error);
    EXPECT_EQ(other, AnyId(7)) << "as it was";
    Unwilling::throws_in_copy = false;
    EXPECT_EQ(Unwilling::alive, 1);
  }
  EXPECT_EQ(Unwilling::alive, 0);
}

TEST(AnyId, KeepsLargeKeysToo) {
  const Path path{{1, 2, 3}};
  test::until_enough_memory([&] {
    const AnyId id(path);
    const AnyId copy(id);
    EXPECT_EQ(copy, id);
    EXPECT_EQ(*copy.get_if<Path>(), path);
  });
}

TEST(AnyId, IsAKeyOfADispatcher) {
  EventDispatcher<AnyId, void()> dispatcher;
  std::string seen;
  dispatcher.append_listener(1, [&] { seen += 'i'; });
  dispatcher.append_listener(1L, [&] { seen += 'l'; });
  dispatcher.append_listener("one", [&] { seen += 's'; });
  dispatcher.append_listener(Color::red, [&] { seen += 'c'; });
  dispatcher.append_listener(Vague{1}, [&] { seen += 'v'; });
  dispatcher.append_listener(Vague{2}, [&] { seen += 'w'; });
  dispatcher.dispatch(Vague{2});
  dispatcher.dispatch(std::string("one"));
  dispatcher.dispatch(1L);
  dispatcher.dispatch(Color::red);
  dispatcher.dispatch(1);
  dispatcher.dispatch(Vague{1});
  dispatcher.dispatch("two");
  EXPECT_EQ(seen, "wslciv");
}

}  // namespace
