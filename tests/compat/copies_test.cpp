// SPDX-License-Identifier: MIT
// How often arguments are copied and moved on their way to the listeners: nowhere more often than
// by eventpp 0.1.3, but for one move more in peekEvent() and takeEvent().
#include <eventpp/eventqueue.h>

#include "compat/policies.hpp"
#include "support/test.hpp"

namespace {

struct Counted {
  Counted() = default;
  Counted(const Counted&) { ++copies; }
  Counted(Counted&&) noexcept { ++moves; }
  Counted& operator=(const Counted&) {
    ++copies;
    return *this;
  }
  Counted& operator=(Counted&&) noexcept {
    ++moves;
    return *this;
  }
  ~Counted() = default;

  static inline int copies = 0;
  static inline int moves = 0;
};

// What `work` costs at most.
template <class Work>
void expect_at_most(int copies, int moves, const char* what, Work&& work) {
  Counted::copies = Counted::moves = 0;
  work();
  EXPECT_LE(Counted::copies, copies) << what;
  EXPECT_LE(Counted::moves, moves) << what;
}

// Calls in every way, where a parameter by value costs `stored` copies of an lvalue and the
// listener `taken` copies, each of which std::function may move once.
template <class Call>
void expect_calls_at_most(int stored, int taken, Call&& call) {
  Counted object;
  const Counted fixed;
  expect_at_most(stored + taken, taken, "of an lvalue", [&] { call(object); });
  expect_at_most(stored + taken, taken, "of a const one", [&] { call(fixed); });
  expect_at_most(taken, stored + taken, "of one that is moved", [&] { call(std::move(object)); });
}

struct Included {
  using ArgumentPassingMode = eventpp::ArgumentPassingIncludeEvent;
  static int getEvent(const Counted&) { return 1; }
};
struct Excluded {
  using ArgumentPassingMode = eventpp::ArgumentPassingExcludeEvent;
};

template <class Policies>
class EventppCopies : public testing::Test {
 protected:
  template <class Prototype, class Listener>
  static void expect_calls(int stored, int taken, Listener listener) {
    eventpp::CallbackList<Prototype, Policies> list;
    list.append(listener);
    expect_calls_at_most(stored, taken,
                         [&](auto&& value) { list(std::forward<decltype(value)>(value)); });
    eventpp::EventDispatcher<int, Prototype, Policies> dispatcher;
    dispatcher.appendListener(1, listener);
    expect_calls_at_most(stored, taken, [&](auto&& value) {
      dispatcher.dispatch(1, std::forward<decltype(value)>(value));
    });
    expect_calls_at_most(stored, taken, [&](auto&& value) {
      dispatcher.directDispatch(1, std::forward<decltype(value)>(value));
    });
  }
};
TYPED_TEST_SUITE(EventppCopies, eventpp_test::QueuePolicies);

TYPED_TEST(EventppCopies, CallingCopiesForParametersByValueOnly) {
  TestFixture::template expect_calls<void(const Counted&)>(0, 0, [](const Counted&) {});
  TestFixture::template expect_calls<void(const Counted&)>(0, 1, [](Counted) {});
  TestFixture::template expect_calls<void(Counted)>(1, 1, [](const Counted&) {});
  TestFixture::template expect_calls<void(Counted)>(1, 1, [](Counted) {});
}

TYPED_TEST(EventppCopies, EnqueueingCopiesLvaluesAndMovesTheRest) {
  eventpp::EventQueue<int, void(Counted), TypeParam> queue;
  queue.appendListener(1, [](Counted) {});
  Counted object;
  const Counted fixed;
  expect_at_most(0, 2, "of a temporary", [&] { queue.enqueue(1, Counted()); });
  expect_at_most(1, 1, "of an lvalue", [&] { queue.enqueue(1, object); });
  expect_at_most(1, 1, "of a const one", [&] { queue.enqueue(1, fixed); });
  expect_at_most(0, 2, "of one that is moved", [&] { queue.enqueue(1, std::move(object)); });
  expect_at_most(2, 1, "processOne", [&] { queue.processOne(); });
  expect_at_most(3 * 2, 3, "processIf",
                 [&] { queue.processIf([](const Counted&) { return true; }); });
  typename decltype(queue)::QueuedEvent event;
  queue.enqueue(1, object);
  expect_at_most(1, 1, "peekEvent", [&] { queue.peekEvent(&event); });
  expect_at_most(0, 2, "takeEvent", [&] { queue.takeEvent(&event); });
  expect_at_most(2, 1, "dispatch", [&] { queue.dispatch(event); });
  expect_at_most(2, 1, "dispatch of a const one", [&] { queue.dispatch(std::as_const(event)); });
}

TYPED_TEST(EventppCopies, ProcessingBySharedReferenceCopiesNothing) {
  eventpp::EventQueue<int, void(const Counted&), TypeParam> queue;
  queue.appendListener(1, [](const Counted&) {});
  queue.appendListener(1, [](const auto&) {});
  for (int i = 0; i < 4; ++i) queue.enqueue(1, Counted());
  typename decltype(queue)::QueuedEvent event;
  queue.takeEvent(&event);
  expect_at_most(0, 0, "all ways", [&] {
    queue.processOne();
    queue.processIf([](const Counted&) { return false; });
    queue.processUntil([](const Counted&) { return true; });
    queue.process();
    queue.dispatch(event);
    queue.dispatch(std::as_const(event));
  });
}

TEST(EventppCopying, EachModeOfPassingCopiesAsOften) {
  Counted object;
  eventpp::EventQueue<int, void(const Counted&), Included> with;
  with.appendListener(1, [](const Counted&) {});
  expect_at_most(0, 0, "event inside: dispatch", [&] { with.dispatch(object); });
  expect_at_most(1, 1, "event inside: enqueue", [&] { with.enqueue(object); });
  expect_at_most(0, 2, "event inside: a temporary", [&] { with.enqueue(Counted()); });
  expect_at_most(0, 0, "event inside: process", [&] { with.process(); });
  eventpp::EventQueue<int, void(const Counted&), Excluded> without;
  without.appendListener(1, [](const Counted&) {});
  expect_at_most(0, 0, "event apart: dispatch", [&] { without.dispatch(1, object); });
  expect_at_most(1, 1, "event apart: enqueue", [&] { without.enqueue(1, object); });
  expect_at_most(0, 2, "event apart: a temporary", [&] { without.enqueue(1, Counted()); });
  expect_at_most(0, 0, "event apart: process", [&] { without.process(); });
}

TYPED_TEST(EventppCopies, EveryListenerGetsTheArgumentUnmoved) {
  eventpp::EventQueue<int, void(std::string), TypeParam> queue;
  std::string said;
  for (int i = 0; i < 2; ++i) {
    queue.appendListener(1, [&](std::string text) { said += std::exchange(text, {}); });
  }
  queue.dispatch(1, "a");
  queue.enqueue(1, "b");
  queue.process();
  EXPECT_EQ(said, "aabb");
  eventpp::CallbackList<void(std::string&), TypeParam> list;
  for (int i = 0; i < 2; ++i) list.append([](std::string& text) { text += "!"; });
  list(said);
  EXPECT_EQ(said, "aabb!!");
}

struct Base {
  virtual ~Base() = default;
  virtual char name() const { return 'b'; }
};
struct Derived : Base {
  char name() const override { return 'd'; }
};

TYPED_TEST(EventppCopies, AQueueKeepsValuesAndPointersAsTheyAre) {
  eventpp::EventQueue<int, void(const Base&, const Base*), TypeParam> queue;
  std::string said;
  queue.appendListener(1, [&](const Base& base, const Base* pointer) {
    said += base.name();
    said += pointer->name();
  });
  const Derived derived;
  queue.dispatch(1, derived, &derived);
  queue.enqueue(1, derived, &derived);
  queue.process();
  EXPECT_EQ(said, "ddbd") << "what is derived is cut down to what the prototype names";
  eventpp::EventQueue<int, void(const std::unique_ptr<int>&), TypeParam> unique;
  int got = 0;
  unique.appendListener(1, [&](const std::unique_ptr<int>& p) { got += *p; });
  unique.enqueue(1, std::make_unique<int>(7));
  unique.enqueue(1, std::make_unique<int>(8));
  typename decltype(unique)::QueuedEvent event;
  unique.takeEvent(&event);
  unique.dispatch(event);
  unique.process();
  EXPECT_EQ(got, 15);
}

}  // namespace
