// SPDX-License-Identifier: MIT
//
// Broadcast and Latest under real threads: each message to each consumer once, in its producer's
// order, or told as lost; consumers that come and go; values that are whole and never older. A
// wake-up that is lost is a hang, which the watchdog turns into a failure. No failure among n
// messages bounds the rate of failures below 3/n (95 %).
#include "books/broadcast_books.hpp"
#include "support/policies.hpp"
#include "support/started_at.hpp"
#include "support/test.hpp"

namespace {

using namespace std::chrono_literals;
using handoff::Broadcast;
using handoff::BroadcastPolicies;
using handoff::Latest;
using handoff::LatestByKey;
using handoff::OneProducer;
using handoff::OnFull;
using handoff::Status;
using handoff::test::Audited;
using handoff::test::rounds;
using handoff::test::StartedAt;

using LosesOldest = handoff::test::Overwrites<BroadcastPolicies>;
using OneLosesOldest = handoff::test::Overwrites<OneProducer>;

// Larger than a line, so that a message that is read while it is written shows.
struct Item {
  unsigned producer = 0;
  std::uint64_t number = 0;
  std::array<std::uint64_t, 9> copies{};

  static Item of(unsigned producer, std::uint64_t number) {
    Item item{.producer = producer, .number = number};
    item.copies.fill(number);
    return item;
  }
  bool whole() const {
    for (const std::uint64_t copy : copies) {
      if (copy != number) return false;
    }
    return true;
  }
};

constexpr unsigned kProducersMost = 8;

// What one consumer saw.
struct Ledger {
  std::array<std::uint64_t, kProducersMost> last{};  // number of each producer's last one
  std::uint64_t seen = 0;
  std::uint64_t faults = 0;  // not whole, or out of order
  std::uint64_t gaps = 0;

  void note(const Item& item) {
    std::uint64_t& before = last[item.producer];
    if (!item.whole() || item.number <= before) ++faults;
    if (item.number != before + 1 && before != 0) ++gaps;
    before = item.number;
    ++seen;
  }
};

std::chrono::nanoseconds any_spin(std::mt19937_64& dice) {
  constexpr std::array choices{std::chrono::nanoseconds(0), std::chrono::nanoseconds(-1),
                               std::chrono::nanoseconds(2000)};
  return choices[dice() % choices.size()];
}

template <class Policies>
using Stream = StartedAt<Audited<Broadcast<Item, Policies>>>;

// Where to begin so that tickets run over in the midst of so many messages.
constexpr std::uint64_t to_run_over(std::uint64_t messages) {
  return (std::uint64_t{1} << 62) - messages / 2;
}

template <class Policies>
void produce(Broadcast<Item, Policies>& broadcast, unsigned producer, std::uint64_t count) {
  auto dice = handoff::test::random(100 + producer);
  for (std::uint64_t number = 1; number <= count;) {
    switch (dice() % 4) {
      case 0: {
        auto claim = broadcast.claim(1 + dice() % 4);
        ASSERT_EQ(claim.status(), Status::ok);
        const std::size_t filled = dice() % (claim.size() + 1);
        for (std::size_t i = 0; i < filled && number <= count; ++i) {
          claim.emplace(Item::of(producer, number++));
        }
        claim.publish();
        break;
      }
      case 1: {
        std::vector<Item> batch;
        for (std::uint64_t i = number; i <= count && batch.size() < 5; ++i) {
          batch.push_back(Item::of(producer, i));
        }
        number += broadcast.try_push_batch(batch);
        break;
      }
      default: ASSERT_EQ(broadcast.push(Item::of(producer, number++)), Status::ok);
    }
  }
}

template <class Consumer>
void follow(Consumer& consumer, Ledger& ledger) {
  while (consumer.wait_and_consume([&](const Item& item) { ledger.note(item); }) == Status::ok) {
  }
}

// Joins and leaves until `over`, never with a gap.
template <class TheBroadcast>
void come_and_go(TheBroadcast& broadcast, const std::atomic<bool>& over, std::uint64_t& faults) {
  auto dice = handoff::test::random(7);
  while (!over) {
    Ledger ledger;
    auto visitor = broadcast.consumer({.spin_for = any_spin(dice)});
    for (auto looks = dice() % 20; looks != 0 && !over; --looks) {
      const Status status = visitor.wait(1ms);
      if (status == Status::closed) break;
      visitor.consume([&](const Item& item) { ledger.note(item); }, dice() % 50);
    }
    faults += ledger.faults + ledger.gaps;
  }
}

template <class Policies>
void hold_back(unsigned producers, std::uint64_t each) {
  auto dice = handoff::test::random(producers);
  for (const std::size_t capacity : {1U, 2U, 8U, 256U}) {
    Stream<Policies> broadcast(capacity, to_run_over(each * producers));
    auto a = broadcast.consumer({.spin_for = any_spin(dice)});
    auto b = broadcast.consumer({.after = {a}, .spin_for = any_spin(dice)});
    auto c = broadcast.consumer({.spin_for = any_spin(dice)});
    std::array<Ledger, 3> ledgers;
    std::atomic<std::uint64_t> early{0};
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
      // What A adds B sees.
      while (a.wait_and_consume([&](Item& item) {
        ledgers[0].note(item);
        item.copies[8] = ~item.number;
      }) == Status::ok) {
      }
    });
    threads.emplace_back([&] {
      while (b.wait_and_consume([&](Item& item) {
        if (item.copies[8] != ~item.number) ++early;
        Item restored = item;
        restored.copies[8] = item.number;
        ledgers[1].note(restored);
      }) == Status::ok) {
      }
    });
    // C looks at what A does not write.
    threads.emplace_back([&] {
      while (c.wait_and_consume([&](const Item& item) {
        ledgers[2].note(Item::of(item.producer, item.number));
      }) == Status::ok) {
      }
    });
    std::vector<std::thread> writers;
    for (unsigned p = 0; p < producers; ++p) {
      writers.emplace_back([&, p] { produce<Policies>(broadcast, p, each); });
    }
    for (std::thread& writer : writers) writer.join();
    broadcast.close();
    for (std::thread& thread : threads) thread.join();
    for (const Ledger& ledger : ledgers) {
      ASSERT_EQ(ledger.faults + ledger.gaps, 0U) << "capacity " << capacity;
      ASSERT_EQ(ledger.seen, each * producers) << "capacity " << capacity;
    }
    ASSERT_EQ(early, 0U);
  }
}

