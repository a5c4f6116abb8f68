// SPDX-License-Identifier: MIT
//
// CallbackList beyond its model, its table (reentrancy_test.cpp) and its scenarios: removals,
// handles, misuse, many threads and what calls cost.
#include "support/failing.hpp"
#include "support/test.hpp"

namespace callback_list_test { namespace {

using namespace handoff;
using List = CallbackList<void(int)>;

// What was called, in order.
struct Trace {
  std::string calls;
  auto say(char name) {
    return [this, name](int) { calls += name; };
  }
  std::string take() { return std::exchange(calls, {}); }
};

// What one removal costs must not grow with those that wait for the end of the same pass: with
// these numbers, and a cost that grows, the pass does not end within the test's time.
TEST(CallbackList, ManyRemovalsInOnePassTakeNoSquareOfTheirNumber) {
  List list;
  constexpr int kMany = 400'000;
  int calls = 0;
  for (int i = 0; i < kMany; ++i) list.append([&](int) { ++calls; }, {.calls = 1});
  list(0);
  EXPECT_EQ(calls, kMany);
  EXPECT_TRUE(list.empty());
}

// One set of arguments: no listener can take them from the next one.
TEST(CallbackList, ArgumentsAreShared) {
  CallbackList<void(std::string, std::unique_ptr<int>, int&)> list;
  int sum = 0;
  for (int i = 0; i < 3; ++i) {
    list.append([&](std::string text, const std::unique_ptr<int>& number, int& count) {
      sum += static_cast<int>(text.size()) + *number;
      text.clear();
      ++count;
    });
  }
  int count = 0;
  list("four", std::make_unique<int>(10), count);
  EXPECT_EQ(sum, 42);
  EXPECT_EQ(count, 3);
}

TEST(CallbackList, FunctionsMayBeMoveOnlyOrOverAligned) {
  struct alignas(128) Big {
    int value = 5;
  };
  List list;
  int sum = 0;
  list.append([&, big = Big{}](int) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&big) % 128, 0U);
    sum += big.value;
  });
  list.append([&, own = std::make_unique<int>(6)](int n) { sum += *own * n; });
  list(1);
  EXPECT_EQ(sum, 11);
}

TEST(CallbackList, HandlesRemoveInTheirDestructors) {
  List list;
  Trace trace;
  {
    const ScopedListener a = list.append(trace.say('a'));
    ScopedListener b = list.append(trace.say('b'));
    ScopedListener c = list.append(trace.say('c'));
    ScopedListener d = list.append(trace.say('d'));
    c = std::move(d);  // c's own goes
    c.release();       // d stays
    list(0);
    EXPECT_EQ(trace.take(), "abd");
  }
  list(0);
  EXPECT_EQ(trace.take(), "d");
}

TEST(CallbackList, HandlesOutliveTheirList) {
  ListenerHandle handle;
  ScopedListener scoped;
  auto kept = std::make_shared<int>();
  const std::weak_ptr<int> watch = kept;
  {
    List list;
    handle = list.append([kept = std::move(kept)](int) {});
    scoped = list.append([](int) {});
    EXPECT_TRUE(handle);
  }
  EXPECT_TRUE(watch.expired()) << "a handle does not keep the function";
  EXPECT_FALSE(handle);
  EXPECT_FALSE(handle.remove());
  EXPECT_FALSE(handle.remove_and_wait());
}

TEST(CallbackList, AppendingMakesFewArrays) {
  List list;
  const std::size_t before = test::calls(test::Call::allocation);
  for (int i = 0; i < 1000; ++i) list.append([](int) {});
  EXPECT_LT(test::calls(test::Call::allocation), before + 1000 + 30) << "one each, and the arrays";
}

TEST(CallbackList, CallsAllocateNothing) {
  List list;
  int calls = 0;
  for (int i = 0; i < 10; ++i) list.append([&](int) { ++calls; });
  list(0);
  const std::size_t before = test::calls(test::Call::allocation);
  for (int i = 0; i < 100; ++i) list(0);
  EXPECT_EQ(test::calls(test::Call::allocation), before);
  EXPECT_EQ(calls, 1010);
}

// Removals of all, in each order, with what they cost beside their few instructions: how often the
// kernel was asked to order the CPUs.
std::size_t barriers_of_removals(List& list, int count, int order) {
  std::vector<ListenerHandle> handles;
  for (int i = 0; i < count; ++i) handles.push_back(list.append([](int) {}));
  list(0);
  if (order == 1) std::reverse(handles.begin(), handles.end());
  if (order == 2) std::shuffle(handles.begin(), handles.end(), test::random());
  const std::size_t before = test::calls(test::Call::barrier);
  for (const ListenerHandle& handle : handles) EXPECT_TRUE(handle.remove());
  EXPECT_TRUE(list.empty());
  return test::calls(test::Call::barrier) - before;
}

TEST(CallbackList, RemovalsAskForABarrierOnlyAfterPassesOfOthers) {
  List list;
  std::atomic<bool> passed(false);
  std::atomic<bool> over(false);
  std::jthread other([&] {
    list(0);
    passed = true;
    while (!over) std::this_thread::yield();
  });
  while (!passed) std::this_thread::yield();
  for (const int order : {0, 1, 2}) {
    // The first removal finds that one outside of its pass, the others know.
    EXPECT_LE(barriers_of_removals(list, 1000, order), order == 0 ? 2U : 0U);
  }
  over = true;
}

// Each removal looks again at a pass that does go on, but soon without the kernel.
TEST(CallbackList, RemovalsBesideAPassThatGoesOnSoonAskNoMore) {
  List list;
  List elsewhere;
  std::atomic<bool> passing(false);
  std::atomic<bool> over(false);
  elsewhere.append([&](int) {
    passing = true;
    while (!over) std::this_thread::yield();
  });
  std::jthread other([&] { elsewhere(0); });
  while (!passing) std::this_thread::yield();
  EXPECT_LE(barriers_of_removals(list, 100, 0), 16U) << "then passes fence themselves";
  over = true;
}

}}  // namespace callback_list_test
