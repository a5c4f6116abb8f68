// SPDX-License-Identifier: MIT
//
// EventQueue: every way to drain it, the books, full and closed, what throws, what it frees.
#include <handoff/event/event_queue.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <malloc.h>

#include <gtest/gtest.h>

#include <handoff/core/unique_function.hpp>

#include "books/event_books.hpp"
#include "books/slab_books.hpp"
#include "support/allocated.hpp"
#include "support/failing.hpp"
#include "support/next.hpp"
#include "support/support.hpp"

namespace event_queue_test { namespace {

using namespace handoff;
using test::take_if;
using test::take_until;
using namespace std::chrono_literals;
template <class Policies>
using QueueOf = test::Audited<EventQueue<int, void(int), Policies>>;
using Queue = QueueOf<EventPolicies>;

// Enqueues 0, 1, ... with the last digit as the key.
template <class Q>
void fill(Q& queue, int count) {
  for (int i = 0; i < count; ++i) ASSERT_EQ(queue.enqueue(i % 10, i), Status::ok);
}

// What is left in the queue, in its order.
template <class Q>
std::vector<int> drain(Q& queue) {
  std::vector<int> values;
  queue.drain([&](int, int value) { values.push_back(value); });
  return values;
}

std::vector<int> range(int first, int last, int step = 1) {
  std::vector<int> values;
  for (int i = first; i < last; i += step) values.push_back(i);
  return values;
}

void expect_books(const Tally& tally, std::uint64_t accepted, std::uint64_t done,
                  std::uint64_t pending) {
  EXPECT_TRUE(tally.balanced());
  EXPECT_EQ(tally.accepted, accepted);
  EXPECT_EQ(tally.done, done);
  EXPECT_EQ(tally.pending, pending);
}

TEST(EventQueue, DeliversInOrder) {
  Queue queue;
  std::vector<int> seen;
  for (int key = 0; key < 10; ++key) {
    queue.append_listener(key, [&](int value) { seen.push_back(value); });
  }
  EXPECT_EQ(queue.drain(), 0U);
  EXPECT_TRUE(queue.empty());
  fill(queue, 5000);  // many chunks
  EXPECT_FALSE(queue.empty());
  EXPECT_TRUE(seen.empty());
  expect_books(queue.tally(), 5000, 0, 5000);
  EXPECT_EQ(queue.drain(), 5000U);
  EXPECT_EQ(seen, range(0, 5000));
  EXPECT_TRUE(queue.empty());
  expect_books(queue.tally(), 5000, 5000, 0);
}

TEST(EventQueue, ADrainEndsAlthoughListenersEnqueue) {
  Queue queue;
  int calls = 0;
  queue.append_listener(1, [&](int value) {
    ++calls;
    ASSERT_EQ(queue.enqueue(1, value + 1), Status::ok);
  });
  ASSERT_EQ(queue.enqueue(1, 0), Status::ok);
  for (int round = 1; round <= 1000; ++round) {
    EXPECT_EQ(queue.drain(), 1U);
    EXPECT_EQ(calls, round);
  }
  EXPECT_EQ(drain(queue), std::vector{1000});
}

TEST(EventQueue, OneAtATime) {
  Queue queue;
  int last = -1;
  queue.append_listener(0, [&](int value) { last = value; });
  EXPECT_EQ(queue.drain(1), 0U);
  ASSERT_EQ(queue.enqueue(0, 5), Status::ok);
  ASSERT_EQ(queue.enqueue(0, 6), Status::ok);
  EXPECT_EQ(queue.drain(1), 1U);
  EXPECT_EQ(last, 5);
  EXPECT_EQ(queue.drain([&](int, int value) { last = value; }, 1), 1U);
  EXPECT_EQ(last, 6);
  EXPECT_EQ(queue.drain([](int, int) {}, 1), 0U);
}

TEST(EventQueue, RefusedEventsStayInTheirPlaces) {
  Queue queue;
  std::vector<int> seen;
  for (int key = 0; key < 10; ++key) {
    queue.append_listener(key, [&](int value) { seen.push_back(value); });
  }
  fill(queue, 1000);
  EXPECT_EQ(queue.drain_if(take_if([](int key, int) { return key % 2 == 1; })), 500U);
  EXPECT_EQ(seen, range(1, 1000, 2));
  EXPECT_EQ(queue.drain_if(take_if([](int value) { return value >= 998; })), 1U);
  EXPECT_EQ(queue.drain_if(take_if([] { return false; })), 0U);
  fill(queue, 3);  // behind what has come back
  auto expected = range(0, 998, 2);
  expected.insert(expected.end(), {0, 1, 2});
  EXPECT_EQ(drain(queue), expected);
  expect_books(queue.tally(), 1003, 1003, 0);
}

TEST(EventQueue, UntilTold) {
  Queue queue;
  fill(queue, 600);
  EXPECT_EQ(queue.drain_if(take_until([](int value) { return value == 450; })), 450U);
  EXPECT_EQ(queue.drain_if(take_until([](int value) { return value == 450; })), 0U);
  EXPECT_EQ(drain(queue), range(450, 600));
}

TEST(EventQueue, AVisitorMayStop) {
  Queue queue;
  fill(queue, 600);
  int seen = 0;
  EXPECT_EQ(queue.drain([&](int key, int& value) {
    EXPECT_EQ(key, value % 10);
    return ++seen <= 100 ? Next::take : Next::stop;
  }),
            100U);
  EXPECT_EQ(seen, 101);
  EXPECT_EQ(drain(queue), range(100, 600));
}

TEST(EventQueue, AVisitorMayLeaveEventsWhereTheyAre) {
  Queue queue;
  fill(queue, 600);
  EXPECT_EQ(queue.drain([](int, int& value) {
    if (value == 500) return Next::stop;
    if (value % 2 == 0) return Next::take;
    ++value;
    return Next::leave;
  }),
            250U);
  std::vector<int> expected = range(2, 502, 2);  // as the visitor has left them
  for (const int value : range(500, 600)) expected.push_back(value);
  EXPECT_EQ(drain(queue), expected);
  expect_books(queue.tally(), 600, 600, 0);
}

// What is left counts too.
TEST(EventQueue, ADrainGoesThroughNoMoreThanItIsTold) {
  Queue queue;
  fill(queue, 10);
  EXPECT_EQ(queue.drain([](int, int) {}, 0), 0U);
  EXPECT_EQ(queue.drain(3), 3U);
  EXPECT_EQ(queue.drain([](int, int value) { return value == 4 ? Next::take : Next::leave; }, 3),
            1U);
  EXPECT_EQ(queue.drain_if([](int) { return Next::leave; }, 2), 0U);
  EXPECT_EQ(queue.drain_if([](int) { return Next::take; }, 2), 2U);
  EXPECT_EQ(drain(queue), (std::vector{6, 7, 8, 9}));
  expect_books(queue.tally(), 10, 10, 0);
}

TEST(EventQueue, FiltersApplyToVisitorsToo) {
  Queue queue;
  queue.append_filter([](int& value) {
    value += 100;
    return value % 2 == 0;
  });
  fill(queue, 10);
  EXPECT_EQ(drain(queue), range(100, 110, 2));
  expect_books(queue.tally(), 10, 10, 0);
}

TEST(EventQueue, PeekTakeDispatch) {
  EventQueue<std::string, void(std::string, const int&)> queue;
  std::string seen;
  queue.append_listener("a", [&](const std::string& text, int n) { seen = text + char('0' + n); });
  EXPECT_FALSE(queue.peek().has_value());
  EXPECT_FALSE(queue.take().has_value());
  ASSERT_EQ(queue.enqueue("a", "first", 1), Status::ok);
  ASSERT_EQ(queue.enqueue("a", "second", 2), Status::ok);
  const auto copy = queue.peek();
  ASSERT_TRUE(copy.has_value());
  EXPECT_EQ(std::get<0>(copy->arguments), "first");
  auto event = queue.take();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->key, "a");
  queue.dispatch(*event);
  EXPECT_EQ(seen, "first1");
  EXPECT_EQ(queue.drain(), 1U);
  EXPECT_EQ(seen, "second2");
}

TEST(EventQueue, KeysFromArguments) {
  struct Message {
    int kind;
    std::unique_ptr<int> body;
  };
  struct Policies : EventPolicies {
    static int get_key(const Message& message) { return message.kind; }
  };
  EventQueue<int, void(Message), Policies> queue;
  int sum = 0;
  queue.append_listener(3, [&](const Message& message) { sum += *message.body; });
  ASSERT_EQ(queue.enqueue(Message{3, std::make_unique<int>(4)}), Status::ok);
  ASSERT_EQ(queue.enqueue(5, Message{3, std::make_unique<int>(8)}), Status::ok);
  EXPECT_EQ(queue.drain(), 2U);
  EXPECT_EQ(sum, 4);
}

// An event that knows where it must stand and how many there are.
struct alignas(256) Wide {
  explicit Wide(int number) : value(number) { count(1); }
  Wide(Wide&& other) noexcept : value(other.value) { count(1); }
  ~Wide() { count(-1); }
  void count(int by) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(this) % 256, 0U);
    alive += by;
  }
  int value;
  static inline int alive = 0;
};

