// SPDX-License-Identifier: MIT
// eventpp/utilities/: AnyData, AnyId, and the macros that write event classes.
#include <eventpp/eventqueue.h>
#include <eventpp/utilities/anydata.h>
#include <eventpp/utilities/anyid.h>
#include <eventpp/utilities/eventmaker.h>
#include <any>

#include "support/test.hpp"

namespace values_test { namespace {

struct Large {
  char text[200];
  int value;
};
struct alignas(32) Aligned {
  double numbers[4];
};

constexpr std::size_t size = eventpp::maxSizeOf<int, std::string, Aligned>();
static_assert(size == std::max(sizeof(std::string), sizeof(Aligned)));
using Data = eventpp::AnyData<size>;

TEST(EventppAnyData, ListenersGetTheTypeTheyAskFor) {
  eventpp::EventQueue<int, void(const Data&)> queue;
  std::string said;
  queue.appendListener(1, [&](const std::string& s) { said += s; });
  queue.appendListener(2, [&](const int& n) { said += std::to_string(n); });
  queue.appendListener(2,
                       [&](const void* p) { said += std::to_string(*static_cast<const int*>(p)); });
  queue.appendListener(2, [&](const Data& data) {
    EXPECT_TRUE(data.isType<int>());
    EXPECT_FALSE(data.isType<unsigned>());
    EXPECT_EQ(data.getAddress(), &data.get<int>());
  });
  queue.appendListener(3, [&](const Large& large) { said += std::to_string(large.value); });
  queue.enqueue(1, std::string("text "));
  queue.enqueue(2, 7);
  queue.enqueue(3, Large{{}, 100});
  queue.process();
  EXPECT_EQ(said, "text 77100");
}

// There a value was misplaced.
TEST(EventppAnyData, KeepsAlignment) {
  const Data data(Aligned{{1, 2, 3, 4}});
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data.getAddress()) % 32, 0U);
}

TEST(EventppAnyData, WhatFitsLiesInside) {
  struct MayThrow {
    explicit MayThrow(int n) : value(n) {}
    MayThrow(const MayThrow& other) noexcept(false) : value(other.value) {
      if (value < 0) throw std::runtime_error("negative");
    }
    int value;
  };
  const auto is_inside = [](const Data& data) {
    const auto* const begin = reinterpret_cast<const char*>(&data);
    const auto* const at = static_cast<const char*>(data.getAddress());
    return at >= begin && at < begin + sizeof(Data);
  };
  Data data(MayThrow(1));
  EXPECT_TRUE(is_inside(data));
  EXPECT_TRUE(is_inside(Data(std::string("a"))));
  EXPECT_FALSE(is_inside(Data(Large{{}, 5})));
  const Data moved(std::move(data));
  EXPECT_EQ(moved.get<MayThrow>().value, 1);
  data = Data(std::string("b"));
  EXPECT_THROW(data = Data(MayThrow(-1)), std::runtime_error);
}

TEST(EventppAnyData, IsCopiedAndMovedInsideAndOnTheHeap) {
  Data small(std::string("a"));
  Data large(Large{{}, 5});
  Data copy(small);
  copy = large;
  EXPECT_EQ(copy.get<Large>().value, 5);
  small = std::move(large);
  EXPECT_EQ(small.get<Large>().value, 5);
  large = Data(std::string("again"));
  EXPECT_EQ(large.get<std::string>(), "again");
  const Data unique(std::make_unique<int>(1));
  EXPECT_THROW(Data{unique}, std::logic_error);
}

TEST(EventppAnyId, AnyHashableValueIsAnEvent) {
  eventpp::EventQueue<eventpp::AnyHashableId, void()> queue;
  std::string said;
  queue.appendListener(3, [&] { said += "3"; });
  queue.appendListener(std::string("hello"), [&] { said += "hello"; });
  queue.dispatch(3);
  queue.enqueue(std::string("hello"));
  queue.process();
  EXPECT_EQ(said, "3hello");
}

template <class T>
struct OneBit {
  std::size_t operator()(const T& value) const { return std::hash<T>()(value) & 1; }
};

TEST(EventppAnyId, AStorageThatComparesTellsEqualDigestsApart) {
  using Id = eventpp::AnyId<OneBit, std::int64_t>;
  EXPECT_EQ(Id(std::int64_t{2}).getDigest(), Id(std::int64_t{4}).getDigest());
  EXPECT_FALSE(Id(std::int64_t{2}) == Id(std::int64_t{4}));
  EXPECT_TRUE(Id(std::int64_t{2}) < Id(std::int64_t{4}));
  EXPECT_TRUE(Id(std::int64_t{4}) < Id(std::int64_t{1}));
  EXPECT_EQ(Id(std::int64_t{4}).getValue(), 4);
  using Digests = eventpp::AnyId<OneBit>;
  EXPECT_TRUE(Digests(2) == Digests(4));
  using Kept = eventpp::AnyId<std::hash, std::any>;
  EXPECT_EQ(std::any_cast<int>(Kept(5).getValue()), 5);
}

struct Event {
  Event() = default;
  Event(int t, char c) : type(t), letter(c) {}
  int type = 0;
  char letter = '-';
};
template <class A, class B>
struct Pair {
  explicit Pair(A a) : first(a) {}
  A first;
};
EVENTPP_MAKE_EVENT(Draw, Event, (3, 'c'), (std::string, getText, setText), (int, getX),
                   (double, getSize));
EVENTPP_MAKE_EVENT(One, (Pair<int, char>), 4, (int, getX, setX));
EVENTPP_MAKE_EMPTY_EVENT(Quit, Event, ());
EVENTPP_MAKE_EVENT(Many, Event, (), (int, a), (int, b), (int, c), (int, d), (int, e), (int, f),
                   (int, g), (int, h), (int, i), (int, j), (int, k), (int, l), (int, m), (int, n),
                   (int, o, setO));

TEST(EventppMaker, WritesClassesWithMembers) {
  Draw draw("text", 2, 1.5);
  draw.setText("other");
  EXPECT_EQ(draw.getText(), "other");
  EXPECT_EQ(draw.getX(), 2);
  EXPECT_EQ(draw.getSize(), 1.5);
  EXPECT_EQ(draw.type, 3);
  EXPECT_EQ(draw.letter, 'c');
  EXPECT_EQ(Draw().getX(), 0);
  One one(5);
  one.setX(6);
  EXPECT_EQ(one.getX(), 6);
  EXPECT_EQ(one.first, 4);
  EXPECT_EQ(Quit().type, 0);
  Many many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  many.setO(many.o() + many.a());
  EXPECT_EQ(many.o(), 16);
}

}}  // namespace values_test
