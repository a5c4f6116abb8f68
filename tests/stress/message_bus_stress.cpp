// SPDX-License-Identifier: MIT
//
// Message buses under real threads: order per producer and, of a bus with one order, between them;
// wake-ups; admission; and books that are exact whenever and however it is closed. None seen in n
// bounds the rate below 3/n (95 %).
#include <handoff/sync/internal/pause.hpp>

#include "books/bus_books.hpp"
#include "support/order_check.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;

template <class Policies, class... Messages>
using BusOf = test::Audited<BasicMessageBus<Policies, Messages...>>;

constexpr std::size_t kProducers = 8;
using Stamp = test::Stamp<kProducers>;
using OrderCheck = test::OrderCheck<kProducers>;

TEST(MessageBusStress, CanaryTheOrderCheckSeesBothFaults) {
  OrderCheck check;
  check({0, {2, 0, 0, 0, 0, 0, 0, 0}});
  EXPECT_EQ(check.inversions, 1U);
  check({1, {1, 1, 1, 0, 0, 0, 0, 0}});
  EXPECT_EQ(check.causal, 1U);
}

// Eight producers that wait when it is full, by the bus, a handle, batches and claims: all arrive.
template <class Policies>
OrderCheck eight_producers(std::size_t each,
                           const typename BusOf<Policies, Stamp>::Options& options) {
  BusOf<Policies, Stamp> bus(options);
  std::array<std::atomic<std::uint64_t>, kProducers> published{};
  std::vector<std::thread> producers;
  for (std::size_t me = 0; me < kProducers; ++me) {
    producers.emplace_back([&, me] {
      auto producer = bus.producer();
      for (std::uint64_t number = 1; number <= each;) {
        Stamp stamp{me, {}};
        for (std::size_t other = 0; other < kProducers; ++other) {
          // What is published has been accepted: this message comes after it.
          stamp.known[other] = published[other].load(std::memory_order_acquire);
        }
        stamp.known[me] = number;
        if (me % 4 == 3 && number + 2 <= each) {
          std::array<Stamp, 3> batch{stamp, stamp, stamp};
          batch[1].known[me] = number + 1;
          batch[2].known[me] = number + 2;
          ASSERT_EQ(producer.publish_batch(batch), 3U);
          number += 3;
        } else if (me % 4 == 2 && number % 2 == 0) {
          auto claim = producer.template claim<Stamp>(stamp);
          if (!claim) continue;
          claim.commit();
          ++number;
        } else if (number % 7 == 0) {
          {
            const auto dropped = producer.template claim<Stamp>(stamp);
          }
          ASSERT_EQ(producer.publish(stamp), Status::ok);
          ++number;
        } else {
          ASSERT_EQ(producer.publish(stamp), Status::ok);
          ++number;
        }
        published[me].store(number - 1, std::memory_order_release);
      }
    });
  }
  OrderCheck check;
  for (std::size_t count = 0; count < kProducers * each;) {
    EXPECT_EQ(bus.wait(), Status::ok);
    count += bus.drain(check);
  }
  for (auto& producer : producers) producer.join();
  bus.shut();
  const Tally tally = bus.tally();
  EXPECT_EQ(tally.done, kProducers * each);
  EXPECT_TRUE(tally.balanced());
  for (const std::uint64_t last : check.seen) EXPECT_EQ(last, each);
  return check;
}

TEST(MessageBusStress, OneOrderForAll) {
  for (const std::size_t capacity : {1U, 4U, 1024U}) {
    const OrderCheck check =
        eight_producers<BusPolicies>(test::rounds(capacity > 100 ? 30'000 : 3'000),
                                     {.capacity = capacity, .on_full = OnFull::wait});
    EXPECT_EQ(check.inversions, 0U);
    EXPECT_EQ(check.causal, 0U);
  }
}

TEST(MessageBusStress, EachProducersOrder) {
  for (const std::size_t lanes : {8U, 3U, 0U}) {
    for (const std::size_t capacity : {2U, 256U}) {
      const OrderCheck check = eight_producers<LanedBusPolicies>(
          test::rounds(capacity > 100 ? 12'000 : 1'200),
          {.capacity = capacity, .on_full = OnFull::wait, .lanes = lanes});
      EXPECT_EQ(check.inversions, 0U);
    }
  }
}

