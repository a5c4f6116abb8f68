// SPDX-License-Identifier: MIT
// eventpp/heter*.h and eventpp/mixins/mixinheterfilter.h.
#include <eventpp/hetercallbacklist.h>
#include <eventpp/hetereventdispatcher.h>
#include <eventpp/hetereventqueue.h>
#include <eventpp/mixins/mixinheterfilter.h>
#include <eventpp/utilities/counterremover.h>
#include <eventpp/utilities/scopedremover.h>

#include "compat/policies.hpp"
#include "support/test.hpp"

namespace heter_test { namespace {

using Prototypes = eventpp::HeterTuple<void(), void(int), void(const std::string&, int)>;

template <class Policies>
class EventppHeter : public testing::Test {
 protected:
  // Adds one listener of each prototype by `add`.
  template <class Add>
  void add_all(Add&& add) {
    add([this] { said_ += "-"; });
    add([this](int n) { said_ += std::to_string(n); });
    add([this](const std::string& s, int n) { said_ += s + std::to_string(n); });
  }
  std::string said() { return std::exchange(said_, {}); }

  std::string said_;
};
TYPED_TEST_SUITE(EventppHeter, eventpp_test::QueuePolicies);

TYPED_TEST(EventppHeter, AListCallsThoseOfThePrototypeThatTheArgumentsFit) {
  eventpp::HeterCallbackList<Prototypes, TypeParam> list;
  EXPECT_TRUE(list.empty());
  this->add_all([&](auto f) { list.append(f); });
  EXPECT_TRUE(list);
  list();
  list(1);
  list("a", 2);
  EXPECT_EQ(this->said(), "-1a2");
  const auto handle = list.prepend([this](int) { this->said_ += "p"; });
  list.insert([this](int) { this->said_ += "i"; }, handle);
  list.insert([this] { this->said_ += "e"; }, handle);
  list(3);
  list();
  EXPECT_EQ(this->said(), "ip3-e");
  EXPECT_TRUE(handle);
  EXPECT_TRUE(list.remove(handle));
  EXPECT_FALSE(list.remove(handle));
  EXPECT_TRUE(handle.expired());
  EXPECT_FALSE(list.remove({}));
}

TYPED_TEST(EventppHeter, AListIsCopiedMovedAndLookedThrough) {
  eventpp::HeterCallbackList<Prototypes, TypeParam> list;
  this->add_all([&](auto f) { list.append(f); });
  auto copy = list;
  auto moved = std::move(list);
  EXPECT_TRUE(list.empty());  // NOLINT(bugprone-use-after-move): it is empty
  swap(list, moved);
  int seen = 0;
  list.template forEach<void(int)>([&](const auto& handle, const std::function<void(int)>& f) {
    f(7);
    EXPECT_TRUE(list.remove(handle));
    ++seen;
  });
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(this->said(), "7");
  list(1);
  copy(2);
  EXPECT_EQ(this->said(), "2");
  EXPECT_FALSE(copy.template forEachIf<void()>([](const auto&) { return false; }));
}

TYPED_TEST(EventppHeter, ADispatcherFindsByEventAndPrototype) {
  eventpp::HeterEventDispatcher<int, Prototypes, TypeParam> dispatcher;
  this->add_all([&](auto f) { dispatcher.appendListener(3, f); });
  dispatcher.appendListener(4, [this](int n) { this->said_ += "f" + std::to_string(n); });
  dispatcher.dispatch(3);
  dispatcher.dispatch(3, 1);
  dispatcher.dispatch(3, "a", 2);
  dispatcher.dispatch(4, 5);
  dispatcher.dispatch(4);
  EXPECT_EQ(this->said(), "-1a2f5");
  const auto handle = dispatcher.prependListener(3, [this] { this->said_ += "p"; });
  dispatcher.insertListener(3, [this] { this->said_ += "i"; }, handle);
  dispatcher.dispatch(3);
  EXPECT_EQ(this->said(), "ip-");
  EXPECT_FALSE(dispatcher.removeListener(4, handle));
  EXPECT_TRUE(dispatcher.removeListener(3, handle));
  EXPECT_TRUE(dispatcher.hasAnyListener(4));
  EXPECT_FALSE(dispatcher.hasAnyListener(5));
  int seen = 0;
  dispatcher.template forEach<void()>(3, [&](const std::function<void()>&) { ++seen; });
  EXPECT_EQ(seen, 2);
  auto copy = dispatcher;
  copy.dispatch(4, 6);
  EXPECT_EQ(this->said(), "f6");
}

TYPED_TEST(EventppHeter, AQueueKeepsOneOrderForAllPrototypes) {
  eventpp::HeterEventQueue<int, Prototypes, TypeParam> queue;
  this->add_all([&](auto f) { queue.appendListener(3, f); });
  EXPECT_FALSE(queue.process());
  queue.enqueue(3, 1);
  queue.enqueue(3);
  queue.enqueue(3, "a", 2);
  queue.enqueue(3, 4);
  EXPECT_FALSE(queue.emptyQueue());
  EXPECT_TRUE(queue.waitFor(std::chrono::hours(1)));
  EXPECT_TRUE(queue.processOne());
  EXPECT_EQ(this->said(), "1");
  EXPECT_TRUE(queue.processIf([](int n) { return n == 4; }));
  EXPECT_EQ(this->said(), "4") << "events of other prototypes stay";
  EXPECT_TRUE(queue.process());
  EXPECT_EQ(this->said(), "-a2");
  queue.dispatch(3, 9);
  EXPECT_EQ(this->said(), "9");
  {
    const typename decltype(queue)::DisableQueueNotify hold(&queue);
    queue.enqueue(3);
  }
  queue.wait();
  auto copy = queue;
  EXPECT_TRUE(copy.emptyQueue());
  queue.clearEvents();
  EXPECT_TRUE(queue.emptyQueue());
  EXPECT_FALSE(queue.waitFor(std::chrono::milliseconds(1)));
}

struct Included {
  using ArgumentPassingMode = eventpp::ArgumentPassingIncludeEvent;
};

TEST(EventppHeterOthers, TheEventIsAnArgumentIfThePoliciesSaySo) {
  using WithEvent = eventpp::HeterTuple<void(int), void(int, const std::string&)>;
  eventpp::HeterEventQueue<int, WithEvent, Included> queue;
  std::string said;
  queue.appendListener(3, [&](int event) { said += std::to_string(event); });
  queue.appendListener(3,
                       [&](int event, const std::string& s) { said += std::to_string(event) + s; });
  queue.dispatch(3);
  queue.enqueue(3, "a");
  queue.process();
  EXPECT_EQ(said, "33a");
}

struct Filtered {
  using Mixins = eventpp::MixinList<eventpp::MixinHeterFilter>;
};

TEST(EventppHeterOthers, AFilterSeesTheEventsOfItsPrototype) {
  using Two = eventpp::HeterTuple<void(int), void(std::string)>;
  eventpp::HeterEventQueue<int, Two, Filtered> queue;
  std::string said;
  queue.appendListener(1, [&](int n) { said += std::to_string(n); });
  queue.appendListener(1, [&](const std::string& s) { said += s; });
  const auto handle = queue.appendFilter([](int& n) { return ++n != 3; });
  queue.appendFilter([](std::string& s) {
    s += "!";
    return true;
  });
  queue.dispatch(1, 1);
  queue.dispatch(1, 2);
  queue.enqueue(1, std::string("a"));
  queue.process();
  EXPECT_EQ(said, "2a!");
  EXPECT_TRUE(queue.removeFilter(handle));
  queue.dispatch(1, 2);
  EXPECT_EQ(said, "2a!2");
}

TEST(EventppHeterOthers, RemoversKnowThemToo) {
  eventpp::HeterEventDispatcher<int, Prototypes> dispatcher;
  int calls = 0;
  eventpp::counterRemover(dispatcher).appendListener(1, [&](int) { ++calls; }, 2);
  for (int i = 0; i < 3; ++i) dispatcher.dispatch(1, i);
  EXPECT_EQ(calls, 2);
  {
    eventpp::ScopedRemover<decltype(dispatcher)> remover(dispatcher);
    remover.appendListener(1, [&] { ++calls; });
    dispatcher.dispatch(1);
  }
  dispatcher.dispatch(1);
  EXPECT_EQ(calls, 3);
  eventpp::HeterCallbackList<Prototypes> list;
  eventpp::counterRemover(list).append([&] { ++calls; });
  for (int i = 0; i < 3; ++i) list();
  EXPECT_EQ(calls, 4);
}

}}  // namespace heter_test