TEST(BroadcastStress, OneProducerThreeConsumers) { hold_back<OneProducer>(1, rounds(20'000)); }
TEST(BroadcastStress, ThreeProducersThreeConsumers) {
  hold_back<BroadcastPolicies>(3, rounds(6'000));
}
TEST(BroadcastStress, EightProducersThreeConsumers) {
  hold_back<BroadcastPolicies>(8, rounds(1'000));
}

// The same, where a visitor throws, leaves, or lets another one join and leave.
template <class TheBroadcast>
void make_trouble(TheBroadcast& broadcast, const std::atomic<bool>& over, std::uint64_t& faults) {
  auto dice = handoff::test::random(8);
  while (!over) {
    Ledger ledger;
    auto consumer = broadcast.consumer({.spin_for = any_spin(dice)});
    const auto visit = [&](const Item& item) {
      ledger.note(item);
      const auto what = dice() % 8;
      if (what == 0) throw item.number;
      if (what == 1) consumer.leave();
      if (what == 2) {
        auto other = broadcast.consumer();
        (void)other.consume([&](const Item& newer) { ledger.faults += newer.whole() ? 0 : 1; });
      }
    };
    for (Status status = Status::ok; status == Status::ok;) {
      try {
        status = consumer.wait_and_consume(visit, 1ms);
      } catch (const std::uint64_t& number) {
        if (number == 0) ++ledger.faults;
      }
    }
    faults += ledger.faults + ledger.gaps;
  }
}

template <class Policies>
void comings_and_goings(unsigned producers, std::uint64_t each) {
  for (const std::size_t capacity : {1U, 4U, 64U}) {
    Stream<Policies> broadcast(capacity, to_run_over(each * producers));
    auto steady = broadcast.consumer();
    Ledger ledger;
    std::atomic<bool> over{false};
    std::array<std::uint64_t, 2> faults{};
    std::vector<std::thread> threads;
    threads.emplace_back([&] { follow(steady, ledger); });
    threads.emplace_back([&] { come_and_go(broadcast, over, faults[0]); });
    threads.emplace_back([&] { make_trouble(broadcast, over, faults[1]); });
    std::vector<std::thread> writers;
    for (unsigned p = 0; p < producers; ++p) {
      writers.emplace_back([&, p] { produce<Policies>(broadcast, p, each); });
    }
    for (std::thread& writer : writers) writer.join();
    over = true;
    broadcast.close();
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(faults[0] + faults[1] + ledger.faults + ledger.gaps, 0U) << "capacity " << capacity;
    ASSERT_EQ(ledger.seen, each * producers) << "capacity " << capacity;
  }
}

TEST(BroadcastStress, ConsumersComeAndGo) {
  comings_and_goings<OneProducer>(1, rounds(10'000));
  comings_and_goings<BroadcastPolicies>(2, rounds(5'000));
}

// Joins and leaves until `over`, where messages are lost: the number of each message says how many
// came and were lost since the first one.
template <class TheBroadcast>
void come_and_lose(TheBroadcast& broadcast, const std::atomic<bool>& over, std::uint64_t& faults) {
  auto dice = handoff::test::random(9);
  while (!over) {
    Ledger ledger;
    std::uint64_t first = 0;
    auto visitor = broadcast.consumer({.spin_for = any_spin(dice)});
    const auto look = [&](const Item& item, std::uint64_t sequence) {
      const std::uint64_t others = ledger.seen + visitor.lost();
      if (ledger.seen == 0) first = sequence - others;
      // The sequence has 62 bits.
      if (((sequence - first - others) << 2) != 0) ++ledger.faults;
      ledger.note(item);
      if (dice() % 64 == 0) visitor.leave();
    };
    for (auto looks = dice() % 20; looks != 0 && !over; --looks) {
      if (visitor.wait_and_consume(look, 1ms) == Status::closed) break;
    }
    faults += ledger.faults;
  }
}

template <class Policies>
void lose(unsigned producers, std::uint64_t each) {
  for (const std::size_t capacity : {1U, 2U, 8U, 256U}) {
    Stream<Policies> broadcast(capacity, to_run_over(each * producers));
    std::array<Ledger, 2> ledgers;
    std::array<std::uint64_t, 2> lost{};
    std::atomic<bool> over{false};
    std::uint64_t faults = 0;
    std::vector<typename Broadcast<Item, Policies>::Consumer> consumers;
    for (unsigned c = 0; c < 2; ++c) consumers.push_back(broadcast.consumer());
    std::vector<std::thread> threads;
    for (unsigned c = 0; c < 2; ++c) {
      threads.emplace_back([&, c] {
        follow(consumers[c], ledgers[c]);
        lost[c] = consumers[c].lost();
      });
    }
    threads.emplace_back([&] { come_and_lose(broadcast, over, faults); });
    std::vector<std::thread> writers;
    for (unsigned p = 0; p < producers; ++p) {
      writers.emplace_back([&, p] {
        for (std::uint64_t number = 1; number <= each; ++number) {
          ASSERT_EQ(broadcast.push(Item::of(p, number)), Status::ok);
        }
      });
    }
    for (std::thread& writer : writers) writer.join();
    over = true;
    broadcast.close();
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(faults, 0U) << "capacity " << capacity;
    for (unsigned c = 0; c < 2; ++c) {
      ASSERT_EQ(ledgers[c].faults, 0U) << "capacity " << capacity;
      ASSERT_EQ(ledgers[c].seen + lost[c], each * producers) << "capacity " << capacity;
    }
  }
}

TEST(BroadcastStress, TheOldestAreLostAndCounted) {
  lose<OneLosesOldest>(1, rounds(30'000));
  lose<LosesOldest>(2, rounds(15'000));
}

// Whole values, never older, the last one for all; and each value was read or overwritten.
TEST(BroadcastStress, LatestUnderWritersAndReaders) {
  const std::uint64_t each = rounds(100'000);
  constexpr unsigned writers = 2;
  Audited<Latest<Item>> latest(6, {}, std::chrono::nanoseconds(0));
  std::array<std::uint64_t, 3> faults{};
  std::vector<std::thread> readers;
  for (unsigned r = 0; r < faults.size(); ++r) {
    readers.emplace_back([&, r] {
      std::array<std::uint64_t, writers> last{};
      std::uint64_t seen = 0;
      std::uint64_t before = 0;
      const auto look = [&](const Item& item, std::uint64_t version) {
        if (!item.whole() || item.number < last[item.producer] || version <= before) ++faults[r];
        last[item.producer] = item.number;
        before = version;
      };
      while (latest.read_newer(seen, look) == Status::ok) {
      }
      if (seen != each * writers) ++faults[r];
    });
  }
  std::vector<std::thread> threads;
  for (unsigned w = 0; w < writers; ++w) {
    threads.emplace_back([&, w] {
      for (std::uint64_t number = 1; number <= each; ++number) {
        ASSERT_EQ(latest.store(Item::of(w, number)), Status::ok);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  latest.close();
  for (std::thread& reader : readers) reader.join();
  for (const std::uint64_t fault : faults) EXPECT_EQ(fault, 0U);
  EXPECT_EQ(latest.version(), each * writers);
  EXPECT_LT(latest.overwritten(), each * writers);
}

TEST(BroadcastStress, LatestByKeyUnderProducers) {
  const std::uint64_t each = rounds(50'000);
  constexpr unsigned producers = 3;
  Audited<LatestByKey<std::string, std::uint64_t>> queue(16);
  std::vector<std::thread> threads;
  for (unsigned p = 0; p < producers; ++p) {
    threads.emplace_back([&, p] {
      auto dice = handoff::test::random(p);
      for (std::uint64_t number = 1; number <= each; ++number) {
        const std::string key = std::to_string(p) + "." + std::to_string(dice() % 10);
        ASSERT_EQ(queue.push(key, number), Status::ok);
      }
    });
  }
  std::thread closer([&] {
    for (std::thread& thread : threads) thread.join();
    queue.close();
  });
  std::uint64_t seen = 0;
  std::uint64_t faults = 0;
  std::vector<std::pair<std::string, std::uint64_t>> last;
  while (queue.wait_and_consume([&](const std::string& key, std::uint64_t& number) {
    ++seen;
    for (auto& [known, before] : last) {
      if (known != key) continue;
      if (number <= before) ++faults;
      before = number;
      return;
    }
    last.emplace_back(key, number);
  }) == Status::ok) {
  }
  closer.join();
  EXPECT_EQ(faults, 0U);
  EXPECT_EQ(seen + queue.overwritten(), each * producers);
}

}  // namespace
