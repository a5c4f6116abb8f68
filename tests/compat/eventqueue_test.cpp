// SPDX-License-Identifier: MIT
// eventpp/eventqueue.h and eventpp/utilities/orderedqueuelist.h.
#include <eventpp/eventqueue.h>
#include <eventpp/mixins/mixinfilter.h>
#include <eventpp/utilities/orderedqueuelist.h>

#include "compat/policies.hpp"
#include "support/test.hpp"

namespace {

using namespace std::chrono_literals;

template <class Policies>
class EventppQueue : public testing::Test {
 protected:
  using Queue = eventpp::EventQueue<int, void(int, const std::string&), Policies>;

  EventppQueue() {
    queue_.appendListener(3, [this](int n, const std::string& s) {
      said_ += std::to_string(n) + s;
      if (s == "again") queue_.enqueue(3, "more");
      if (s == "throw") throw std::runtime_error(s);
    });
  }
  std::string said() { return std::exchange(said_, {}); }
  void enqueue(int count) {
    for (int i = 0; i < count; ++i) queue_.enqueue(3, i, "x");
  }

  Queue queue_;
  std::string said_;
};
TYPED_TEST_SUITE(EventppQueue, eventpp_test::QueuePolicies);

TYPED_TEST(EventppQueue, ProcessesAllThatIsThere) {
  EXPECT_FALSE(this->queue_.process());
  EXPECT_TRUE(this->queue_.emptyQueue());
  this->queue_.enqueue(3, "a");
  this->queue_.enqueue(3, 8, "b");
  this->queue_.enqueue(4, "nobody listens");
  EXPECT_FALSE(this->queue_.emptyQueue());
  EXPECT_EQ(this->said(), "");
  EXPECT_TRUE(this->queue_.process());
  EXPECT_EQ(this->said(), "3a8b");
  EXPECT_TRUE(this->queue_.emptyQueue());
}

TYPED_TEST(EventppQueue, WhatIsEnqueuedMeanwhileWaitsForTheNextProcess) {
  this->queue_.enqueue(3, "again");
  EXPECT_TRUE(this->queue_.process());
  EXPECT_EQ(this->said(), "3again");
  EXPECT_TRUE(this->queue_.process());
  EXPECT_EQ(this->said(), "3more");
}

TYPED_TEST(EventppQueue, ProcessesOne) {
  this->enqueue(2);
  EXPECT_TRUE(this->queue_.processOne());
  EXPECT_EQ(this->said(), "0x");
  EXPECT_TRUE(this->queue_.processOne());
  EXPECT_FALSE(this->queue_.processOne());
  EXPECT_EQ(this->said(), "1x");
}

TYPED_TEST(EventppQueue, ProcessesThoseAPredicateWants) {
  this->enqueue(6);
  EXPECT_TRUE(this->queue_.processIf([](int n, const std::string&) { return n % 2 == 0; }));
  EXPECT_EQ(this->said(), "0x2x4x");
  EXPECT_FALSE(this->queue_.processIf([](int n, const std::string&) { return n % 2 == 0; }));
  this->enqueue(1);
  EXPECT_TRUE(this->queue_.processIf([] { return true; }));
  EXPECT_EQ(this->said(), "1x3x5x0x") << "what was refused stays in front";
}

TYPED_TEST(EventppQueue, ProcessesUntilAPredicateSaysSo) {
  this->enqueue(4);
  EXPECT_TRUE(this->queue_.processUntil([](int n, const std::string&) { return n == 2; }));
  EXPECT_EQ(this->said(), "0x1x");
  EXPECT_FALSE(this->queue_.processUntil([] { return true; }));
  EXPECT_TRUE(this->queue_.processUntil([] { return false; }));
  EXPECT_EQ(this->said(), "2x3x");
}

TYPED_TEST(EventppQueue, PeeksTakesAndDispatches) {
  typename TestFixture::Queue::QueuedEvent event;
  EXPECT_FALSE(this->queue_.peekEvent(&event));
  EXPECT_FALSE(this->queue_.takeEvent(&event));
  this->queue_.enqueue(3, 8, "x");
  EXPECT_TRUE(this->queue_.peekEvent(&event));
  EXPECT_FALSE(this->queue_.emptyQueue());
  EXPECT_TRUE(this->queue_.takeEvent(&event));
  EXPECT_TRUE(this->queue_.emptyQueue());
  EXPECT_EQ(event.event, 3);
  EXPECT_EQ(event.getEvent(), 3);
  EXPECT_EQ(std::get<0>(event.arguments), 8);
  EXPECT_EQ(event.template getArgument<1>(), "x");
  this->queue_.dispatch(event);
  this->queue_.dispatch(std::as_const(event));
  EXPECT_EQ(this->said(), "8x8x");
}

// So `while (queue.waitFor(0s));` waits until all is done, as the documentation has it.
TYPED_TEST(EventppQueue, AnEventInHandIsStillInTheQueue) {
  int asked = 0;
  this->queue_.appendListener(7, [&](int, const std::string&) {
    EXPECT_FALSE(this->queue_.emptyQueue());
    EXPECT_TRUE(this->queue_.waitFor(0s));
    EXPECT_FALSE(this->queue_.process());
    EXPECT_FALSE(this->queue_.emptyQueue());
    ++asked;
  });
  this->queue_.enqueue(7, "a");
  EXPECT_TRUE(this->queue_.processOne());
  this->queue_.enqueue(7, "b");
  EXPECT_TRUE(this->queue_.process());
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(this->queue_.emptyQueue());
  EXPECT_FALSE(this->queue_.waitFor(0s));
}

// There they were misplaced.
TYPED_TEST(EventppQueue, ArgumentsAreAligned) {
  struct alignas(128) Wide {
    char c = 0;
  };
  eventpp::EventQueue<int, void(const Wide&), TypeParam> queue;
  int calls = 0;
  queue.appendListener(1, [&](const Wide& wide) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&wide) % 128, 0U);
    ++calls;
  });
  for (int i = 0; i < 3; ++i) queue.enqueue(1, Wide());
  queue.process();
  EXPECT_EQ(calls, 3);
}

