// SPDX-License-Identifier: MIT
//
// EventQueue: its capacity, what a close finds under way, who shares a batch, and coalescing beside
// a bound.
#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <handoff/event/event_queue.hpp>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "books/event_books.hpp"
#include "support/policies.hpp"

namespace event_queue_close_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using test::Bounded;
using test::Coalesces;

template <class Policies>
using QueueOf = test::Audited<EventQueue<int, void(int), Policies>>;

TEST(EventQueueCapacity, ItsCapacityIsAsAskedOrUnbounded) {
  using Few = QueueOf<Bounded<OnFull::reject>>;
  EXPECT_EQ(QueueOf<EventPolicies>().capacity(), unbounded);
  EXPECT_EQ(Few({.capacity = 3}).capacity(), 3U);
  EXPECT_THROW(Few({.capacity = 0}), std::logic_error);
  EventQueue<int, void(int), Bounded<OnFull::reject>> all({.capacity = unbounded});
  EXPECT_EQ(all.capacity(), unbounded);
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(all.enqueue(1, i), Status::ok);
}

// ---- Close ----

TEST(EventQueueClose, AProducerThatWaitsForRoomIsToldClosed) {
  using Owned = std::unique_ptr<int>;
  EventQueue<int, void(const Owned&), Bounded<OnFull::wait>> queue(
      {.capacity = 1, .on_full = OnFull::wait});
  ASSERT_EQ(queue.enqueue(1, std::make_unique<int>(1)), Status::ok);
  auto second = std::make_unique<int>(2);
  Status status = Status::ok;
  std::thread producer([&] { status = queue.enqueue(1, std::move(second)); });
  // Asleep by then, mostly; what comes later is told the same.
  std::this_thread::sleep_for(5ms);
  queue.shut();
  producer.join();
  EXPECT_EQ(status, Status::closed);
  EXPECT_NE(second, nullptr) << "what is refused is unmoved";
  EXPECT_EQ(queue.drain(), 1U);
  EXPECT_EQ(queue.wait(), Status::closed);
}

// In each strength, to the listeners and to a visitor: all that was accepted has its outcome.
TEST(EventQueueClose, GivesWhatIsLeftItsOutcome) {
  for (const Closing& how :
       {Closing::finish, Closing::abandon, Closing::finish_until(0s), Closing::finish_until(1h)}) {
    for (const bool visits : {false, true}) {
      QueueOf<EventPolicies> queue;
      std::uint64_t calls = 0;
      const auto handle = [&](int number) {
        ++calls;
        if (number == 4) throw std::runtime_error("as asked");
      };
      queue.append_listener(1, handle);
      for (int i = 0; i < 1000; ++i) ASSERT_EQ(queue.enqueue(1, i), Status::ok);
      const Tally tally =
          visits ? queue.close(how, [&](int, int number) { handle(number); }) : queue.close(how);
      const bool runs = how.begins_more && how.deadline > sync::clock::now();
      EXPECT_TRUE(tally.balanced());
      EXPECT_EQ(calls, runs ? 1000U : 0U);
      EXPECT_EQ(tally.done, runs ? 999U : 0U);
      EXPECT_EQ(tally.failed, runs ? 1U : 0U);
      EXPECT_EQ(tally.first_failure != nullptr, runs);
      EXPECT_EQ(tally.cancelled, how.begins_more ? 0U : 1000U);
      EXPECT_EQ(tally.expired, how.begins_more && !runs ? 1000U : 0U);
      EXPECT_EQ(tally.pending, 0U);
      EXPECT_EQ(queue.enqueue(1, 1), Status::closed);
      EXPECT_EQ(queue.close().accepted, 1000U) << "closed twice";
    }
  }
}

TEST(EventQueueClose, InsideAListenerItIsMisuse) {
  QueueOf<EventPolicies> queue;
  queue.append_listener(1, [&](int) { EXPECT_THROW((void)queue.close(), std::logic_error); });
  ASSERT_EQ(queue.enqueue(1, 1), Status::ok);
  EXPECT_EQ(queue.drain(), 1U);
  EXPECT_FALSE(queue.closed());
}