TEST(EventQueue, OverAlignedMoveOnlyArgumentsAllEnd) {
  {
    test::Audited<EventQueue<int, void(const Wide&)>> queue;
    int sum = 0;
    queue.append_listener(0, [&](const Wide& wide) { sum += wide.value; });
    for (int i = 0; i < 300; ++i) ASSERT_EQ(queue.enqueue(0, Wide(i)), Status::ok);
    EXPECT_EQ(Wide::alive, 300);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(queue.drain(1), 1U);
    EXPECT_EQ(Wide::alive, 200);
    EXPECT_EQ(sum, 99 * 50);
    EXPECT_EQ(queue.drain_if(take_if([](const Wide& wide) { return wide.value % 2 == 0; })), 100U);
    EXPECT_EQ(Wide::alive, 100);
    EXPECT_TRUE(queue.take().has_value());
  }
  EXPECT_EQ(Wide::alive, 0) << "the end of a queue destroys what is left";
}

// So large that a chunk holds few.
struct Bulky {
  Bulky(int number) : value(number) {}  // NOLINT(google-explicit-constructor)
  int value;
  std::byte rest[1000] = {};
};

// At every position in the queue, in several chunks, and in every listener of the event.
TEST(EventQueue, AThrowingListenerLosesNothing) {
  constexpr int count = 60;
  constexpr std::size_t listeners = 3;
  for (std::size_t place = 0; place < count * listeners; ++place) {
    const auto event = static_cast<int>(place / listeners);
    test::Audited<EventQueue<int, void(const Bulky&)>> queue;
    std::array<std::vector<int>, listeners> seen;
    for (int key = 0; key < 10; ++key) {
      for (std::size_t i = 0; i < listeners; ++i) {
        queue.append_listener(key, [&, i, throws = place % listeners == i](const Bulky& bulky) {
          if (throws && bulky.value == event) throw std::runtime_error("as asked");
          seen[i].push_back(bulky.value);
        });
      }
    }
    fill(queue, count);
    EXPECT_THROW(queue.drain(), std::runtime_error);
    const Tally tally = queue.tally();
    EXPECT_TRUE(tally.balanced());
    EXPECT_EQ(tally.failed, 1U);
    EXPECT_EQ(tally.pending, static_cast<std::uint64_t>(count - event - 1));
    EXPECT_THROW(std::rethrow_exception(tally.first_failure), std::runtime_error);
    queue.drain();
    for (std::size_t i = 0; i < listeners; ++i) {
      auto expected = range(0, count);
      if (i >= place % listeners) expected.erase(expected.begin() + event);
      EXPECT_EQ(seen[i], expected);
    }
  }
}