TYPED_TEST(EventppQueue, ClearsWithoutDispatching) {
  this->enqueue(3);
  this->queue_.clearEvents();
  EXPECT_TRUE(this->queue_.emptyQueue());
  EXPECT_FALSE(this->queue_.process());
}

// There the rest of the batch was gone.
TYPED_TEST(EventppQueue, AThrowLosesItsOwnEventAlone) {
  this->queue_.enqueue(3, "a");
  this->queue_.enqueue(3, "throw");
  this->queue_.enqueue(3, "b");
  this->queue_.enqueue(3, "c");
  EXPECT_THROW(this->queue_.process(), std::runtime_error);
  this->queue_.enqueue(3, "d");
  EXPECT_TRUE(this->queue_.process());
  EXPECT_EQ(this->said(), "3a3throw3b3c3d");
}

TYPED_TEST(EventppQueue, AVisitorGetsEventAndArguments) {
  this->queue_.enqueue(3, 8, "v");
  this->queue_.enqueue(4, 9, "w");
  std::string seen;
  const auto visit = [&](int event, int n, const std::string& s) {
    seen += std::to_string(event) + std::to_string(n) + s;
  };
  EXPECT_TRUE(this->queue_.processOneWith(visit));
  EXPECT_EQ(seen, "38v");
  EXPECT_TRUE(this->queue_.processQueueWith(visit));
  EXPECT_FALSE(this->queue_.processQueueWith(visit));
  EXPECT_EQ(seen, "38v49w");
  EXPECT_EQ(this->said(), "") << "not to the listeners";
}

TYPED_TEST(EventppQueue, CopiesAndMovesTakeTheListenersOnly) {
  typename TestFixture::Queue copy(this->queue_);
  this->queue_.enqueue(3, "mine");
  EXPECT_TRUE(copy.emptyQueue());
  copy.enqueue(3, "copy");
  copy.process();
  EXPECT_EQ(this->said(), "3copy");
  typename TestFixture::Queue moved(std::move(this->queue_));
  EXPECT_TRUE(moved.emptyQueue());
  moved.enqueue(3, "moved");
  moved.process();
  EXPECT_EQ(this->said(), "3moved");
  copy = moved;
  copy.enqueue(3, "assigned");
  copy.process();
  EXPECT_EQ(this->said(), "3assigned");
}

TYPED_TEST(EventppQueue, WaitsNoLongerThanAsked) {
  EXPECT_FALSE(this->queue_.waitFor(1ms));
  this->queue_.enqueue(3, "a");
  EXPECT_TRUE(this->queue_.waitFor(1h));
  this->queue_.wait();
}

template <class Policies>
class EventppQueueThreads : public testing::Test {};
using ThreadPolicies = testing::Types<eventpp::DefaultPolicies, eventpp_test::OwnList,
                                      eventpp_test::Spinning, eventpp_test::OwnMutex>;
TYPED_TEST_SUITE(EventppQueueThreads, ThreadPolicies);

TYPED_TEST(EventppQueueThreads, EventsOfTwoProducersReachTwoConsumersOnce) {
  constexpr int each = 2000;
  eventpp::EventQueue<int, void(int), TypeParam> queue;
  std::atomic<std::int64_t> sum{0};
  std::atomic<int> handled{0};
  queue.appendListener(1, [&](int n) {
    sum += n;
    ++handled;
  });
  const handoff::test::Crew producers(2, [&queue] {
    for (int i = 1; i <= each; ++i) queue.enqueue(1, i);
  });
  handoff::test::Crew(2, [&](int t) {
    while (handled < 2 * each) {
      if (queue.waitFor(1ms)) t == 0 ? queue.process() : queue.processOne();
    }
  }).join();
  EXPECT_EQ(sum, std::int64_t{each} * (each + 1));
  EXPECT_TRUE(queue.emptyQueue());
}