TEST(EventQueueClose, ABatchThatWaitsForRoomIsToldClosed) {
  EventQueue<int, void(int), Bounded<OnFull::wait>> queue({.capacity = 2, .on_full = OnFull::wait});
  std::vector<decltype(queue)::Event> events;
  for (int i = 0; i < 4; ++i) events.emplace_back(std::in_place, 1, i);
  std::size_t count = 0;
  std::thread producer([&] { count = queue.enqueue_batch(events); });
  std::this_thread::sleep_for(5ms);
  queue.shut();
  producer.join();
  EXPECT_EQ(queue.drain(), count);
  EXPECT_EQ(queue.wait(), Status::closed);
}

// Stays in its copy until it may go on.
struct Slow {
  struct Gate {
    std::atomic<bool> entered{false};
    std::atomic<bool> open{false};
  };
  explicit Slow(Gate& its_gate, bool fails = false) : gate(&its_gate), throws(fails) {}
  Slow(const Slow& other) : gate(other.gate), throws(other.throws) {
    gate->entered = true;
    gate->entered.notify_all();
    gate->open.wait(false);
    if (throws) throw std::runtime_error("a copy");
  }
  Gate* gate;
  bool throws;
};

void closed_while_copied(bool fails) {
  EventQueue<int, void(const Slow&)> queue({.spin_for = 0ns});
  Slow::Gate gate;
  Status status = Status::closed;
  std::thread producer([&] {
    const Slow slow(gate, fails);
    try {
      status = queue.enqueue(1, slow);
    } catch (const std::runtime_error&) {
    }
  });
  gate.entered.wait(false);
  queue.shut();
  EXPECT_EQ(queue.enqueue(1, Slow(gate)), Status::closed);
  EXPECT_EQ(queue.wait(1ms), Status::timed_out) << "it is under way, and may be accepted";
  std::thread consumers[2];
  std::atomic<std::size_t> handled{0};
  for (std::thread& consumer : consumers) {
    consumer = std::thread([&] {
      while (queue.wait() == Status::ok) handled += queue.drain();
    });
  }
  gate.open = true;
  gate.open.notify_all();
  producer.join();
  for (std::thread& consumer : consumers) consumer.join();
  EXPECT_EQ(status, fails ? Status::closed : Status::ok);
  EXPECT_EQ(handled, fails ? 0U : 1U);
}
TEST(EventQueueClose, AnEventThatIsCopiedMeanwhileIsHandled) { closed_while_copied(false); }
TEST(EventQueueClose, AnEventWhoseCopyThrowsMeanwhileKeepsNobodyWaiting) {
  closed_while_copied(true);
}

// What is behind an event that cannot be made is told of, though nobody enqueues any more.
TEST(EventQueueClose, AnEventBehindOneWhoseCopyThrowsIsTold) {
  EventQueue<int, void(const Slow&)> queue({.spin_for = 0ns});
  Slow::Gate gate;
  Slow::Gate opened{.entered{false}, .open{true}};
  std::thread fails([&] {
    const Slow slow(gate, true);
    EXPECT_THROW((void)queue.enqueue(1, slow), std::runtime_error);
  });
  gate.entered.wait(false);
  std::thread consumer([&] {
    for (std::size_t handled = 0; handled == 0;) {
      EXPECT_EQ(queue.wait(), Status::ok);
      handled += queue.drain();
    }
  });
  EXPECT_EQ(queue.enqueue(1, Slow(opened)), Status::ok);
  std::this_thread::sleep_for(5ms);  // the consumer has looked in vain, mostly
  gate.open = true;
  gate.open.notify_all();
  fails.join();
  consumer.join();
}