// One message at a time, to a consumer that sleeps or is about to: a lost wake-up is a hang.
template <class Policies>
void no_wake_up_is_lost() {
  const std::size_t races = test::rounds(50'000);
  BusOf<Policies, std::size_t> there({.spin_for = 0ns});
  BusOf<Policies, std::size_t> back({.spin_for = 0ns});
  std::thread other([&] {
    auto producer = back.producer();
    for (std::size_t round = 0; round < races;) {
      ASSERT_EQ(there.wait(), Status::ok);
      there.drain([&](std::size_t number) {
        EXPECT_EQ(number, round);
        ++round;
        ASSERT_EQ(producer.publish(number), Status::ok);
      });
    }
  });
  auto random = test::random();
  auto producer = there.producer();
  for (std::size_t round = 0; round < races; ++round) {
    ASSERT_EQ(producer.publish(round), Status::ok);
    for (auto pauses = random() % 64; pauses > 0; --pauses) sync::pause();
    ASSERT_EQ(back.wait(), Status::ok);
    ASSERT_EQ(back.drain([](std::size_t) {}), 1U);
  }
  other.join();
}
TEST(MessageBusStress, NoWakeUpIsLost) { no_wake_up_is_lost<BusPolicies>(); }
TEST(MessageBusStress, NoWakeUpIsLostOfLanes) { no_wake_up_is_lost<LanedBusPolicies>(); }
TEST(MessageBusStress, NoWakeUpIsLostByPriority) { no_wake_up_is_lost<PriorityBusPolicies>(); }

// While producers of normal messages go on, an urgent one that another thread has published is the
// next behind the handler that waited for that.
void urgent_comes_next(std::size_t producers) {
  BusOf<PriorityBusPolicies, std::uint64_t> bus({.capacity = 64, .on_full = OnFull::wait});
  const std::uint64_t alarms = test::rounds(2'000);
  std::atomic<std::uint64_t> wanted{0};
  std::atomic<std::uint64_t> published{0};
  std::vector<std::thread> threads;
  for (std::size_t me = 0; me < producers; ++me) {
    threads.emplace_back([&] {
      while (bus.publish(std::uint64_t{0}) == Status::ok) {
      }
    });
  }
  threads.emplace_back([&] {
    for (std::uint64_t number = 1; number <= alarms; ++number) {
      while (wanted < number) std::this_thread::yield();
      ASSERT_EQ(bus.publish(number, Priority::urgent), Status::ok);
      published = number;
    }
  });
  std::uint64_t alarm = 0;
  std::uint64_t due = 0;  // which one is to come next
  std::size_t wrong = 0;
  const auto handler = [&](std::uint64_t number) {
    wrong += number != due ? 1 : 0;
    due = 0;
    if (number != 0 || alarm == alarms) return;
    wanted = ++alarm;
    while (published < alarm) std::this_thread::yield();
    due = alarm;
  };
  while (alarm < alarms || due != 0) {
    ASSERT_EQ(bus.wait(), Status::ok);
    bus.drain(handler);
  }
  bus.shut();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0U);
}
TEST(MessageBusStress, AnUrgentMessageComesNext) {
  for (const std::size_t producers : {1U, 2U, 8U}) urgent_comes_next(producers);
}

template <class Policies>
constexpr auto urgent_of() {
  if constexpr (Policies::order == MessageOrder::by_priority) return Priority::urgent;
  else return Admission::urgent;
}

// Closed at any instant, in each strength, while producers publish and a handler throws now and
// then: what publish() said is what the Tally says.
template <class Policies>
void closed_at_any_instant(std::uint64_t seed, std::size_t strength, OnFull on_full) {
  auto random = test::random(seed);
  BusOf<Policies, std::uint64_t> bus(
      {.capacity = std::size_t{1} << random() % 8, .on_full = on_full});
  std::atomic<std::uint64_t> accepted{0};
  std::vector<std::thread> producers;
  for (std::uint64_t me = 0; me < 3; ++me) {
    producers.emplace_back([&, me] {
      auto mine = test::random(1000 * seed + me);
      auto producer = bus.producer();
      for (Status said = Status::ok; said != Status::closed;) {
        if (mine() % 8 == 0) {
          auto claim = producer.template claim<std::uint64_t>(me);
          said = claim.status();
          if (said == Status::ok && mine() % 2 == 0) {
            claim.commit();
            ++accepted;
          }
        } else {
          said = me == 2 ? bus.publish(mine(), urgent_of<Policies>()) : producer.publish(mine());
          if (said == Status::ok) ++accepted;
        }
      }
    });
  }
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  const auto handle = [&](std::uint64_t number) {
    if (number % 64 == 1) {
      ++failed;
      throw std::runtime_error("as asked");
    }
    ++done;
  };
  const auto drain = [&] {
    try {
      bus.drain(handle);
    } catch (const std::runtime_error&) {
    }
  };
  const bool elsewhere = random() % 2 == 0;
  std::thread closer;
  if (elsewhere) {
    closer = std::thread([&, pauses = random() % 4096]() mutable {
      for (; pauses > 0; --pauses) sync::pause();
      bus.shut();
    });
    while (bus.wait() == Status::ok) drain();
  } else {
    for (auto drains = random() % 256; drains > 0; --drains) drain();
  }
  const Closing strengths[] = {Closing::finish, Closing::abandon, Closing::finish_until(20us)};
  const Tally tally = bus.close(strengths[strength], handle);
  if (closer.joinable()) closer.join();
  for (auto& producer : producers) producer.join();
  EXPECT_TRUE(tally.balanced());
  EXPECT_EQ(tally.accepted, accepted);
  EXPECT_EQ(tally.done, done);
  EXPECT_EQ(tally.failed, failed);
  EXPECT_EQ(tally.pending, 0U);
  const Tally after = bus.tally();
  EXPECT_EQ(after.accepted, tally.accepted) << "it was the last word";
  EXPECT_EQ(after.done, tally.done);
}
TEST(MessageBusStress, TheTallyIsExactWheneverItIsClosed) {
  const std::uint64_t seeds = test::rounds(50);
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    for (std::size_t strength = 0; strength < 3; ++strength) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", strength " << strength);
      for (const OnFull on_full : {OnFull::reject, OnFull::wait}) {
        closed_at_any_instant<BusPolicies>(seed, strength, on_full);
        closed_at_any_instant<LanedBusPolicies>(seed, strength, on_full);
        closed_at_any_instant<PriorityBusPolicies>(seed, strength, on_full);
      }
      if (HasFailure()) return;
    }
  }
}

