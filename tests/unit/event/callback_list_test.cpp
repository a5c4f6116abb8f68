// SPDX-License-Identifier: MIT
//
// CallbackList beyond its model, its table (reentrancy_test.cpp) and its scenarios: removals,
// handles, misuse, many threads and what calls cost.
#include <handoff/core/unique_function.hpp>
#include <handoff/event/callback_list.hpp>

#include "support/failing.hpp"
#include "support/support.hpp"
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

TEST(CallbackList, RemovesOnce) {
  List list;
  Trace trace;
  const auto a = list.append(trace.say('a'));
  const auto b = list.append(trace.say('b'));
  EXPECT_TRUE(list.owns(a));
  EXPECT_TRUE(list.remove(a));
  EXPECT_FALSE(list.remove(a));
  EXPECT_FALSE(a.remove());
  EXPECT_FALSE(a.attached());
  EXPECT_FALSE(list.owns(a));
  list(0);
  EXPECT_EQ(trace.take(), "b");
  EXPECT_TRUE(b.remove_and_wait());
  EXPECT_FALSE(b.remove_and_wait());
  EXPECT_TRUE(list.empty());
}

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

TEST(CallbackList, PassesNestDeeperThanTheyAreToldApart) {
  List list;
  List other;
  Trace trace;
  const auto gone = other.append(trace.say('x'));
  list.append(
      [&](int depth) {
        if (depth > 0) {
          other(0);
          list(depth - 1);
        } else {
          EXPECT_TRUE(gone.remove_and_wait());
          list.append(trace.say('.'));
        }
      },
      {.calls = 21});
  list(20);
  EXPECT_EQ(trace.take(), std::string(20, 'x'));
  list(0);
  EXPECT_EQ(trace.take(), ".");
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

TEST(CallbackList, EmptyFunctionsAreMisuse) {
  List list;
  void (*null)(int) = nullptr;
  EXPECT_THROW(list.append(null), std::logic_error);
  EXPECT_THROW(list.append(std::function<void(int)>()), std::logic_error);
  EXPECT_THROW(list.append(UniqueFunction<void(int)>()), std::logic_error);
  EXPECT_THROW(list.append_until(std::function<bool(int)>(), [](int) {}), std::logic_error);
  EXPECT_TRUE(list.empty());
  CallbackList<int()> with_results;
  EXPECT_THROW(with_results.append([] { return 1; }, {.calls = 1}), std::logic_error);
}

TEST(CallbackList, AppendingMakesFewArrays) {
  List list;
  const std::size_t before = test::calls(test::Call::allocation);
  for (int i = 0; i < 1000; ++i) list.append([](int) {});
  EXPECT_LT(test::calls(test::Call::allocation), before + 1000 + 30) << "one each, and the arrays";
}

// So many threads are in a pass at once that they share what removals look at: a listener that is
// removed meanwhile stays until the last of them has left.
TEST(CallbackList, PassesOfManyThreads) {
  constexpr int count = 70;
  List list;
  std::atomic<int> inside{0};
  std::atomic<bool> leave{false};
  const auto kept = std::make_shared<int>(0);
  const auto handle = list.append([&inside, &leave, kept](int) {
    ++inside;
    inside.notify_one();
    leave.wait(false);
  });
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&list, i] { list(i); });
  for (int seen = 0; (seen = inside.load()) != count;) inside.wait(seen);
  EXPECT_TRUE(handle.remove());
  EXPECT_EQ(kept.use_count(), 2) << "they might still call it";
  leave = true;
  leave.notify_all();
  threads.clear();
  EXPECT_EQ(kept.use_count(), 1);
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
  std::thread other([&] {
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
  other.join();
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
  std::thread other([&] { elsewhere(0); });
  while (!passing) std::this_thread::yield();
  EXPECT_LE(barriers_of_removals(list, 100, 0), 16U) << "then passes fence themselves";
  over = true;
  other.join();
}

}}  // namespace callback_list_test
