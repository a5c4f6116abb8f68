// SPDX-License-Identifier: MIT
//
// CallbackList: order, the rules of passes, the two removals, and each misuse.
#include <handoff/event/callback_list.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <handoff/core/unique_function.hpp>

#include "support/failing.hpp"
#include "support/support.hpp"

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

TEST(CallbackList, CallsInOrder) {
  List list;
  Trace trace;
  EXPECT_TRUE(list.empty());
  list(0);
  const auto b = list.append(trace.say('b'));
  list.append(trace.say('c'));
  list.prepend(trace.say('a'));
  list.insert(b, trace.say('_'));
  list(0);
  EXPECT_EQ(trace.take(), "a_bc");
  EXPECT_EQ(list.size(), 4U);
}

TEST(CallbackList, PrioritiesComeFirst) {
  List list;
  Trace trace;
  list.append(trace.say('d'));
  const auto low = list.append(trace.say('f'), {.priority = -1});
  list.append(trace.say('b'), {.priority = 5});
  list.append(trace.say('c'), {.priority = 5});
  list.prepend(trace.say('a'), {.priority = 5});
  list.append(trace.say('e'));
  list.insert(low, trace.say('-'), {.priority = 100});
  list.append(trace.say('g'), {.priority = -1});
  list(0);
  EXPECT_EQ(trace.take(), "abcde-fg");
}

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