// The documented way to wait until others have processed everything.
TYPED_TEST(EventppQueueThreads, WaitingForNoTimeTellsWhenAllIsDone) {
  eventpp::EventQueue<int, void(int), TypeParam> queue;
  std::atomic<int> done{0};
  std::atomic<bool> stop{false};
  queue.appendListener(1, [&](int) {
    std::this_thread::yield();
    ++done;
  });
  std::jthread handler([&] {
    while (!stop) {
      if (queue.waitFor(1ms)) queue.process();
    }
  });
  for (int round = 1; round <= 200; ++round) {
    queue.enqueue(1, 0);
    queue.enqueue(1, 1);
    while (queue.waitFor(0s)) std::this_thread::yield();
    EXPECT_EQ(done, 2 * round);
  }
  stop = true;
}

// The end of the last of them tells a thread that slept before: else this hangs.
TYPED_TEST(EventppQueueThreads, TheEndOfTheLastDisablingTells) {
  using Queue = eventpp::EventQueue<int, void(), TypeParam>;
  Queue queue;
  std::thread waiter([&] { queue.wait(); });
  {
    const typename Queue::DisableQueueNotify outer(&queue);
    const typename Queue::DisableQueueNotify inner(&queue);
    queue.enqueue(1);
  }
  waiter.join();
  EXPECT_FALSE(queue.emptyQueue());
}

// Whether it waits already, or comes to wait while there are events.
TYPED_TEST(EventppQueueThreads, NobodyFindsAnEventWhileNotificationIsDisabled) {
  using Queue = eventpp::EventQueue<int, void(), TypeParam>;
  Queue queue;
  std::atomic<bool> held(false);
  std::vector<std::thread> waiters;
  {
    const typename Queue::DisableQueueNotify disabled(&queue);
    held = true;
    waiters.emplace_back([&] {
      queue.wait();
      EXPECT_FALSE(held) << "awake before the end of it";
    });
    queue.enqueue(1);
    queue.enqueue(1);
    EXPECT_FALSE(queue.waitFor(0s));
    EXPECT_FALSE(queue.waitFor(20ms));
    EXPECT_FALSE(queue.emptyQueue());
    waiters.emplace_back([&] {
      queue.wait();
      EXPECT_FALSE(held) << "came to wait, and found the events";
    });
    std::this_thread::sleep_for(20ms);  // what is wrong has time to show
    held = false;
  }
  waiters.front().join();
  queue.enqueue(1);  // tells the other one too, if the end told one of them only
  waiters.back().join();
  EXPECT_TRUE(queue.waitFor(0s));
}

TEST(EventppQueueing, MoveOnlyArgumentsAndFilters) {
  eventpp::EventQueue<int, void(std::unique_ptr<int>&)> queue;
  int got = 0;
  queue.appendListener(1, [&](std::unique_ptr<int>& p) { got = *p; });
  queue.enqueue(1, std::make_unique<int>(7));
  queue.process();
  EXPECT_EQ(got, 7);
  struct Filtered {
    using Mixins = eventpp::MixinList<eventpp::MixinFilter>;
  };
  eventpp::EventQueue<int, void(int, std::string), Filtered> filtered;
  std::string said;
  filtered.appendListener(1, [&](int, const std::string& s) { said += s; });
  filtered.appendFilter([](int& n, std::string& s) {
    s += "!";
    return n != 2;
  });
  filtered.enqueue(1, "a");
  filtered.enqueue(1, 2, "b");
  EXPECT_EQ(said, "") << "asked when they are processed";
  filtered.process();
  EXPECT_EQ(said, "a!");
}

struct Task {
  int event;
  int priority;
};
struct ByPriority {
  template <class T>
  bool operator()(const T& a, const T& b) const {
    return std::get<0>(a.arguments).priority > std::get<0>(b.arguments).priority;
  }
};
struct Prioritised {
  template <class Item>
  using QueueList = eventpp::OrderedQueueList<Item, ByPriority>;
  static int getEvent(const Task& task) { return task.event; }
};
struct Ordered {
  template <class Item>
  using QueueList = eventpp::OrderedQueueList<Item>;
};

TEST(EventppQueueing, AnOrderedListGivesThemInItsOrder) {
  eventpp::EventQueue<int, void(const Task&), Prioritised> queue;
  std::string said;
  for (int event : {1, 2}) {
    queue.appendListener(event, [&](const Task& task) {
      said += std::to_string(task.event) + std::to_string(task.priority) + " ";
    });
  }
  queue.enqueue(Task{1, 3});
  queue.enqueue(Task{2, 5});
  queue.enqueue(Task{2, 3});
  queue.processIf([](const Task& task) { return task.priority == 5; });
  queue.enqueue(Task{1, 4});
  queue.process();
  EXPECT_EQ(said, "25 14 13 23 ") << "equals as they came";
  eventpp::EventQueue<int, void(int), Ordered> by_event;
  said.clear();
  for (int event : {1, 2, 3}) {
    by_event.appendListener(event, [&](int n) { said += std::to_string(n); });
    by_event.enqueue(4 - event);
  }
  by_event.process();
  EXPECT_EQ(said, "123");
}

}  // namespace
