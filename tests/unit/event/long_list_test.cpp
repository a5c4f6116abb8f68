// SPDX-License-Identifier: MIT
//
// Lists so long that their front lies in leaves: the same order, rules and books as short ones.
#include "books/event_books.hpp"
#include "support/failing.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff;

// A list of numbered listeners, and what it should be.
class LongList : public testing::Test {
 protected:
  struct Each {
    int number;
    int priority;
    ListenerHandle handle;
  };

  auto listener() {
    return [this, number = ++last_] { called_.push_back(number); };
  }
  std::size_t any_place() {
    return std::uniform_int_distribution<std::size_t>(0, plain_.size() - 1)(random_);
  }
  // Where one of this priority goes, behind the others of it or in front of them.
  auto place_of(int priority, bool in_front) {
    return std::find_if(plain_.begin(), plain_.end(), [&](const Each& each) {
      return each.priority < priority || (in_front && each.priority == priority);
    });
  }

  void append(int priority = 0) {
    const ListenerHandle handle = list_.append(listener(), {.priority = priority});
    plain_.insert(place_of(priority, false), {last_, priority, handle});
  }
  void prepend(int priority = 0) {
    const ListenerHandle handle = list_.prepend(listener(), {.priority = priority});
    plain_.insert(place_of(priority, true), {last_, priority, handle});
  }
  void insert(std::size_t at) {
    const ListenerHandle handle = list_.insert(plain_[at].handle, listener());
    const Each added{last_, plain_[at].priority, handle};
    plain_.insert(plain_.begin() + static_cast<std::ptrdiff_t>(at), added);
  }
  void remove(std::size_t at) {
    ASSERT_TRUE(plain_[at].handle.remove());
    plain_.erase(plain_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void expect_agreement() {
    EXPECT_EQ(detail::Books<CallbackList<void()>>::fault(list_), "");
    called_.clear();
    list_();
    expect_called(plain_);
  }
  void expect_called(const std::vector<Each>& expected) {
    std::vector<int> numbers;
    for (const Each& each : expected) numbers.push_back(each.number);
    EXPECT_TRUE(called_ == numbers) << called_.size() << " calls for " << numbers.size();
  }

  CallbackList<void()> list_;
  std::vector<Each> plain_;
  std::vector<int> called_;
  int last_ = 0;
  std::mt19937_64 random_ = test::random();
};

TEST_F(LongList, GrowsFromTheFront) {
  for (int i = 0; i < 2000; ++i) prepend();
  expect_agreement();
}

TEST_F(LongList, GrowsInTheMiddle) {
  for (int i = 0; i < 700; ++i) append();
  for (int i = 0; i < 2000; ++i) insert(350);
  expect_agreement();
  for (int i = 0; i < 2000; ++i) insert(any_place());
  expect_agreement();
}

TEST_F(LongList, ComesFromBothEndsAndAllPriorities) {
  for (int i = 0; i < 3000; ++i) {
    const int priority = std::uniform_int_distribution<int>(-2, 2)(random_);
    i % 2 == 0 ? append(priority) : prepend(priority);
  }
  expect_agreement();
}

TEST_F(LongList, LosesAnyOfThem) {
  for (int round = 0; round < 3; ++round) {
    while (plain_.size() < 2000) plain_.empty() || last_ % 3 == 0 ? append() : insert(any_place());
    for (int i = 0; i < 900; ++i) remove(any_place());
    expect_agreement();
    for (int i = 0; i < 300; ++i) i % 2 == 0 ? prepend() : insert(any_place());
    expect_agreement();
    while (plain_.size() > 3) remove(any_place());
    expect_agreement();
  }
  list_.clear();
  plain_.clear();
  expect_agreement();
}

// Leaves without a listener left stay in their place until the list shrinks.
TEST_F(LongList, LosesAWholePart) {
  for (int i = 0; i < 1500; ++i) append();
  insert(1);
  for (int i = 0; i < 600; ++i) remove(200);
  expect_agreement();
  prepend();
  insert(200);
  append(1);
  append(-1);
  expect_agreement();
}

TEST_F(LongList, IsCalledAsItWasWhenThePassBegan) {
  for (int i = 0; i < 900; ++i) append();
  insert(100);
  const std::vector<Each> before = plain_;
  bool first = true;
  const ListenerHandle changes = list_.prepend([&] {
    if (!std::exchange(first, false)) return;
    for (int i = 0; i < 300; ++i) insert(any_place());
    append();
  });
  list_();
  expect_called(before);
  changes.remove();
  expect_agreement();
}

TEST_F(LongList, FindsAFunctionInALeaf) {
  static int calls;
  calls = 0;
  const auto count = +[] { ++calls; };
  for (int i = 0; i < 600; ++i) append();
  const ListenerHandle handle = list_.insert(plain_[2].handle, count);
  EXPECT_EQ(list_.find(count), handle);
  std::size_t seen = 0;
  std::size_t place = 0;
  list_.for_each([&](const ListenerHandle& each) {
    ++seen;
    if (each == handle) place = seen;
  });
  EXPECT_EQ(place, 3U);
  EXPECT_EQ(seen, 601U);
  list_.find(count).remove();
  EXPECT_EQ(list_.find(count), ListenerHandle());
  EXPECT_EQ(calls, 0);
}

// Whatever cannot be had, the list is as before.
TEST_F(LongList, WithoutMemory) {
  for (int i = 0; i < 1200; ++i) append();
  const int places = test::until_whole(test::Call::allocation, 0, [&] {
    try {
      list_.insert(plain_[5].handle, [] {}).remove();
    } catch (const std::bad_alloc&) {
      EXPECT_EQ(detail::Books<CallbackList<void()>>::fault(list_), "");
    }
  });
  EXPECT_GT(places, 10) << "a node, an array and its leaves";
  expect_agreement();
}

}  // namespace