TEST(EventQueue, AThrowingPredicateOrVisitor) {
  Queue queue;
  fill(queue, 10);
  EXPECT_THROW(queue.drain_if(take_if([](int value) {
    if (value == 5) throw std::runtime_error("as asked");
    return value < 3;
  })),
               std::runtime_error);
  EXPECT_THROW(queue.drain([](int, int value) {
    if (value == 6) throw std::runtime_error("as asked");
  }),
               std::runtime_error);
  EXPECT_EQ(drain(queue), range(7, 10));
  const Tally tally = queue.tally();
  EXPECT_EQ(tally.failed, 1U) << "the visitor's; a predicate has not begun the event";
  EXPECT_TRUE(tally.balanced());
}

struct Fragile {
  explicit Fragile(int number) : value(number) {}
  Fragile(const Fragile& other) : value(other.value) {
    if (value % 3 == 0) throw std::runtime_error("as asked");
  }
  int value;
};

TEST(EventQueue, AnEventThatCannotBeMadeWasNeverThere) {
  test::Audited<EventQueue<int, void(const Fragile&)>> queue;
  std::vector<int> seen;
  for (int i = 0; i < 900; ++i) {
    const Fragile fragile(i);
    if (i % 3 == 0) {
      EXPECT_THROW(static_cast<void>(queue.enqueue(0, fragile)), std::runtime_error);
    } else {
      ASSERT_EQ(queue.enqueue(0, fragile), Status::ok);
    }
  }
  EXPECT_EQ(queue.drain([&](int, const Fragile& f) { seen.push_back(f.value); }), 600U);
  EXPECT_EQ(seen.front(), 1);
  EXPECT_EQ(seen.back(), 899);
  expect_books(queue.tally(), 600, 600, 0);
}

TEST(EventQueue, ADrainOfOnePassesOverAnEventThatCouldNotBeMade) {
  test::Audited<EventQueue<int, void(const Fragile&)>> queue;
  for (const int i : {3, 6, 7, 9, 8}) {
    try {
      (void)queue.enqueue(0, Fragile(i));
    } catch (const std::runtime_error&) {
    }
  }
  int seen = 0;
  const auto see = [&](int, const Fragile& fragile) { seen = fragile.value; };
  EXPECT_EQ(queue.drain(see, 1), 1U);
  EXPECT_EQ(seen, 7);
  EXPECT_EQ(queue.drain(see, 1), 1U);
  EXPECT_EQ(seen, 8);
  EXPECT_EQ(queue.drain(see, 1), 0U);
}

TEST(EventQueue, MemoryThatFailsLosesNothing) {
  test::until_whole(test::Call::allocation, 0, [] {
    try {
      Queue queue;
      int accepted = 0;
      int seen = 0;
      try {
        for (; accepted < 3000; ++accepted) {
          if (queue.enqueue(accepted % 10, accepted) != Status::ok) break;
        }
      } catch (const std::bad_alloc&) {
      }
      const auto even = [](int value) { return value % 2 == 0; };
      queue.append_listener(4, [&](int) { ++seen; });
      try {
        queue.drain_if(take_if(even));
      } catch (const std::bad_alloc&) {
      }
      const Tally tally = queue.tally();
      EXPECT_TRUE(tally.balanced());
      EXPECT_EQ(tally.accepted, static_cast<std::uint64_t>(accepted));
      EXPECT_EQ(tally.failed, 0U);
      EXPECT_EQ(drain(queue).size() + tally.done, static_cast<std::size_t>(accepted));
    } catch (const std::bad_alloc&) {
    }
  });
}