// Handlers that throw, publish to their own full bus, subscribe, unsubscribe, and close it at last,
// while producers wait for room and another thread's subscriber comes and goes: no deadlock, and
// nothing lost.
template <class Policies>
class Anything {
 public:
  explicit Anything(std::uint64_t seed)
      : random_(test::random(seed)),
        bus_({.capacity = std::size_t{1} << seed % 4, .on_full = OnFull::wait}) {}

  void run(std::uint64_t each) {
    const std::uint64_t enough = kThreads * each / 2;
    const ScopedListener host(bus_.template subscribe<int>([&](int) { serve(enough); }));
    std::vector<std::thread> producers;
    for (std::uint64_t me = 0; me < kThreads; ++me) {
      producers.emplace_back([&] {
        auto producer = bus_.producer();
        for (std::uint64_t i = 0; i < each && producer.publish(1) == Status::ok; ++i) ++accepted_;
      });
    }
    std::thread guest([&] { come_and_go(); });
    while (bus_.wait() == Status::ok) {
      try {
        bus_.drain();
      } catch (const std::runtime_error&) {
        ++thrown_;
      }
    }
    over_ = true;
    guest.join();
    for (auto& producer : producers) producer.join();
    const Tally tally = bus_.tally();
    EXPECT_EQ(tally.accepted, accepted_);
    EXPECT_EQ(served_, accepted_) << "nothing was lost";
    EXPECT_EQ(tally.failed, thrown_);
    EXPECT_TRUE(tally.balanced());
    EXPECT_EQ(tally.pending, 0U);
  }

 private:
  static constexpr std::uint64_t kThreads = 2;