TEST(CallbackList, ManyComeAndGo) {
  List list;
  std::vector<ListenerHandle> handles;
  std::vector<int> called;
  for (int i = 0; i < 1000; ++i) {
    handles.push_back(list.append([&, i](int) { called.push_back(i); }));
  }
  for (int i = 0; i < 1000; ++i) {
    if (i % 10 != 3) handles[static_cast<std::size_t>(i)].remove();
  }
  list(0);
  ASSERT_EQ(called.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(called[static_cast<std::size_t>(i)], 10 * i + 3);
  list.clear();
  called.clear();
  list(0);
  EXPECT_TRUE(called.empty());
  EXPECT_FALSE(handles[3].remove());
}

TEST(CallbackList, ListenersAddedInAPassAreNotCalledInIt) {
  List list;
  Trace trace;
  ListenerHandle last;
  list.append(
      [&](int) {
        trace.calls += '1';
        list.append(trace.say('a'));
        list.prepend(trace.say('p'));
        list.insert(last, trace.say('i'));
      },
      {.calls = 1});
  last = list.append(trace.say('2'));
  list(0);
  EXPECT_EQ(trace.take(), "12");
  list(0);
  EXPECT_EQ(trace.take(), "pi2a");
}

TEST(CallbackList, NestedPassesCallWhatTheOuterOneAdded) {
  List list;
  Trace trace;
  list.append([&](int depth) {
    trace.calls += '1';
    if (depth == 0) return;
    list.append(trace.say('n'));
    list(depth - 1);
    trace.calls += '|';
  });
  list.append(trace.say('2'));
  list(2);
  EXPECT_EQ(trace.take(),
            "11"
            "12nn"
            "|2n"
            "|2");
}

TEST(CallbackList, ListenersRemovedInAPassAreNotCalledAnyMore) {
  List list;
  Trace trace;
  std::vector<ListenerHandle> handles;
  list.append(
      [&](int) {
        trace.calls += '0';
        list.append(trace.say('x'));  // makes a new array while this pass reads the old one
        list.prepend(trace.say('y'));
        EXPECT_TRUE(handles[2].remove());
        EXPECT_TRUE(handles[1].remove_and_wait()) << "the own pass does not count";
      },
      {.calls = 1});
  for (const char name : {'1', '2', '3', '4'}) handles.push_back(list.append(trace.say(name)));
  list(0);
  EXPECT_EQ(trace.take(), "014");
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

TEST(CallbackList, AListenerRemovesItself) {
  List list;
  ListenerHandle self;
  int calls = 0;
  auto kept = std::make_shared<int>(7);
  const std::weak_ptr<int> watch = kept;
  self = list.append([&, kept = std::move(kept)](int) {
    ++calls;
    EXPECT_TRUE(self.remove());
    EXPECT_EQ(*kept, 7) << "a function lives as long as it runs";
  });
  list(0);
  EXPECT_TRUE(watch.expired()) << "and no longer";
  list(0);
  EXPECT_EQ(calls, 1);
}

TEST(CallbackList, ItsEndInsideACallbackEndsThePass) {
  auto list = std::make_unique<List>();
  Trace trace;
  ListenerHandle first = list->append([&](int) {
    trace.calls += '1';
    list.reset();
    EXPECT_FALSE(first.attached());
  });
  const auto second = list->append(trace.say('2'));
  (*list)(0);
  EXPECT_EQ(trace.take(), "1");
  EXPECT_FALSE(second.remove());
  EXPECT_FALSE(second.remove_and_wait());
  EXPECT_FALSE(first.remove());
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

TEST(CallbackList, AnExceptionEndsThePassAndNothingElse) {
  for (int thrower = 0; thrower < 8; ++thrower) {
    List list;
    int calls = 0;
    for (int i = 0; i < 8; ++i) {
      list.append([&, i](int armed) {
        if (armed != 0 && i == thrower) throw std::runtime_error("as asked");
        ++calls;
      });
    }
    EXPECT_THROW(list(1), std::runtime_error);
    EXPECT_EQ(calls, thrower);
    calls = 0;
    list(0);
    EXPECT_EQ(calls, 8);
  }
}

TEST(CallbackList, CountedListenersGoBeforeTheirLastCall) {
  List list;
  int calls = 0;
  ListenerHandle handle;
  handle = list.append(
      [&](int) {
        ++calls;
        EXPECT_EQ(handle.attached(), calls < 3);
        if (calls == 3) list(0);  // would call it once more, were it still there
      },
      {.calls = 3});
  for (int i = 0; i < 5; ++i) list(0);
  EXPECT_EQ(calls, 3);
}

TEST(CallbackList, ConditionsRemoveWithALastCall) {
  List list;
  std::vector<int> seen;
  const auto handle =
      list.append_until([](int n) { return n >= 3; }, [&](int n) { seen.push_back(n); });
  for (int i = 1; i < 6; ++i) list(i);
  EXPECT_EQ(seen, (std::vector{1, 2, 3}));
  EXPECT_FALSE(handle.attached());
}

TEST(CallbackList, CanContinueEndsThePass) {
  struct Event {
    mutable int handled = 0;
  };
  struct Policies : EventPolicies {
    static bool can_continue(const Event& event) { return event.handled < 2; }
  };
  CallbackList<void(const Event&), Policies> list;
  for (int i = 0; i < 5; ++i) list.append([](const Event& event) { ++event.handled; });
  const Event event;
  list(event);
  EXPECT_EQ(event.handled, 2);
}

TEST(CallbackList, ResultsAreVisitedUntilToldToStop) {
  CallbackList<int(int)> list;
  for (int i = 1; i <= 4; ++i) list.append([i](int n) { return i * n; });
  int sum = 0;
  EXPECT_TRUE(list.visit_results(
      [&](int result) {
        sum += result;
        return true;
      },
      10));
  EXPECT_EQ(sum, 100);
  sum = 0;
  EXPECT_FALSE(list.visit_results(
      [&](int result) {
        sum += result;
        return result < 20;
      },
      10));
  EXPECT_EQ(sum, 30);
  list(1);
}

TEST(CallbackList, ForEachMayChangeTheList) {
  List list;
  Trace trace;
  for (const char name : {'a', 'b', 'c', 'd'}) list.append(trace.say(name));
  int visited = 0;
  list.for_each([&](const ListenerHandle& handle) {
    if (visited++ % 2 == 0) {
      EXPECT_TRUE(list.remove(handle));
      list.append(trace.say('n'));
    }
  });
  EXPECT_EQ(visited, 4);
  list(0);
  EXPECT_EQ(trace.take(), "bdnn");
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
    ScopedListener b(list.append(trace.say('b')), Removal::and_wait);
    ScopedListener c = list.append(trace.say('c'));
    ScopedListener d = list.append(trace.say('d'));
    c = std::move(d);  // c's own goes
    c.release();       // d stays
    list(0);
    EXPECT_EQ(trace.take(), "abd");
  }
  list(0);
  EXPECT_EQ(trace.take(), "d");
  {
    ListenerGroup group;
    for (const char name : {'x', 'y'}) group.add(list.append(trace.say(name)));
    ListenerGroup other(Removal::and_wait);
    other.add(list.append(trace.say('z')));
    list(0);
    EXPECT_EQ(trace.take(), "dxyz");
    other = std::move(group);
    list(0);
    EXPECT_EQ(trace.take(), "dxy");
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

TEST(CallbackList, ForeignAndEmptyHandlesDoNothing) {
  List list;
  List other;
  Trace trace;
  const auto theirs = other.append(trace.say('t'));
  EXPECT_FALSE(list.owns(theirs));
  EXPECT_FALSE(list.remove(theirs));
  EXPECT_FALSE(list.remove_and_wait(theirs));
  EXPECT_FALSE(list.remove(ListenerHandle()));
  EXPECT_FALSE(list.owns(ListenerHandle()));
  EXPECT_FALSE(ListenerHandle().remove_and_wait());
  list.append(trace.say('a'));
  list.insert(theirs, trace.say('b'));  // neither is in the list: to the end
  list.insert(ListenerHandle(), trace.say('c'));
  list(0);
  EXPECT_EQ(trace.take(), "abc");
  other(0);
  EXPECT_EQ(trace.take(), "t");
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

TEST(CallbackList, NothingIsLeftBehindWhereMemoryFails) {
  auto kept = std::make_shared<int>();
  const int places = test::until_whole(test::Call::allocation, 0, [&] {
    try {
      List list;
      int calls = 0;
      for (int i = 0; i < 12; ++i) list.append([kept, &calls](int) { ++calls; });
      list(0);
      EXPECT_EQ(calls, 12);
    } catch (const std::bad_alloc&) {
    }
    EXPECT_EQ(kept.use_count(), 1);
  });
  EXPECT_GT(places, 12);
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