TEST(EventQueue, TheSteadyStateAllocatesNothing) {
  Queue queue;
  int sum = 0;
  queue.append_listener(1, [&](int value) { sum += value; });
  const auto round = [&] {
    for (int i = 0; i < 2000; ++i) ASSERT_EQ(queue.enqueue(1, 1), Status::ok);
    queue.drain();
  };
  round();
  round();
  const std::size_t before = test::calls(test::Call::allocation);
  for (int i = 0; i < 50; ++i) round();
  EXPECT_EQ(test::calls(test::Call::allocation), before);
  EXPECT_EQ(sum, 52 * 2000);
}

TEST(EventQueue, ItsEndInAListenerEndsTheCall) {
  for (const bool from_visitor : {false, true}) {
    auto queue = std::make_unique<EventQueue<int, void(std::shared_ptr<int>)>>();
    const auto kept = std::make_shared<int>();
    int calls = 0;
    const auto end = [&] {
      ++calls;
      queue.reset();
    };
    queue->append_listener(0, [&](const std::shared_ptr<int>& value) {
      end();
      EXPECT_EQ(*value, 0) << "the event lives as long as its listener runs";
    });
    queue->append_listener(0, [&](const std::shared_ptr<int>&) { ++calls; });
    for (int i = 0; i < 500; ++i) ASSERT_EQ(queue->enqueue(0, kept), Status::ok);
    if (from_visitor) {
      queue->drain([&](int, std::shared_ptr<int>&) { end(); });
    } else {
      queue->drain();
    }
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(kept.use_count(), 1) << "all the others are destroyed";
  }
}

TEST(EventQueue, ClearCountsAsCancelled) {
  Queue queue;
  fill(queue, 700);
  EXPECT_EQ(queue.clear(), 700U);
  EXPECT_EQ(queue.drain(), 0U);
  EXPECT_EQ(queue.tally().cancelled, 700U);
  EXPECT_TRUE(queue.tally().balanced());
}

TEST(EventQueue, ClosedIsClosed) {
  Queue queue;
  fill(queue, 2);
  queue.shut();
  EXPECT_EQ(queue.tally().pending, 2U);
  EXPECT_EQ(queue.enqueue(0, 1), Status::closed);
  EXPECT_TRUE(queue.closed());
  EXPECT_EQ(queue.wait(), Status::ok);
  EXPECT_EQ(queue.drain(), 2U);
  EXPECT_EQ(queue.wait(), Status::closed);
  queue.shut();
  EXPECT_EQ(queue.tally().done, 2U);
}

TEST(EventQueue, Batches) {
  using Q = EventQueue<int, void(std::string)>;
  Q queue;
  std::vector<Q::Event> events;
  for (int i = 0; i < 500; ++i) events.emplace_back(std::in_place, i, std::to_string(i));
  EXPECT_EQ(queue.enqueue_batch(events), 500U);
  int next = 0;
  queue.drain([&](int key, const std::string& text) {
    EXPECT_EQ(key, next);
    EXPECT_EQ(text, std::to_string(next++));
  });
  EXPECT_EQ(next, 500);
  queue.shut();
  EXPECT_EQ(queue.enqueue_batch(events), 0U);
}

struct Bounded : EventPolicies {
  static constexpr bool bounded = true;
};

TEST(EventQueue, RejectsWhenFull) {
  EventQueue<int, void(std::unique_ptr<int>), Bounded> queue({.capacity = 2});
  auto mine = std::make_unique<int>(7);
  for (int round = 0; round < 5; ++round) {
    EXPECT_EQ(queue.enqueue(0, std::make_unique<int>(1)), Status::ok);
    EXPECT_EQ(queue.enqueue(0, std::make_unique<int>(2)), Status::ok);
    EXPECT_EQ(queue.enqueue(0, std::move(mine)), Status::full);
    ASSERT_NE(mine, nullptr) << "a refused argument is still the caller's";
    EXPECT_EQ(queue.drain(), 2U);
  }
  EXPECT_EQ(queue.tally().accepted, 10U);
}

TEST(EventQueue, OverwritesTheOldest) {
  QueueOf<Bounded> queue({.capacity = 3, .on_full = OnFull::overwrite_oldest});
  fill(queue, 10);
  EXPECT_EQ(drain(queue), range(7, 10));
  EXPECT_EQ(queue.tally().expired, 7U);
  EXPECT_TRUE(queue.tally().balanced());
}

TEST(EventQueue, OnFullThatItHasNotIsMisuse) {
  for (const OnFull on_full : {OnFull::run_here, OnFull::grow}) {
    EXPECT_THROW(QueueOf<Bounded>({.on_full = on_full}), Misuse);
  }
}

TEST(EventQueue, WaitsForRoom) {
  QueueOf<Bounded> queue({.capacity = 2, .on_full = OnFull::wait});
  std::thread producer([&] { fill(queue, 100); });
  std::vector<int> seen;
  while (seen.size() < 100) {
    ASSERT_EQ(queue.wait(), Status::ok);
    queue.drain([&](int, int value) {
      // Inside the queue's own listener nobody else might make room.
      if (value == 50) {
        while (queue.enqueue(9, 1000) == Status::ok) {
        }
      }
      if (value < 1000) seen.push_back(value);
    });
  }
  producer.join();
  EXPECT_EQ(seen, range(0, 100));
}