  // Of the one subscriber that stays.
  void serve(std::uint64_t enough) {
    if (++served_ == enough) bus_.shut();
    switch (random_() % 8) {
      case 0:
        if (bus_.publish(2) == Status::ok) ++accepted_;
        break;
      case 1:
        if (guests_.size() == 8) break;
        guests_.push_back(bus_.template subscribe<int>([&](int) { rage(); }));
        break;
      case 2:
        if (guests_.empty()) break;
        EXPECT_TRUE(guests_.back().remove_and_wait());
        guests_.pop_back();
        break;
      case 3: rage(); break;
      default: break;
    }
  }
  void rage() {
    if (random_() % 4 == 0) throw std::runtime_error("as asked");
  }
  void come_and_go() {
    while (!over_) {
      auto calls = std::make_unique<std::uint64_t>(0);
      const ListenerHandle handle = bus_.template subscribe<int>([&](int) { ++*calls; });
      std::this_thread::yield();
      handle.remove_and_wait();
      calls.reset();  // nobody counts any more
    }
  }

  std::mt19937_64 random_;
  BusOf<Policies, int> bus_;
  std::vector<ListenerHandle> guests_;
  std::atomic<std::uint64_t> accepted_{0};
  std::uint64_t served_ = 0;
  std::uint64_t thrown_ = 0;
  std::atomic<bool> over_{false};
};
TEST(MessageBusStress, HandlersMayDoAnything) {
  const std::uint64_t seeds = test::rounds(20);
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Anything<BusPolicies>(seed).run(2'000);
    Anything<LanedBusPolicies>(seed).run(2'000);
    if (HasFailure()) return;
  }
}

// As many messages under way as the lowest class has places, of several producers: none is refused,
// whatever they know of each other and of the consumer.
TEST(MessageBusStress, NoClassIsRefusedBelowItsThresholdThoughOthersPublish) {
  BusOf<BusPolicies, int> bus({.capacity = 16, .reserve = {.normal = 40}});
  constexpr std::size_t places = 9;  // 60 % of 16
  std::atomic<std::size_t> left{places};
  const auto take_one = [&left] {
    for (std::size_t now = left;;) {
      if (now != 0 && left.compare_exchange_weak(now, now - 1)) return;
      if (now != 0) continue;
      std::this_thread::yield();
      now = left;
    }
  };
  const std::size_t each = test::rounds(100'000);
  std::atomic<std::size_t> refused{0};
  std::vector<std::thread> producers;
  for (int me = 0; me < 4; ++me) {
    producers.emplace_back([&] {
      for (std::size_t i = 0; i < each; ++i) {
        take_one();
        while (bus.publish(1, Admission::low) != Status::ok) ++refused;
      }
    });
  }
  for (std::size_t taken = 0; taken < 4 * each;) {
    const std::size_t count = bus.drain([](int) {}, 3);
    taken += count;
    left += count;  // their places are free
    if (count == 0) std::this_thread::yield();
  }
  for (auto& producer : producers) producer.join();
  EXPECT_EQ(refused, 0U);
  EXPECT_EQ(bus.refused(Admission::low), 0U);
}

// No class is refused while the depth is below its part: the depth may only have been higher
// before, or be higher after. One producer, so that nobody else raises it.
TEST(MessageBusStress, NoClassIsRefusedBelowItsThreshold) {
  constexpr Reserve reserve{.urgent = 20, .normal = 20};
  BusOf<BusPolicies, int> bus({.capacity = 128, .reserve = reserve});
  const auto lane_options = LanedMessageBusOptions{.capacity = 128, .lanes = 1, .reserve = reserve};
  BusOf<LanedBusPolicies, int> lanes(lane_options);
  const std::size_t messages = test::rounds(500'000);
  const auto run = [&](auto& of) {
    std::atomic<bool> ended{false};
    std::thread consumer([&] {
      while (!ended || of.size() != 0) of.drain([](int) {});
    });
    auto producer = of.producer();
    auto random = test::random();
    const std::array<std::size_t, 3> parts{126, 102, 76};
    std::size_t refused = 0;
    for (std::size_t i = 0; i < messages; ++i) {
      const auto admission = static_cast<Admission>(random() % 3);
      const std::size_t before = of.size();  // it only falls, until this thread publishes
      if (producer.publish(1, admission) != Status::full) continue;
      ++refused;
      EXPECT_GE(before, parts.at(static_cast<std::size_t>(admission)));
    }
    ended = true;
    consumer.join();
    EXPECT_EQ(of.tally().done, messages - refused);
    return refused;
  };
  run(bus);
  run(lanes);
}

}  // namespace