// A listener closes the queue and waits for the other threads that serve it.
TEST(EventQueueClose, AListenerMayCloseAndAwaitTheOtherConsumers) {
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

// ---- Who shares a batch ----

// Each of four that wait takes one of four events, and the listeners wait for each other.
template <class Feed>
void shared_by_four(const Feed& feed) {
  EventQueue<int, void(int)> queue;
  std::barrier<> all(4);
  const auto handle = queue.append_listener(1, [&](int) { all.arrive_and_wait(); });
  std::vector<std::thread> consumers;
  for (int i = 0; i < 4; ++i) {
    consumers.emplace_back([&] {
      while (queue.wait() == Status::ok) queue.drain(1);
    });
  }
  for (int round = 0; round < 20; ++round) {
    if (round % 4 == 0) std::this_thread::sleep_for(2ms);  // so that all of them sleep, mostly
    feed(queue);
    const std::uint64_t fed = 4 * (static_cast<std::uint64_t>(round) + 1);
    while (queue.tally().done != fed) std::this_thread::yield();
  }
  queue.shut();
  for (std::thread& consumer : consumers) consumer.join();
}
TEST(EventQueueWaking, ABatchIsSharedByThoseWhoWait) {
  shared_by_four([](EventQueue<int, void(int)>& queue) {
    std::vector<EventQueue<int, void(int)>::Event> events;
    for (int i = 0; i < 4; ++i) events.emplace_back(std::in_place, 1, i);
    EXPECT_EQ(queue.enqueue_batch(events), 4U);
  });
}
TEST(EventQueueWaking, WhatAHoldHeldBackIsSharedByThoseWhoWait) {
  shared_by_four([](EventQueue<int, void(int)>& queue) {
    const EventQueue<int, void(int)>::NotificationHold hold(queue);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(queue.enqueue(1, i), Status::ok);
  });
}

// ---- Coalescing, with a bound and without ----

TEST(EventQueueCoalescing, ANewerEventHasTheRoomOfTheOneThatItReplaces) {
  QueueOf<Coalesces<Bounded<OnFull::reject>>> queue({.capacity = 2});
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(queue.enqueue(1, i), Status::ok);
    ASSERT_EQ(queue.enqueue(2, -i), Status::ok);
  }
  EXPECT_EQ(queue.enqueue(3, 3), Status::full) << "two keys wait";
  EXPECT_LE(queue.tally().pending, 3U);
  std::vector<int> values;
  queue.drain([&](int, int value) { values.push_back(value); });
  EXPECT_EQ(values, (std::vector<int>{99, -99}));
}

TEST(EventQueueCoalescing, ANewerEventNeedNotWaitForRoom) {
  QueueOf<Coalesces<Bounded<OnFull::wait>>> queue({.capacity = 2, .on_full = OnFull::wait});
  for (int i = 0; i < 100; ++i) ASSERT_EQ(queue.enqueue(1ms, 1, i), Status::ok);
  ASSERT_EQ(queue.enqueue(1ms, 2, 2), Status::ok);
  EXPECT_EQ(queue.enqueue(1ms, 3, 3), Status::timed_out);
  EXPECT_EQ(queue.enqueue(1ms, 1, 100), Status::ok);
  EXPECT_EQ(queue.drain(), 2U);
}

TEST(EventQueueCoalescing, ANewerEventOverwritesNoOtherKey) {
  QueueOf<Coalesces<Bounded<OnFull::overwrite_oldest>>> queue(
      {.capacity = 2, .on_full = OnFull::overwrite_oldest});
  ASSERT_EQ(queue.enqueue(2, 7), Status::ok);
  for (int i = 0; i < 5; ++i) ASSERT_EQ(queue.enqueue(1, i), Status::ok);
  EXPECT_EQ(queue.tally().expired, 0U);
  std::vector<int> values;
  queue.drain([&](int, int value) { values.push_back(value); });
  EXPECT_EQ(values, (std::vector<int>{7, 4}));
}

// What was replaced is given back before anybody drains, whatever the number of keys.
TEST(EventQueueCoalescing, WhatWasReplacedDoesNotPileUp) {
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

}}  // namespace event_queue_close_test