TEST(EventQueue, WaitsForRoomNoLongerThanItIsTold) {
  EventQueue<int, void(std::unique_ptr<int>), Bounded> queue(
      {.capacity = 1, .on_full = OnFull::wait});
  auto mine = std::make_unique<int>(2);
  std::stop_source source;
  EXPECT_EQ(queue.enqueue(0ns, 0, std::make_unique<int>(1)), Status::ok) << "there is room";
  EXPECT_EQ(queue.enqueue(1ms, 0, std::move(mine)), Status::timed_out);
  std::thread stopper([&] { source.request_stop(); });
  EXPECT_EQ(queue.enqueue({1h, source.get_token()}, 0, std::move(mine)), Status::stopped);
  stopper.join();
  ASSERT_NE(mine, nullptr) << "a refused argument is still the caller's";
  std::vector<decltype(queue)::Event> events;
  events.emplace_back(std::in_place, 0, std::move(mine));
  EXPECT_EQ(queue.enqueue_batch(events, 1ms), 0U);
  EXPECT_EQ(queue.drain(), 1U);
  EXPECT_EQ(queue.enqueue_batch(events, 1ms), 1U);
  EXPECT_EQ(queue.tally().accepted, 2U);
}

TEST(EventQueue, WaitsForRoomByTheKeyInside) {
  struct Policies : Bounded {
    static int get_key(int value) { return value % 10; }
  };
  QueueOf<Policies> queue({.capacity = 1, .on_full = OnFull::wait});
  EXPECT_EQ(queue.enqueue(1ms, 13), Status::ok);
  EXPECT_EQ(queue.enqueue(1ms, 14), Status::timed_out);
  EXPECT_EQ(queue.drain([](int key, int value) { EXPECT_EQ(key, value % 10); }), 1U);
}

// While notifications are held back too: by the batch itself, and by another thread.
TEST(EventQueue, WhoWaitsForRoomWakesWhoCanMakeIt) {
  using Q = QueueOf<Bounded>;
  Q queue({.capacity = 2, .on_full = OnFull::wait});
  std::optional<Q::NotificationHold> hold(std::in_place, queue);
  std::thread producer([&] {
    std::vector<Q::Event> events;
    for (int i = 0; i < 100; ++i) events.emplace_back(std::in_place, 0, i);
    EXPECT_EQ(queue.enqueue_batch(events), 100U);
    hold.reset();  // the last events wait for nothing, so they wake nobody before
  });
  std::vector<int> seen;
  while (seen.size() < 100) {
    ASSERT_EQ(queue.wait(), Status::ok);
    queue.drain([&](int, int value) { seen.push_back(value); });
  }
  producer.join();
  EXPECT_EQ(seen, range(0, 100));
}

struct Urgent : EventPolicies {
  static int priority(int key, int) { return key; }
};

TEST(EventQueue, PrioritiesAndThenTheOrderOfEnqueueing) {
  QueueOf<Urgent> queue;
  fill(queue, 100);
  std::vector<int> expected;
  for (int key = 9; key >= 0; --key) {
    for (int i = key; i < 100; i += 10) expected.push_back(i);
  }
  EXPECT_EQ(queue.drain_if(take_until([](int value) { return value == 8; })), 10U);
  EXPECT_EQ(queue.enqueue(9, 999), Status::ok);
  std::vector<int> rest(expected.begin() + 10, expected.end());
  rest.insert(rest.begin(), 999);
  EXPECT_EQ(drain(queue), rest);
  expect_books(queue.tally(), 101, 101, 0);
}

struct Coalescing : EventPolicies {
  static constexpr bool coalesce = true;
};

TEST(EventQueue, NewerEventsReplaceWaitingOnes) {
  QueueOf<Coalescing> queue;
  fill(queue, 1000);
  EXPECT_EQ(drain(queue), range(990, 1000));
  fill(queue, 15);
  EXPECT_EQ(queue.drain_if(take_if([](int value) { return value != 7; })), 9U);
  fill(queue, 10);
  EXPECT_EQ(drain(queue).size(), 11U) << "one that was given back is not replaced";
  const Tally tally = queue.tally();
  EXPECT_TRUE(tally.balanced());
  EXPECT_EQ(tally.done, 30U);
  EXPECT_EQ(tally.cancelled, 995U);
}

TEST(EventQueue, ADrainOfOnePassesOverAnEventThatANewerOneReplaced) {
  QueueOf<Coalescing> queue;
  for (const int value : {1, 2, 3}) (void)queue.enqueue(7, value);
  int seen = 0;
  EXPECT_EQ(queue.drain([&](int, int value) { seen = value; }, 1), 1U);
  EXPECT_EQ(seen, 3);
  EXPECT_EQ(queue.drain([](int, int) {}, 1), 0U);
}

struct Expiring : EventPolicies {
  static constexpr bool expires = true;
};

TEST(EventQueue, ADrainOfOnePassesOverALateEvent) {
  QueueOf<Expiring> queue;
  EXPECT_EQ(queue.enqueue_expiring(sync::clock::now() - 1ns, 0, 1), Status::ok);
  EXPECT_EQ(queue.enqueue(0, 2), Status::ok);
  int seen = 0;
  EXPECT_EQ(queue.drain([&](int, int value) { seen = value; }, 1), 1U);
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(queue.drain([](int, int) {}, 1), 0U);
}

