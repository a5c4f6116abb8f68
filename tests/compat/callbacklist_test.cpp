// SPDX-License-Identifier: MIT
// eventpp/callbacklist.h: every sentence of its documentation that a program can rely on.
#include <eventpp/callbacklist.h>
#include <eventpp/eventdispatcher.h>

#include "compat/policies.hpp"
#include "support/test.hpp"

namespace {

template <class Policies>
class EventppCallbackList : public testing::Test {
 protected:
  using List = eventpp::CallbackList<void(int, const std::string&), Policies>;
  using Handle = typename List::Handle;

  auto says(std::string what) {
    return [this, what](int, const std::string&) { said_ += what; };
  }
  std::string said_by(const List& list) {
    said_.clear();
    list(1, "x");
    return said_;
  }

  std::string said_;
};
TYPED_TEST_SUITE(EventppCallbackList, eventpp_test::ListPolicies);

TYPED_TEST(EventppCallbackList, CallsInOrderWithTheArguments) {
  typename TestFixture::List list;
  EXPECT_EQ(this->said_by(list), "");
  const auto b = list.append(this->says("b"));
  list.append([this](int n, std::string s) { this->said_ += s + std::to_string(n); });
  list.prepend(this->says("a"));
  list.insert(this->says("i"), b);
  list.insert(this->says("e"), typename TestFixture::Handle());
  EXPECT_EQ(this->said_by(list), "aibx1e");
}

TYPED_TEST(EventppCallbackList, AHandleIsFalseOnceItsCallbackIsGone) {
  typename TestFixture::List list;
  EXPECT_FALSE(typename TestFixture::Handle());
  const auto handle = list.append(this->says("a"));
  const auto copy = handle;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_TRUE(handle);
  EXPECT_TRUE(list.ownsHandle(handle));
  EXPECT_TRUE(list.remove(copy));
  EXPECT_FALSE(handle);
  EXPECT_TRUE(handle.expired());
  EXPECT_FALSE(list.ownsHandle(handle));
  EXPECT_FALSE(list.remove(handle));
  EXPECT_EQ(this->said_by(list), "");
}

// Undefined behaviour there; here it is not found.
TYPED_TEST(EventppCallbackList, AHandleOfAnotherListIsNotFound) {
  typename TestFixture::List list;
  typename TestFixture::List other;
  const auto handle = list.append(this->says("a"));
  EXPECT_FALSE(other.ownsHandle(handle));
  EXPECT_FALSE(other.remove(handle));
  other.append(this->says("1"));
  other.insert(this->says("2"), handle);
  EXPECT_EQ(this->said_by(other), "12");
  EXPECT_EQ(this->said_by(list), "a");
}

TYPED_TEST(EventppCallbackList, IsTrueUnlessEmpty) {
  typename TestFixture::List list;
  EXPECT_TRUE(list.empty());
  EXPECT_FALSE(list);
  const auto handle = list.append(this->says("a"));
  EXPECT_FALSE(list.empty());
  EXPECT_TRUE(list);
  list.remove(handle);
  EXPECT_TRUE(list.empty());
}

TYPED_TEST(EventppCallbackList, WhatIsAddedInAPassIsNotCalledInIt) {
  typename TestFixture::List list;
  typename TestFixture::Handle first;
  first = list.append([&](int, const std::string&) {
    this->said_ += "f";
    list.append(this->says("a"));
    list.prepend(this->says("p"));
    list.insert(this->says("i"), first);
  });
  EXPECT_EQ(this->said_by(list), "f");
  list.remove(first);
  EXPECT_EQ(this->said_by(list), "pia");
}

TYPED_TEST(EventppCallbackList, WhatIsRemovedInAPassIsNotCalledAnyMore) {
  typename TestFixture::List list;
  typename TestFixture::Handle self;
  typename TestFixture::Handle later;
  self = list.append([&](int, const std::string&) {
    this->said_ += "s";
    EXPECT_TRUE(list.remove(self));
    EXPECT_FALSE(list.remove(self));
    EXPECT_TRUE(list.remove(later));
  });
  list.append(this->says("m"));
  later = list.append(this->says("l"));
  EXPECT_EQ(this->said_by(list), "sm");
  EXPECT_EQ(this->said_by(list), "m");
}

// There it was linked to a detached node.
TYPED_TEST(EventppCallbackList, InsertingBeforeOneRemovedInThePassAppends) {
  typename TestFixture::List list;
  typename TestFixture::Handle self;
  self = list.append([&](int, const std::string&) {
    list.remove(self);
    list.insert(this->says("n"), self);
  });
  list.append(this->says("m"));
  EXPECT_EQ(this->said_by(list), "m");
  EXPECT_EQ(this->said_by(list), "mn");
}

TYPED_TEST(EventppCallbackList, APassMayNestAndEndTheList) {
  auto list = std::make_unique<typename TestFixture::List>();
  int depth = 0;
  list->append([&](int n, const std::string& s) {
    this->said_ += std::to_string(depth);
    if (++depth < 3) (*list)(n, s);
  });
  list->append([&](int, const std::string&) {
    this->said_ += "e";
    list.reset();
  });
  list->append(this->says("never"));
  (*list)(1, "x");
  EXPECT_EQ(this->said_, "012e");
}

TYPED_TEST(EventppCallbackList, CopiesHaveCallbacksOfTheirOwn) {
  typename TestFixture::List list;
  const auto handle = list.append(this->says("a"));
  list.append(this->says("b"));
  typename TestFixture::List copy(list);
  EXPECT_FALSE(copy.ownsHandle(handle));
  list.remove(handle);
  EXPECT_EQ(this->said_by(copy), "ab");
  copy.append(this->says("c"));
  EXPECT_EQ(this->said_by(list), "b");
  list = copy;
  EXPECT_EQ(this->said_by(list), "abc");
  const auto& same = list;
  list = same;
  EXPECT_EQ(this->said_by(list), "abc");
}

TYPED_TEST(EventppCallbackList, MovesAndSwapsKeepTheHandles) {
  static_assert(std::is_nothrow_default_constructible_v<typename TestFixture::List>);
  static_assert(std::is_nothrow_move_constructible_v<typename TestFixture::List>);
  typename TestFixture::List list;
  const auto handle = list.append(this->says("a"));
  typename TestFixture::List moved(std::move(list));
  EXPECT_TRUE(list.empty());  // NOLINT(bugprone-use-after-move): it is empty
  EXPECT_TRUE(moved.ownsHandle(handle));
  list.append(this->says("b"));
  swap(list, moved);
  EXPECT_EQ(this->said_by(list), "a");
  EXPECT_EQ(this->said_by(moved), "b");
  swap(list, list);
  EXPECT_EQ(this->said_by(list), "a");
  moved = std::move(list);
  EXPECT_TRUE(moved.remove(handle));
}

TYPED_TEST(EventppCallbackList, ForEachShowsHandlesAndCallbacks) {
  using Callbacks = typename TestFixture::List;
  Callbacks list;
  const auto a = list.append(this->says("a"));
  list.append(this->says("b"));
  int seen = 0;
  list.forEach([&](const auto& handle, const typename Callbacks::Callback& callback) {
    callback(1, "x");
    if (++seen == 1) {
      EXPECT_TRUE(list.remove(a));
      EXPECT_FALSE(handle);
      list.append(this->says("c"));
    }
  });
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(this->said_, "ab");
  seen = 0;
  EXPECT_FALSE(list.forEachIf([&](const typename Callbacks::Callback&) { return ++seen < 2; }));
  EXPECT_TRUE(list.forEachIf([&](const typename Callbacks::Callback&) { return ++seen < 9; }));
  EXPECT_EQ(seen, 4);
}

TEST(EventppPolicies, AnOwnMutexIsUsed) {
  eventpp::CallbackList<void(), eventpp_test::OwnMutex> list;
  const int before = eventpp_test::OwnMutex::Mutex::locks;
  list.append([] {});
  list();
  EXPECT_GE(eventpp_test::OwnMutex::Mutex::locks - before, 2);
}

struct MayStop {
  static bool canContinueInvoking(const int& n) { return n != 0; }
};

TEST(EventppPolicies, CanContinueInvokingEndsAPass) {
  eventpp::CallbackList<void(int&), MayStop> list;
  int calls = 0;
  list.append([&](int& n) { n -= 1, ++calls; });
  list.append([&](int&) { ++calls; });
  int one = 1;
  list(one);
  EXPECT_EQ(calls, 1);
  int two = 2;
  list(two);
  EXPECT_EQ(calls, 3);
}

// What is never called need not be callable.
TEST(EventppPolicies, ACallbackThatIsOnlyLookedAtMayBeAnything) {
  struct Numbers {
    using Callback = int;
  };
  eventpp::CallbackList<void(), Numbers> list;
  list.append(2);
  list.prepend(1);
  int sum = 0;
  list.forEach([&](int number) { sum = 10 * sum + number; });
  EXPECT_EQ(sum, 12);
  eventpp::EventDispatcher<int, void(), Numbers> dispatcher;
  dispatcher.appendListener(1, 3);
  EXPECT_TRUE(dispatcher.hasAnyListener(1));
}

TEST(EventppPolicies, ASpinLockLetsOneThreadIn) {
  eventpp::SpinLock lock;
  EXPECT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  int count = 0;
  const auto add = [&] {
    for (int i = 0; i < 1000; ++i) {
      const std::lock_guard<eventpp::SpinLock> guard(lock);
      ++count;
    }
  };
  std::thread other(add);
  add();
  other.join();
  EXPECT_EQ(count, 2000);
}

TEST(EventppPolicies, TheForksMacroAlignsToACacheLine) {
  struct EVENTPP_ALIGN_CACHELINE Line {
    char c;
  };
  static_assert(alignof(Line) == EVENTPP_CACHELINE_SIZE && EVENTPP_CACHELINE_SIZE >= 64);
  static_assert(std::is_base_of_v<eventpp::TagHomo, eventpp::TagEventQueue>);
  static_assert(std::is_base_of_v<eventpp::TagHeter, eventpp::TagHeterEventQueue>);
}

TEST(EventppPolicies, ResultsAreDroppedAndEmptyCallbacksThrow) {
  eventpp::CallbackList<std::string()> list;
  list.append([] { return "dropped"; });
  list();
  list.append(std::function<std::string()>());
  EXPECT_THROW(list(), std::bad_function_call);
}

int calls_of_function = 0;
void function(int n) { calls_of_function += n; }
struct HasMember {
  int sum = 0;
  void member(int n) { sum += n; }
};

TEST(EventppPolicies, AnyCallableIsACallback) {
  eventpp::CallbackList<void(int)> list;
  list.append(function);
  list.append(&function);
  HasMember object;
  list.append(std::bind_front(&HasMember::member, &object));
  list(2);
  EXPECT_EQ(calls_of_function, 4);
  EXPECT_EQ(object.sum, 2);
  eventpp::CallbackList<void(HasMember&, int)> members;
  members.append(&HasMember::member);
  members(object, 3);
  EXPECT_EQ(object.sum, 5);
}

// Adding, removing and calling on four threads; the sanitizers watch.
TEST(EventppPolicies, AListMayBeUsedByAnyThreads) {
  eventpp::CallbackList<void(int)> list;
  std::atomic<int> calls{0};
  handoff::test::Crew changes(2, [&] {
    for (int i = 0; i < 2000; ++i) {
      const auto handle = list.append([&](int) { ++calls; });
      EXPECT_TRUE(list.remove(handle));
    }
  });
  handoff::test::Crew(2, [&] {
    for (int i = 0; i < 2000; ++i) list(1);
  }).join();
  changes.join();
  EXPECT_TRUE(list.empty());
}

}  // namespace
