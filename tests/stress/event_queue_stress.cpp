// SPDX-License-Identifier: MIT
//
// Event queues under real threads: order per producer and between producers, wake-ups, and books
// that are right whatever went on. None seen in n bounds the rate below 3/n (95 %).
#include <handoff/sync/internal/pause.hpp>

#include "books/event_books.hpp"
#include "support/next.hpp"
#include "support/order_check.hpp"
#include "support/test.hpp"
#include "support/usage.hpp"

namespace {

using namespace handoff;
using test::take_if;
using test::take_until;
using namespace std::chrono_literals;

constexpr std::size_t kProducers = 4;
using Stamp = test::Stamp<kProducers>;
using OrderCheck = test::OrderCheck<kProducers>;

TEST(EventQueueStress, CanaryTheOrderCheckSeesBothFaults) {
  OrderCheck check;
  check({0, {2, 0, 0, 0}});
  EXPECT_EQ(check.inversions, 1U);
  check({1, {1, 1, 1, 0}});
  EXPECT_EQ(check.causal, 1U);
}

// So many events of each producer, which begins when `begin(producer)` returns and is so many
// threads, one after the other, through one queue.
template <class Begin>
void check_order(std::size_t each, Begin&& begin, std::size_t threads = 1) {
  test::Audited<EventQueue<int, void(Stamp)>> queue;
  std::array<std::atomic<std::uint64_t>, kProducers> published{};
  std::vector<std::thread> producers;
  for (std::size_t me = 0; me < kProducers; ++me) {
    const auto enqueue = [&, me](std::uint64_t first, std::uint64_t last) {
      for (std::uint64_t number = first; number <= last; ++number) {
        Stamp stamp{me, {}};
        for (std::size_t other = 0; other < kProducers; ++other) {
          // What is published has been enqueued: this event comes after it.
          stamp.known[other] = published[other].load(std::memory_order_acquire);
        }
        stamp.known[me] = number;
        ASSERT_EQ(queue.enqueue(0, stamp), Status::ok);
        published[me].store(number, std::memory_order_release);
      }
    };
    producers.emplace_back([&, me, enqueue] {
      begin(me);
      for (std::size_t i = 0; i < threads; ++i) {
        std::thread(enqueue, each * i / threads + 1, each * (i + 1) / threads).join();
      }
    });
  }
  OrderCheck check;
  std::size_t count = 0;
  while (count < kProducers * each) {
    ASSERT_EQ(queue.wait(), Status::ok);
    count += queue.drain([&](int, const Stamp& stamp) { check(stamp); });
  }
  for (auto& producer : producers) producer.join();
  EXPECT_EQ(check.inversions, 0U);
  EXPECT_EQ(check.causal, 0U);
  EXPECT_EQ(queue.tally().done, kProducers * each);
}

TEST(EventQueueStress, FifoPerProducerAndCausalBetweenThem) {
  check_order(test::rounds(1'000'000), [](std::size_t) {});
}

// A producer that is alone for a while does without atomic additions, until another one comes: here
// they come at any moment of that, and the one that was alone may come back.
TEST(EventQueueStress, TheSameWhereOneProducerAfterTheOtherIsAlone) {
  auto random = test::random();
  const std::size_t queues = test::rounds(300);
  for (std::size_t i = 0; i < queues; ++i) {
    std::array<std::uint64_t, kProducers> pauses{};
    for (auto& each : pauses) each = random() % 2000;
    check_order(1000 + random() % 1000, [&](std::size_t me) {
      for (auto left = pauses[me]; left > 0; --left) sync::pause();
    });
  }
}

// A thread leaves what it was alone with to those that come after its end.
TEST(EventQueueStress, TheSameWhereProducersComeAndGo) {
  auto random = test::random();
  const std::size_t queues = test::rounds(60);
  for (std::size_t i = 0; i < queues; ++i) {
    check_order(20'000 + random() % 20'000, [](std::size_t) {}, 10 + random() % 20);
  }
}

// One event at a time, to a consumer that sleeps or is about to: a lost wake-up is a hang. A round
// is two races, there and back: 400 000 in an ordinary run, 4 000 000 in a deep one.
TEST(EventQueueStress, NoWakeUpIsLost) {
  const std::size_t races = test::rounds(200'000);
  test::Audited<EventQueue<int, void(std::size_t)>> there({.spin_for = 0ns});
  test::Audited<EventQueue<int, void(std::size_t)>> back({.spin_for = 0ns});
  std::thread other([&] {
    for (std::size_t round = 0; round < races;) {
      ASSERT_EQ(there.wait(), Status::ok);
      there.drain([&](int, std::size_t number) {
        EXPECT_EQ(number, round);
        ++round;
        ASSERT_EQ(back.enqueue(0, number), Status::ok);
      });
    }
  });
  auto random = test::random();
  for (std::size_t round = 0; round < races; ++round) {
    ASSERT_EQ(there.enqueue(0, round), Status::ok);
    for (auto pauses = random() % 64; pauses > 0; --pauses) sync::pause();
    while (back.wait() == Status::ok && back.drain(1) == 0) {
    }
  }
  other.join();
}

// Producers, consumers that throw, refuse, stop and take, listeners that come and go: each event
// ends in exactly one way.
TEST(EventQueueStress, TheBooksAreRightWhateverHappens) {
  const std::size_t each = test::rounds(100'000);
  test::Audited<EventQueue<int, void(std::size_t)>> queue;
  std::atomic<std::size_t> delivered{0};
  std::atomic<std::size_t> thrown{0};
  const auto listener = queue.append_listener(0, [&](std::size_t value) {
    if (value % 1000 == 7) {
      ++thrown;
      throw std::runtime_error("as asked");
    }
    ++delivered;
  });
  std::atomic<int> producing{2};
  std::vector<std::thread> threads;
  for (int producer = 0; producer < 2; ++producer) {
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < each; ++i) ASSERT_EQ(queue.enqueue(0, i), Status::ok);
      if (--producing == 0) queue.shut();
    });
  }
  std::atomic<std::size_t> taken{0};
  for (std::uint64_t consumer = 0; consumer < 2; ++consumer) {
    threads.emplace_back([&, consumer] {
      auto random = test::random(consumer);
      while (queue.wait() == Status::ok) {
        try {
          switch (random() % 6) {
            case 0: queue.drain(); break;
            case 1: queue.drain(1); break;
            case 2: queue.drain_if(take_if([&] { return random() % 2 == 0; })); break;
            case 3: queue.drain_if(take_until([&] { return random() % 64 == 0; })); break;
            case 4:
              queue.drain([&](int, std::size_t) {
                const auto chance = random() % 16;
                if (chance == 0) return Next::stop;
                if (chance == 1) return Next::leave;
                ++taken;
                return Next::take;
              });
              break;
            default: taken += queue.take().has_value() ? 1 : 0;
          }
        } catch (const std::runtime_error&) {
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const Tally tally = queue.tally();
  EXPECT_TRUE(tally.balanced());
  EXPECT_EQ(tally.accepted, 2 * each);
  EXPECT_EQ(tally.pending, 0U);
  EXPECT_EQ(tally.failed, thrown);
  EXPECT_EQ(tally.done, delivered + taken);
}

// Re-entrancy beside another thread that does the same, for AddressSanitizer: every thing that a
// listener may do to its queue, while the other thread enqueues, adds, removes or drains.
TEST(EventQueueStress, ListenersMayDoAnythingBesideOtherThreads) {
  const std::size_t rounds = test::rounds(2'000);
  using Q = EventQueue<int, void(int)>;
  for (int action = 0; action < 5; ++action) {
    for (int beside = 0; beside < 4; ++beside) {
      SCOPED_TRACE(testing::Message() << "action " << action << ", beside " << beside);
      Q queue;
      ListenerHandle self;
      ListenerHandle other_handle = queue.append_listener(0, [](int) {});
      std::atomic<bool> quit{false};
      std::atomic<int> left_to_call{0};
      std::thread other([&] {
        while (!quit) {
          switch (beside) {
            case 0: static_cast<void>(queue.enqueue(1, 1)); break;
            case 1:  // not more than the passes can bear: each is called before the next pass
              if (left_to_call > 100) break;
              ++left_to_call;
              queue.append_listener(0, [&](int) { --left_to_call; }, {.calls = 1});
              break;
            case 2: queue.prepend_listener(0, [](int) {}).remove_and_wait(); break;
            default: queue.drain([](int, int) {}, 1);
          }
          std::this_thread::yield();
        }
      });
      for (std::size_t round = 0; round < rounds / 20; ++round) {
        self = queue.append_listener(0, [&](int depth) {
          switch (action) {
            case 0: self.remove(); break;
            case 1: other_handle.remove(); break;
            case 2: queue.append_listener(0, [](int) {}, {.calls = 2}); break;
            case 3:
              if (depth > 0) queue.dispatch(0, depth - 1);
              break;
            default:
              if (depth > 0) queue.drain();
              break;
          }
        });
        EXPECT_EQ(queue.enqueue(0, 2), Status::ok);
        EXPECT_EQ(queue.enqueue(0, 1), Status::ok);
        queue.drain();
        self.remove();
      }
      quit = true;
      other.join();
      EXPECT_TRUE(queue.tally().balanced());
    }
  }
}

TEST(EventQueueStress, ASleepingConsumerCostsNothing) {
  test::Audited<EventQueue<int, void(int)>> queue;
  const test::ThreadsSince threads;
  std::thread consumer([&] { EXPECT_EQ(queue.wait(), Status::closed); });
  std::this_thread::sleep_for(50ms);
  const auto before = threads.cpu_time();
  std::this_thread::sleep_for(10s);
  EXPECT_EQ(threads.made().size(), 1U);
  EXPECT_LE(threads.cpu_time() - before, 10ms);
  queue.shut();
  consumer.join();
}

}  // namespace