TEST(EventQueue, LateEventsExpire) {
  QueueOf<Expiring> queue;
  const auto now = sync::clock::now();
  EXPECT_EQ(queue.enqueue_expiring(now - 1ns, 0, 1), Status::ok);
  EXPECT_EQ(queue.enqueue_expiring(now + 1h, 0, 2), Status::ok);
  EXPECT_EQ(queue.enqueue(0, 3), Status::ok);
  EXPECT_EQ(queue.enqueue_expiring(0ns, 0, 4), Status::ok);
  EXPECT_EQ(queue.enqueue_expiring(1h, 0, 5), Status::ok);
  EXPECT_EQ(queue.enqueue_expiring(std::chrono::steady_clock::now() + 1h, 0, 6), Status::ok);
  EXPECT_EQ(queue.enqueue_expiring(std::chrono::steady_clock::now() - 1ns, 0, 7), Status::ok);
  EXPECT_EQ(drain(queue), (std::vector{2, 3, 5, 6}));
  EXPECT_EQ(queue.tally().expired, 3U);
  EXPECT_TRUE(queue.tally().balanced());
}

TEST(EventQueue, ADrainThatPassedALateEventTakesNoneThatCameMeanwhile) {
  QueueOf<Expiring> queue;
  queue.append_listener(0, [&](int value) { EXPECT_EQ(queue.enqueue(0, value + 1), Status::ok); });
  EXPECT_EQ(queue.enqueue_expiring(0ns, 0, 1), Status::ok);
  EXPECT_EQ(queue.enqueue(0, 2), Status::ok);
  EXPECT_EQ(queue.drain(2), 1U);
  EXPECT_EQ(drain(queue), std::vector{3});
}

TEST(EventQueue, WaitingEnds) {
  for (const auto spin : {-1ns, 0ns, 100'000ns}) {
    Queue queue({.spin_for = spin});
    EXPECT_EQ(queue.wait(1ms), Status::timed_out);
    sync::StopSource source;
    std::thread stopper([&] { source.request_stop(); });
    EXPECT_EQ(queue.wait(source.token()), Status::stopped);
    stopper.join();
    std::thread producer([&] { EXPECT_EQ(queue.enqueue(1, 1), Status::ok); });
    EXPECT_EQ(queue.wait(), Status::ok);
    producer.join();
    EXPECT_EQ(queue.wait(0s), Status::ok);
    queue.drain();
    std::thread closer([&] { queue.shut(); });
    EXPECT_EQ(queue.wait(), Status::closed);
    closer.join();
  }
}

TEST(EventQueue, HeldNotificationsComeAtTheEnd) {
  Queue queue({.spin_for = 0ns});
  std::thread consumer([&] {
    EXPECT_EQ(queue.wait(), Status::ok);
    EXPECT_EQ(queue.drain(), 3U) << "woken once, for all of them";
  });
  {
    const Queue::NotificationHold outer(queue);
    std::this_thread::sleep_for(20ms);
    {
      const Queue::NotificationHold inner(queue);
      EXPECT_EQ(queue.enqueue(0, 1), Status::ok);
    }
    EXPECT_EQ(queue.enqueue(0, 2), Status::ok);
    EXPECT_EQ(queue.enqueue(0, 3), Status::ok);
  }
  consumer.join();
}

TEST(EventQueue, NobodyIsWokenWhereNobodySleeps) {
  Queue queue;
  const std::size_t before = test::calls(test::Call::wake);
  fill(queue, 1000);
  EXPECT_EQ(test::calls(test::Call::wake), before);
}

TEST(EventQueue, AChunkForgetsWhatItHeldBefore) {
  struct Odd {  // only even ones can be made
    int value;
    explicit Odd(int with) : value(with) {
      if (with % 2 != 0) throw std::runtime_error("odd");
    }
  };
  // The queues of one type have the same few chunks one after the other. Where one life of a place
  // had an event, the next one has none, and the last chunk of each queue is left half used.
  for (int life = 0; life < 50; ++life) {
    test::Audited<EventQueue<int, void(const Odd&)>> queue;
    std::vector<int> expected;
    const int count = 1000 + 37 * life;
    for (int i = 0; i < count; ++i) {
      const int value = i / (1 + life % 7);
      if (value % 2 != 0) {
        EXPECT_THROW((void)queue.enqueue(0, value), std::runtime_error);
      } else {
        ASSERT_EQ(queue.enqueue(0, value), Status::ok);
        expected.push_back(value);
      }
    }
    std::vector<int> seen;
    queue.drain([&](int, const Odd& odd) { seen.push_back(odd.value); });
    EXPECT_EQ(seen, expected);
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(queue.drain(), 0U);
    expect_books(queue.tally(), expected.size(), expected.size(), 0);
  }
}

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  statm >> total >> resident;
  return resident * 4096;
}

