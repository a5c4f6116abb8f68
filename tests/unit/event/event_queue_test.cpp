// SPDX-License-Identifier: MIT
//
// EventQueue: what its model and the suites of its tier do not try: filters, keys inside, waits for
// room, notifications held back, memory, and calls from its own listeners.
#include <malloc.h>

#include "books/event_books.hpp"
#include "books/slab_books.hpp"
#include "support/allocated.hpp"
#include "support/failing.hpp"
#include "support/next.hpp"
#include "support/policies.hpp"
#include "support/test.hpp"

namespace event_queue_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace test;
using Bounded = test::Bounded<OnFull::wait>;  // by its options, another answer
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

TEST(EventQueue, OnFullThatItHasNotIsMisuse) {
  for (const OnFull on_full : {OnFull::run_here, OnFull::grow}) {
    EXPECT_THROW(QueueOf<Bounded>({.on_full = on_full}), Misuse);
  }
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

struct Expiring : EventPolicies {
  static constexpr bool expires = true;
};

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
  EXPECT_TRUE(came_to(queue.tally(), {.done = 4, .expired = 3}));
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
    EXPECT_TRUE(came_to(queue.tally(), {.done = expected.size()}));
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

// Keys and arguments that own memory: what is left in every kind of queue ends with it.
template <class Base>
struct OrderedKeys : Base {
  static int priority(const std::string& key, const std::string&) {
    return static_cast<int>(key.size());
  }
};
template <class Policies>
class EventQueueOfStrings : public testing::Test {};
using KindsOfStrings = testing::Types<EventPolicies, Coalesces<>, OrderedKeys<EventPolicies>,
                                      OrderedKeys<Coalesces<>>>;

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

TEST(EventQueue, ListenersOnAnExecutor) {
  InlineExecutor here;
  EventQueue<int, void(const std::string&)> queue;
  std::string seen;
  queue.append_listener_on(here, 1, [&](const std::string& text) { seen += text; });
  ASSERT_EQ(queue.enqueue(1, std::string("a")), Status::ok);
  EXPECT_EQ(queue.drain(), 1U);
  EXPECT_EQ(seen, "a");
}

TEST(EventQueue, ItsCapacityIsAsAskedOrUnbounded) {
  using Few = QueueOf<Bounded>;
  EXPECT_EQ(QueueOf<EventPolicies>().capacity(), unbounded);
  EXPECT_EQ(Few({.capacity = 3}).capacity(), 3U);
  EXPECT_THROW(Few({.capacity = 0}), std::logic_error);
  EventQueue<int, void(int), Bounded> all({.capacity = unbounded});
  EXPECT_EQ(all.capacity(), unbounded);
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(all.enqueue(1, i), Status::ok);
}

TEST(EventQueue, AListenerThatClosesForGoodIsMisuse) {
  QueueOf<EventPolicies> queue;
  queue.append_listener(1, [&](int) { EXPECT_THROW((void)queue.close(), std::logic_error); });
  ASSERT_EQ(queue.enqueue(1, 1), Status::ok);
  EXPECT_EQ(queue.drain(), 1U);
  EXPECT_FALSE(queue.closed());
}

// A listener closes the queue and waits for the other threads that serve it.
TEST(EventQueue, AListenerMayCloseAndAwaitTheOtherConsumers) {
  EventQueue<int, void()> queue({.spin_for = 0ns});
  std::thread other([&] {
    while (queue.wait() == Status::ok) queue.drain();
  });
  std::atomic<bool> ended{false};
  const auto handle = queue.append_listener(1, [&] {
    queue.shut();
    if (other.get_id() != std::this_thread::get_id()) other.join();
    ended = true;
  });
  ASSERT_EQ(queue.enqueue(1), Status::ok);
  while (queue.wait() == Status::ok) queue.drain();
  while (!ended) std::this_thread::yield();
  if (other.joinable()) other.join();
}

// What was replaced is given back before anybody drains, whatever the number of keys.
TEST(EventQueue, WhatWasReplacedDoesNotPileUp) {
  using Books = detail::Books<EventQueue<int, void(int), Coalesces<>>>;
  for (const int keys : {1, 100}) {
    QueueOf<Coalesces<>> queue;
    constexpr int kEvents = 200'000;
    std::uint64_t most = 0;
    for (int i = 0; i < kEvents; ++i) {
      ASSERT_EQ(queue.enqueue(i % keys, i), Status::ok);
      if (i % 1000 == 0) most = std::max(most, queue.tally().pending);
    }
    EXPECT_LT(most, 10'000U) << "some chunks";
    EXPECT_LT(Books::places(queue), 10'000U);
    std::vector<int> values;
    queue.drain([&](int, int value) { values.push_back(value); });
    ASSERT_EQ(values.size(), static_cast<std::size_t>(keys));
    EXPECT_EQ(values.back(), kEvents - 1);
    EXPECT_EQ(values.front(), kEvents - keys);
  }
}

// A full queue refuses, and throws away, nothing for it.
TEST(EventQueue, WhatReplacesNeedsNoRoom) {
  using Values = std::vector<int>;
  for (const OnFull on_full : {OnFull::reject, OnFull::overwrite_oldest}) {
    QueueOf<Coalesces<Bounded>> queue({.capacity = 2, .on_full = on_full});
    for (const int value : {10, 20, 11, 21}) {
      EXPECT_EQ(queue.enqueue(value / 10, value), Status::ok);
    }
    Values values;
    queue.drain([&](int, int value) { values.push_back(value); });
    EXPECT_EQ(values, (Values{11, 21}));
    const Tally tally = queue.tally();
    EXPECT_EQ(tally.cancelled, 2U);
    EXPECT_EQ(tally.expired, 0U);
  }
}

}}  // namespace event_queue_test
