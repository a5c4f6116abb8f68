// SPDX-License-Identifier: MIT
// eventpp/eventdispatcher.h and eventpp/mixins/mixinfilter.h.
#include <eventpp/eventdispatcher.h>
#include <eventpp/mixins/mixinfilter.h>

#include "compat/policies.hpp"
#include "support/test.hpp"

namespace eventdispatcher_test { namespace {

template <class Policies>
class EventppDispatcher : public testing::Test {
 protected:
  using Dispatcher = eventpp::EventDispatcher<int, void(int, const std::string&), Policies>;

  auto says(std::string what) {
    return [this, what](int, const std::string&) { said_ += what; };
  }
  std::string said_by(const Dispatcher& dispatcher, int event) {
    said_.clear();
    dispatcher.dispatch(event, "x");
    return said_;
  }

  std::string said_;
};
TYPED_TEST_SUITE(EventppDispatcher, eventpp_test::DispatcherPolicies);

TYPED_TEST(EventppDispatcher, CallsTheListenersOfTheEvent) {
  typename TestFixture::Dispatcher dispatcher;
  EXPECT_EQ(this->said_by(dispatcher, 3), "");
  const auto b = dispatcher.appendListener(3, this->says("b"));
  dispatcher.prependListener(3, this->says("a"));
  dispatcher.insertListener(3, this->says("i"), b);
  dispatcher.appendListener(4, this->says("4"));
  dispatcher.insertListener(4, this->says("e"), b);
  EXPECT_EQ(this->said_by(dispatcher, 3), "aib");
  EXPECT_EQ(this->said_by(dispatcher, 4), "4e");
  EXPECT_EQ(this->said_by(dispatcher, 5), "");
}

TYPED_TEST(EventppDispatcher, TheEventIsAnArgumentIfTheNumbersAgree) {
  typename TestFixture::Dispatcher dispatcher;
  dispatcher.appendListener(
      3, [this](int n, const std::string& s) { this->said_ += std::to_string(n) + s; });
  dispatcher.dispatch(3, "with");
  dispatcher.dispatch(3, 8, "without");
  dispatcher.directDispatch(3, 9, "direct");
  EXPECT_EQ(this->said_, "3with8without9direct");
}

TYPED_TEST(EventppDispatcher, FindsAndRemovesByEventAndHandle) {
  typename TestFixture::Dispatcher dispatcher;
  EXPECT_FALSE(dispatcher.hasAnyListener(3));
  const auto handle = dispatcher.appendListener(3, this->says("a"));
  EXPECT_TRUE(dispatcher.hasAnyListener(3));
  EXPECT_TRUE(dispatcher.ownsHandle(3, handle));
  EXPECT_FALSE(dispatcher.ownsHandle(4, handle));
  EXPECT_FALSE(dispatcher.removeListener(4, handle));
  EXPECT_TRUE(dispatcher.removeListener(3, handle));
  EXPECT_FALSE(dispatcher.removeListener(3, handle));
  EXPECT_FALSE(dispatcher.hasAnyListener(3));
}

TYPED_TEST(EventppDispatcher, ListenersMayChangeTheListenersOfTheirEvent) {
  typename TestFixture::Dispatcher dispatcher;
  typename TestFixture::Dispatcher::Handle self;
  self = dispatcher.appendListener(3, [&](int, const std::string&) {
    this->said_ += "s";
    dispatcher.appendListener(3, this->says("n"));
    for (int event = 10; event < 60; ++event) dispatcher.appendListener(event, this->says("m"));
    EXPECT_TRUE(dispatcher.removeListener(3, self));
  });
  dispatcher.appendListener(3, this->says("l"));
  EXPECT_EQ(this->said_by(dispatcher, 3), "sl");
  EXPECT_EQ(this->said_by(dispatcher, 3), "ln");
  EXPECT_EQ(this->said_by(dispatcher, 59), "m");
}

TYPED_TEST(EventppDispatcher, ForEachIsOfOneEvent) {
  using Listeners = typename TestFixture::Dispatcher;
  Listeners dispatcher;
  EXPECT_TRUE(dispatcher.forEachIf(3, [](const typename Listeners::Callback&) { return false; }));
  dispatcher.appendListener(3, this->says("a"));
  dispatcher.appendListener(3, this->says("b"));
  dispatcher.appendListener(4, this->says("c"));
  dispatcher.forEach(3, [](const auto& handle, const auto& callback) {
    EXPECT_TRUE(handle);
    callback(1, "x");
  });
  EXPECT_EQ(this->said_, "ab");
  EXPECT_FALSE(dispatcher.forEachIf(3, [](const typename Listeners::Callback&) { return false; }));
}

TYPED_TEST(EventppDispatcher, IsCopiedMovedAndSwapped) {
  typename TestFixture::Dispatcher dispatcher;
  const auto handle = dispatcher.appendListener(3, this->says("a"));
  typename TestFixture::Dispatcher copy(dispatcher);
  EXPECT_FALSE(copy.ownsHandle(3, handle));
  EXPECT_TRUE(dispatcher.removeListener(3, handle));
  EXPECT_EQ(this->said_by(copy, 3), "a");
  typename TestFixture::Dispatcher moved(std::move(copy));
  EXPECT_EQ(this->said_by(moved, 3), "a");
  dispatcher = moved;
  swap(dispatcher, moved);
  moved = std::move(dispatcher);
  EXPECT_EQ(this->said_by(moved, 3), "a");
}

struct Mouse {
  int type;
  bool handled = false;
};
struct MousePolicies {
  static int getEvent(const Mouse& mouse, bool) { return mouse.type; }
  static bool canContinueInvoking(const Mouse& mouse, bool) { return !mouse.handled; }
};

TEST(EventppDispatching, GetEventFindsItInTheArguments) {
  eventpp::EventDispatcher<int, void(Mouse&, bool), MousePolicies> dispatcher;
  int calls = 0;
  dispatcher.appendListener(5, [&](Mouse& mouse, bool handle) {
    ++calls;
    mouse.handled = handle;
  });
  dispatcher.appendListener(5, [&](Mouse&, bool) { ++calls; });
  Mouse mouse{5};
  dispatcher.dispatch(mouse, false);
  EXPECT_EQ(calls, 2);
  dispatcher.dispatch(mouse, true);
  EXPECT_EQ(calls, 3);
}

struct Included {
  using ArgumentPassingMode = eventpp::ArgumentPassingIncludeEvent;
};
struct Excluded {
  using ArgumentPassingMode = eventpp::ArgumentPassingExcludeEvent;
};
template <class Dispatcher, class... Args>
concept Dispatches = requires(Dispatcher& d, Args... args) { d.dispatch(args...); };

TEST(EventppDispatching, TheModeOfPassingRefusesTheOtherNumber) {
  using Prototype = void(int, const char*);
  using Auto = eventpp::EventDispatcher<int, Prototype>;
  using With = eventpp::EventDispatcher<int, Prototype, Included>;
  using Without = eventpp::EventDispatcher<int, Prototype, Excluded>;
  static_assert(Dispatches<Auto, int, const char*> && Dispatches<Auto, int, int, const char*>);
  static_assert(Dispatches<With, int, const char*> && !Dispatches<With, int, int, const char*>);
  static_assert(!Dispatches<Without, int, const char*>);
  static_assert(Dispatches<Without, int, int, const char*>);
  Without dispatcher;
  int got = 0;
  dispatcher.appendListener(3, [&](int n, const char*) { got = n; });
  dispatcher.dispatch(3, 8, "x");
  EXPECT_EQ(got, 8);
}

TEST(EventppDispatching, AnEventIsAnythingHashedOrOrdered) {
  struct Point {
    int x;
    bool operator<(const Point& other) const { return x < other.x; }
  };
  eventpp::EventDispatcher<Point, void()> ordered;
  int calls = 0;
  ordered.appendListener({1}, [&] { ++calls; });
  ordered.dispatch(Point{1});
  ordered.dispatch(Point{2});
  eventpp::EventDispatcher<std::string, void()> hashed;
  hashed.appendListener("a", [&] { ++calls; });
  hashed.dispatch("a");
  EXPECT_EQ(calls, 2);
}

template <class Base>
struct Silent : Base {
  int own() const { return 7; }
};
template <class Base>
struct Counting : Base {
  mutable int asked = 0;
  template <class... Args>
  bool mixinBeforeDispatch(Args&&...) const {
    ++asked;
    return true;
  }
};
struct Filtered {
  using Mixins = eventpp::MixinList<Silent, eventpp::MixinFilter, Counting>;
};
struct FilteredUnderMutex : Filtered, eventpp_test::OwnMutex {};

template <class Policies>
class EventppFilter : public testing::Test {};
using FilterPolicies = testing::Types<Filtered, FilteredUnderMutex>;
TYPED_TEST_SUITE(EventppFilter, FilterPolicies);

TYPED_TEST(EventppFilter, SeesEveryEventFirstAndMayChangeOrEndIt) {
  eventpp::EventDispatcher<int, void(int, std::string), TypeParam> dispatcher;
  std::string said;
  dispatcher.appendListener(1, [&](int, const std::string& s) { said += s; });
  const auto first = dispatcher.appendFilter([](int&, std::string& s) {
    s += "!";
    return true;
  });
  dispatcher.appendFilter([](const int& event, const std::string& s) {
    EXPECT_TRUE(s.ends_with("!"));
    return event != 2;
  });
  dispatcher.dispatch(1, "a");
  EXPECT_EQ(said, "a!");
  dispatcher.dispatch(2, "b!");
  dispatcher.dispatch(9, "no listener!");
  EXPECT_EQ(dispatcher.asked, 2) << "each mixin once, in its order, until one says no";
  EXPECT_TRUE(dispatcher.removeFilter(first));
  EXPECT_FALSE(dispatcher.removeFilter(first));
  dispatcher.dispatch(1, "c!");
  EXPECT_EQ(said, "a!c!");
  EXPECT_EQ(dispatcher.own(), 7);
}

// A mixin may have its mixinBeforeDispatch from a base of its own.
struct Refusing {
  template <class... Args>
  bool mixinBeforeDispatch(Args&&...) const {
    return false;
  }
};
template <class Base>
struct Refuses : Base, Refusing {};
struct Refused {
  using Mixins = eventpp::MixinList<Silent, Refuses>;
};

TEST(EventppDispatching, AMixinIsAskedByWhatItInherits) {
  eventpp::EventDispatcher<int, void(), Refused> dispatcher;
  int calls = 0;
  dispatcher.appendListener(1, [&] { ++calls; });
  dispatcher.dispatch(1);
  EXPECT_EQ(calls, 0);
}

}}  // namespace eventdispatcher_test
