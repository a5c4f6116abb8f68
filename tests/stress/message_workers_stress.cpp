// SPDX-License-Identifier: MIT
//
// Message workers under real threads: closing under load, all places taken, pauses, and the order
// of keys. No failure in n rounds bounds the rate of wrong ones below 3/n (95 %); a hang ends the
// test by its watchdog.
#include "support/test.hpp"

namespace {

using namespace handoff;

// How many there are: what is moved from counts no more.
class Counted {
 public:
  explicit Counted(std::atomic<std::int64_t>& alive) : alive_(&alive) { ++*alive_; }
  Counted(Counted&& other) noexcept : alive_(std::exchange(other.alive_, nullptr)) {}
  ~Counted() {
    if (alive_ != nullptr) --*alive_;
  }

 private:
  std::atomic<std::int64_t>* alive_;
};

struct Item {
  Counted counted;
  std::uint64_t key = 0;
  unsigned throws = 0;
};
struct NoKey {};
struct ByKey {
  static std::uint64_t key(const Item& item) { return item.key; }
};

template <class Policies>
class MessageWorkersStress : public testing::Test {};
using Orders = testing::Types<NoKey, ByKey>;
TYPED_TEST_SUITE(MessageWorkersStress, Orders);

Closing closing_of(std::size_t strength, std::uint64_t random) {
  if (strength == 0) return Closing::finish;
  if (strength == 1) return Closing::abandon;
  return Closing::finish_until(std::chrono::microseconds(random % 300));
}

// All has an outcome, and none that a close of this strength does not give.
bool is_told_as(std::size_t strength, const Tally& tally) {
  return tally.balanced() && tally.pending == 0 && (strength == 1 || tally.cancelled == 0) &&
         (strength == 2 || tally.expired == 0);
}

// Producers publish in all ways until they are refused, while the workers are closed at some
// moment, a hundred times in each strength: every message that was accepted is accounted for,
// exactly.
TYPED_TEST(MessageWorkersStress, ClosesUnderLoad) {
  const std::size_t rounds = 3 * test::rounds(100);
  for (std::size_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE(testing::Message() << "stream " << round);
    auto random = test::random(round);
    std::atomic<std::int64_t> alive{0};
    std::atomic<std::uint64_t> ran{0};
    std::atomic<std::uint64_t> threw{0};
    std::atomic<std::uint64_t> taken{0};  // ok, or by publish_and_wait() an end of another kind
    const MessageWorkersOptions options{.width = 1 + random() % 4,
                                        .capacity = 1 + random() % 40,
                                        .on_full = OnFull{static_cast<std::uint8_t>(random() % 3)},
                                        .on_error = [](const TaskFailure&) {}};
    std::optional<BasicMessageWorkers<TypeParam, Item>> workers;
    workers.emplace(options, [&](const Item& item) {
      ++ran;
      if (item.throws == 0) return;
      ++threw;
      throw item.throws;
    });
    const auto publish = [&](std::uint64_t draw) {
      Item item{Counted(alive), draw % 5, draw % 7 == 0 ? 1U : 0U};
      Status said = Status::closed;
      switch (draw / 35 % 4) {
        case 0: said = workers->try_publish(std::move(item)); break;
        case 1: said = workers->publish(std::move(item), std::chrono::microseconds(50)); break;
        case 2: {
          try {
            said = workers->publish_and_wait(std::move(item));
            if (said == Status::stopped || said == Status::timed_out) ++taken;
          } catch (unsigned) {
            said = Status::ok;
          }
          break;
        }
        default: said = workers->publish(std::move(item)); break;
      }
      if (said == Status::ok) ++taken;
      return said != Status::closed;
    };
    std::vector<std::thread> producers;
    for (std::uint64_t p = 0; p < 4; ++p) {
      producers.emplace_back([&publish, seed = random()] {
        std::mt19937_64 draws(seed);
        while (publish(draws())) {
        }
      });
    }
    if (random() % 4 == 0) {
      if (workers->pause(std::chrono::microseconds(random() % 200)) == Status::ok) {
        if (random() % 2 == 0) workers->resume();
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 1000));
    const Tally tally = workers->close(closing_of(round % 3, random()));
    for (std::thread& producer : producers) producer.join();
    ASSERT_TRUE(is_told_as(round % 3, tally));
    ASSERT_EQ(tally.accepted, taken);
    ASSERT_EQ(tally.done + tally.failed, ran);
    ASSERT_EQ(tally.failed, threw);
    ASSERT_EQ(tally.first_failure != nullptr, threw != 0);
    workers.reset();
    ASSERT_EQ(alive, 0) << "each message was destroyed";
  }
}

// All places are taken all the time, by producers and by handlers: all arrive.
TYPED_TEST(MessageWorkersStress, GoesOnWhileAllIsFull) {
  const std::uint64_t each = test::rounds(5000);
  for (const OnFull on_full : {OnFull::wait, OnFull::run_here}) {
    for (const std::size_t capacity : {1U, 2U, 7U}) {
      std::atomic<std::int64_t> alive{0};
      std::atomic<std::uint64_t> ran{0};
      std::optional<BasicMessageWorkers<TypeParam, Item>> workers;
      workers.emplace(MessageWorkersOptions{.width = 3, .capacity = capacity, .on_full = on_full},
                      [&](const Item& item) {
                        ++ran;
                        for (unsigned i = 0; i < item.throws; ++i) {
                          EXPECT_EQ(workers->publish(Item{Counted(alive), item.key + i, 0}),
                                    Status::ok);
                        }
                      });
      std::vector<std::thread> producers;
      for (std::uint64_t p = 0; p < 8; ++p) {
        producers.emplace_back([&, p] {
          for (std::uint64_t i = 0; i < each; ++i) {
            EXPECT_EQ(workers->publish(Item{Counted(alive), p, i % 10 == 0 ? 3U : 0U}), Status::ok);
          }
        });
      }
      for (std::thread& producer : producers) producer.join();
      EXPECT_EQ(workers->wait(), Status::ok);  // what handlers publish after a close is refused
      const Tally tally = workers->close();
      const std::uint64_t expected = 8 * (each + 3 * ((each + 9) / 10));
      EXPECT_EQ(ran, expected);
      EXPECT_EQ(tally.done, expected);
      EXPECT_EQ(alive, 0);
    }
  }
}

// The state is plain, and changed while they are paused: what a pause lets through is seen.
TYPED_TEST(MessageWorkersStress, PausesAreExact) {
  std::atomic<std::int64_t> alive{0};
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> inside{0};
  BasicMessageWorkers<TypeParam, Item> workers({.width = 3, .capacity = 20}, [&](const Item&) {
    ++inside;
    --inside;
  });
  std::vector<std::thread> producers;
  for (std::uint64_t p = 0; p < 2; ++p) {
    producers.emplace_back([&, p] {
      for (std::uint64_t i = 0; !over; ++i) {
        if (i % 10 == 0) {
          EXPECT_EQ(workers.publish_and_wait(Item{Counted(alive), p}), Status::ok);
        } else {
          EXPECT_EQ(workers.publish(Item{Counted(alive), p}), Status::ok);
        }
      }
    });
  }
  auto random = test::random();
  for (std::size_t round = 0; round < test::rounds(2000); ++round) {
    const Status said = random() % 2 == 0 ? workers.pause()
                                          : workers.pause(std::chrono::microseconds(random() % 20));
    if (said != Status::ok) continue;
    const std::uint64_t done = workers.tally().done;
    ASSERT_EQ(inside, 0U);
    if (random() % 2 == 0) std::this_thread::yield();
    ASSERT_EQ(inside, 0U);
    ASSERT_EQ(workers.tally().done, done) << "none was half done";
    workers.resume();
  }
  over = true;
  for (std::thread& producer : producers) producer.join();
  EXPECT_TRUE(workers.close().balanced());
}

struct Step {
  std::uint32_t key = 0;
  std::uint32_t number = 0;
};
struct BySteps {
  static std::uint64_t key(const Step& step) { return step.key; }
};

// 10^6 messages of 1000 keys over 8 workers, of four producers with keys of their own.
TEST(MessageKeysStress, NoneOvertakesAnotherOfItsKey) {
  constexpr std::uint32_t keys = 1000;
  constexpr std::uint32_t producers = 4;
  const auto each = static_cast<std::uint32_t>(test::rounds(1000));
  // Plain: two handlers of a key at once are a race, which a sanitizer sees; and by the counts.
  struct alignas(64) Seen {
    std::uint32_t next = 0;
    std::uint32_t overtakings = 0;
  };
  std::vector<Seen> seen(keys);
  BasicMessageWorkers<BySteps, Step> workers({.width = 8}, [&seen](const Step& step) {
    Seen& of_key = seen[step.key];
    if (step.number != of_key.next) ++of_key.overtakings;
    of_key.next = step.number + 1;
  });
  std::vector<std::thread> threads;
  for (std::uint32_t p = 0; p < producers; ++p) {
    threads.emplace_back([&workers, p, each] {
      for (std::uint32_t number = 0; number < each; ++number) {
        for (std::uint32_t key = p; key < keys; key += producers) {
          EXPECT_EQ(workers.publish(Step{key, number}), Status::ok);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Tally tally = workers.close();
  EXPECT_EQ(tally.done, std::uint64_t{keys} * each);
  std::uint64_t overtakings = 0;
  for (const Seen& of_key : seen) {
    overtakings += of_key.overtakings;
    ASSERT_EQ(of_key.next, each);
  }
  EXPECT_EQ(overtakings, 0U);
}

}  // namespace