TEST(EventQueue, ABurstLeavesNoMemoryBehind) {
  if (test::sanitized) GTEST_SKIP() << "sanitizers keep memory of their own";
  struct Payload {
    std::uint64_t words[8];
  };
  EventQueue<int, void(const Payload&)> queue;
  ASSERT_EQ(queue.enqueue(0, Payload{}), Status::ok);
  queue.drain();
  queue.trim();
  ::malloc_trim(0);  // what other tests have left would be used first
  const std::size_t before = resident_bytes();
  for (int i = 0; i < 1'000'000; ++i) ASSERT_EQ(queue.enqueue(0, Payload{}), Status::ok);
  EXPECT_GT(resident_bytes(), before + (60U << 20));
  EXPECT_EQ(queue.drain(), 1'000'000U);
  queue.trim();
  EXPECT_LE(resident_bytes(), before + (1U << 20));

  // And without being asked, once that much is not needed for a while.
  for (int i = 0; i < 200'000; ++i) ASSERT_EQ(queue.enqueue(0, Payload{}), Status::ok);
  EXPECT_GT(resident_bytes(), before + (12U << 20));
  queue.drain();
  for (int i = 0; i < 2'000'000; ++i) {
    ASSERT_EQ(queue.enqueue(0, Payload{}), Status::ok);
    if (i % 1000 == 0) queue.drain();
  }
  EXPECT_LE(resident_bytes(), before + (4U << 20));
}

// In the midst of a call the last listener of a key goes, the table of keys grows and leaves the
// key out, and then it has a listener again.
TEST(EventQueue, AKeyThatComesAgainInTheMidstOfACall) {
  Queue queue;
  std::vector<int> seen;
  ListenerHandle first = queue.append_listener(1, [&](int value) {
    seen.push_back(value);
    first.remove();
  });
  queue.append_listener(2, [&](int) {
    for (int key = 100; key < 200; ++key) queue.append_listener(key, [](int) {});
    queue.append_listener(1, [&](int value) { seen.push_back(100 + value); });
  });
  queue.append_listener(3, [&](int value) { seen.push_back(200 + value); });
  int value = 0;
  for (const int key : {1, 1, 2, 3, 1, 3, 1}) ASSERT_EQ(queue.enqueue(key, ++value), Status::ok);
  EXPECT_EQ(queue.drain(), 7U);
  EXPECT_EQ(seen, (std::vector{1, 204, 105, 206, 107}));
}

// The same where the call comes back to the key at once, or by a key that it has not seen yet.
TEST(EventQueue, AKeyThatIsLeftOutBetweenTwoOfItsEvents) {
  for (const bool by_another : {false, true}) {
    Queue queue;
    std::vector<int> seen;
    ListenerHandle first;
    first = queue.append_listener(1, [&](int value) {
      seen.push_back(value);
      if (value != 2) return;
      first.remove();
      for (int key = 100; key < 200; ++key) queue.append_listener(key, [](int) {});
      queue.append_listener(1, [&](int late) { seen.push_back(100 + late); });
    });
    int value = 0;
    for (const int key : {1, 1, by_another ? 3 : 1, 1}) {
      ASSERT_EQ(queue.enqueue(key, ++value), Status::ok);
    }
    EXPECT_EQ(queue.drain(), 4U);
    EXPECT_EQ(seen, by_another ? (std::vector{1, 2, 104}) : (std::vector{1, 2, 103, 104}));
  }
}

// What came back is taken with what is behind it, whole chunks of both.
TEST(EventQueue, ManyComeBackAndManyMoreCome) {
  Queue queue;
  fill(queue, 3000);
  EXPECT_EQ(queue.drain_if(take_if([](int value) { return value >= 2000 && value % 2 == 0; })),
            500U);
  fill(queue, 3000);
  std::vector<int> seen;
  EXPECT_EQ(queue.drain_if(take_until([&](int value) {
    seen.push_back(value);
    return seen.size() > 4000;
  })),
            4000U);
  auto expected = range(0, 2000);
  const auto odd = range(2001, 3000, 2);
  const auto more = range(0, 3000);
  expected.insert(expected.end(), odd.begin(), odd.end());
  expected.insert(expected.end(), more.begin(), more.end());
  seen.pop_back();
  EXPECT_EQ(seen, std::vector(expected.begin(), expected.begin() + 4000));
  EXPECT_EQ(drain(queue), std::vector(expected.begin() + 4000, expected.end()));
  expect_books(queue.tally(), 6000, 6000, 0);
}

// trim() gives back what the places of events that came back need, but for those that are there.
TEST(EventQueue, TrimmingKeepsRoomForWhatIsThere) {
  Queue queue;
  fill(queue, 4000);
  EXPECT_EQ(queue.drain_if(take_if([] { return false; })), 0U);
  EXPECT_EQ(queue.drain_if(take_if([](int value) { return value >= 10; })), 3990U);
  const std::size_t before = test::allocated_bytes();
  queue.trim();
  EXPECT_LT(test::allocated_bytes() + 4000 * sizeof(void*), before);
  EXPECT_EQ(queue.drain_if(take_until([](int value) { return value == 5; })), 5U);
  EXPECT_EQ(drain(queue), range(5, 10));
}

// The same of the chunks, which go back to the system.
TEST(EventQueue, TrimmingGivesFreeChunksBack) {
  using Book = detail::Books<detail::SlabPool>;
  Queue queue;
  fill(queue, 20'000);
  EXPECT_EQ(queue.drain(), 20'000U);
  EXPECT_GT(Book::kept(detail::slab_pool), 2U);
  queue.trim();
  EXPECT_EQ(Book::kept(detail::slab_pool), 0U);
}

// A place that somebody is about to fill holds no event yet, whatever lay there before: here the
// events of a queue of another type, in which every word looks like the state of one that is whole.
TEST(EventQueue, AnEventIsNotThereBeforeItIsMade) {
  for (std::uint32_t word = 1; word <= 8; ++word) {
    std::array<std::uint32_t, 5> words{};
    words.fill(word);
    EventQueue<std::uint32_t, void(const std::array<std::uint32_t, 5>&)> before;
    for (int i = 0; i < 2000; ++i) ASSERT_EQ(before.enqueue(word, words), Status::ok);
  }
  struct Looking {
    explicit Looking(const std::function<void()>& look) { look(); }
    int number = 7;
  };
  test::Audited<EventQueue<int, void(const Looking&)>> queue;
  std::size_t seen = 0;
  const std::function<void()> look = [&] {
    seen += queue.drain([](int key, const Looking& event) {
      EXPECT_EQ(key, 3);
      EXPECT_EQ(event.number, 7);
    });
  };
  for (std::size_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(queue.enqueue(3, look), Status::ok);
    EXPECT_EQ(seen, i) << "those before it";
  }
}

TEST(EventQueue, ATakenEventIsDispatchedWhetherItIsKeptOrNot) {
  Queue queue;
  std::vector<int> seen;
  queue.append_listener(1, [&](int value) { seen.push_back(value); });
  ASSERT_EQ(queue.enqueue(1, 5), Status::ok);
  auto event = queue.take();
  ASSERT_TRUE(event.has_value());
  queue.dispatch(*event);
  queue.dispatch(std::move(*event));
  EXPECT_EQ(seen, (std::vector{5, 5}));
}

// Keys and arguments that own memory: what is left in every kind of queue ends with it.
struct LongKeys : EventPolicies {};
template <class Base>
struct CoalescingKeys : Base {
  static constexpr bool coalesce = true;
};
template <class Base>
struct OrderedKeys : Base {
  static int priority(const std::string& key, const std::string&) {
    return static_cast<int>(key.size());
  }
};
template <class Policies>
class EventQueueOfStrings : public testing::Test {};
using KindsOfStrings = testing::Types<LongKeys, CoalescingKeys<LongKeys>, OrderedKeys<LongKeys>,
                                      OrderedKeys<CoalescingKeys<LongKeys>>>;
TYPED_TEST_SUITE(EventQueueOfStrings, KindsOfStrings);

TYPED_TEST(EventQueueOfStrings, AllOfThemEndWithTheQueue) {
  const auto text = [](int number) { return std::string(40, 'x') + std::to_string(number); };
  std::size_t heard = 0;
  test::Audited<EventQueue<std::string, void(std::string), TypeParam>> queue;
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(queue.enqueue(text(i % 70), text(i)), Status::ok);
    if (i % 100 == 50) {
      queue.drain_if(
          take_if([](const std::string& key, const std::string&) { return key.back() % 2 == 0; }));
    }
  }
  queue.append_listener(text(7), [&](const std::string& value) {
    ++heard;
    EXPECT_EQ(value.substr(0, 40), std::string(40, 'x'));
  });
  queue.drain_if(
      take_until([](const std::string& key, const std::string&) { return key.back() == '9'; }));
  EXPECT_LE(heard, 5U);
  EXPECT_GT(queue.tally().pending, 0U);
  EXPECT_TRUE(queue.tally().balanced());
}

// The executor of a test: runs what it was given when it is told to, or refuses.
struct Later {
  bool refuses = false;
  std::vector<UniqueFunction<void()>> tasks;
  template <class F>
  Status try_post(F&& function) {
    if (refuses) return Status::full;
    tasks.emplace_back(std::forward<F>(function));
    return Status::ok;
  }
  std::size_t width() const { return 1; }
  void run() {
    for (auto& task : std::exchange(tasks, {})) task();
  }
};

TEST(EventQueue, ListenersOnAnExecutor) {
  Later later;
  EventQueue<int, void(const std::string&)> queue;
  std::string seen;
  const auto handle =
      queue.append_listener_on(later, 1, [&](const std::string& text) { seen += text; });
  ASSERT_EQ(queue.enqueue(1, std::string("a")), Status::ok);
  EXPECT_EQ(queue.drain(), 1U);
  EXPECT_EQ(seen, "");
  later.run();
  EXPECT_EQ(seen, "a");
  later.refuses = true;
  ASSERT_EQ(queue.enqueue(1, std::string("b")), Status::ok);
  queue.drain();
  EXPECT_EQ(seen, "ab") << "refused, so called here";
  later.refuses = false;
  ASSERT_EQ(queue.enqueue(1, std::string("c")), Status::ok);
  queue.drain();
  EXPECT_TRUE(handle.remove_and_wait());
  later.run();
  EXPECT_EQ(seen, "ab") << "removed before it ran";
}

}}  // namespace event_queue_test
