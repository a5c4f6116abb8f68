// SPDX-License-Identifier: MIT
//
// Broadcast beyond its model and the suites of its tier: memory, waits, misuse, what throws, what
// visitors do to their own broadcast.
#include "books/broadcast_books.hpp"
#include "support/failing.hpp"
#include "support/policies.hpp"
#include "support/started_at.hpp"
#include "support/test.hpp"

namespace broadcast_test { namespace {

using namespace std::chrono_literals;
using namespace handoff;
using namespace handoff::test;

using LosesOldest = test::Overwrites<BroadcastPolicies>;
using OneLosesOldest = test::Overwrites<OneProducer>;

static_assert(!std::is_copy_constructible_v<Broadcast<int>>);
static_assert(!std::is_move_constructible_v<Broadcast<int>>);
static_assert(std::is_nothrow_move_constructible_v<Broadcast<int>::Consumer>);
static_assert(!std::is_copy_constructible_v<Broadcast<int>::Consumer>);
static_assert(!std::is_copy_constructible_v<Broadcast<int>::Claim>);
static_assert(offsetof(handoff::detail::BroadcastReader, followers) >=
                  handoff::sync::destructive_span,
              "a consumer's position has a line of its own");

// Long enough for a thread to fall asleep; nothing hangs on it but how much a test exercises.
void let_consumers_sleep() { std::this_thread::sleep_for(10ms); }

// What a consumer finds now.
template <class Consumer>
std::vector<int> all_found(Consumer& consumer) {
  std::vector<int> found;
  consumer.consume([&](const int& message) { found.push_back(message); });
  return found;
}

// All four policies.
template <class Policies>
class AnyBroadcast : public testing::Test {
 protected:
  using Ints = Audited<Broadcast<int, Policies>>;
  static constexpr bool lossy = Policies::on_full == OnFull::overwrite_oldest;
};
using AllPolicies = testing::Types<BroadcastPolicies, OneProducer, LosesOldest, OneLosesOldest>;

TYPED_TEST_SUITE(AnyBroadcast, AllPolicies);

TYPED_TEST(AnyBroadcast, CapacityIsTheNextPowerOfTwo) {
  using Tested = typename TestFixture::Ints;
  for (const auto& [asked, got] : std::vector<std::pair<std::size_t, std::size_t>>{
           {1, 1}, {2, 2}, {3, 4}, {1000, 1024}, {1025, 2048}}) {
    EXPECT_EQ(Tested(asked).capacity(), got);
  }
  constexpr std::size_t huge = ~std::size_t{0};
  for (const std::size_t wrong : {huge, huge / 2, huge / 4}) {
    EXPECT_THROW(Tested{wrong}, std::length_error) << wrong;
  }
  EXPECT_THROW(Tested{std::size_t{0}}, std::logic_error);
}

TYPED_TEST(AnyBroadcast, PositionsRunOver) {
  // Tickets are four times as large: these and the positions pass 2^64, 2^63, 2^32, 2^31.
  for (const int bits : {62, 61, 32, 31, 30, 29}) {
    const std::uint64_t edge = std::uint64_t{1} << bits;
    for (std::uint64_t before = 0; before <= 8; ++before) {
      for (const std::size_t capacity : {1U, 2U, 4U}) {
        StartedAt<typename TestFixture::Ints> broadcast(capacity, edge - before);
        auto first = broadcast.consumer();
        std::vector<int> expected;
        for (int lap = 0; lap < 12; ++lap) {
          expected.clear();
          for (std::size_t i = 0; i < capacity; ++i) {
            ASSERT_EQ(broadcast.try_push(lap), Status::ok);
            expected.push_back(lap);
          }
          if (!TestFixture::lossy) {
            ASSERT_EQ(broadcast.try_push(0), Status::full) << edge << " - " << before;
          }
          ASSERT_EQ(first.behind(), capacity);
          ASSERT_EQ(all_found(first), expected) << edge << " - " << before;
        }
        broadcast.close();
        ASSERT_TRUE(first.closed());
      }
    }
  }
}

TYPED_TEST(AnyBroadcast, AWaitEndsByAStopOrADeadline) {
  for (const auto spin_for : {std::chrono::nanoseconds(0), std::chrono::nanoseconds::max()}) {
    typename TestFixture::Ints broadcast(2);
    auto consumer = broadcast.consumer({.spin_for = spin_for});
    const std::size_t sleeps = handoff::test::calls(Call::futex);
    EXPECT_EQ(consumer.wait(1ms), Status::timed_out);
    if (spin_for == std::chrono::nanoseconds::max()) {
      EXPECT_EQ(handoff::test::calls(Call::futex), sleeps) << "it never sleeps";
    }
    EXPECT_EQ(consumer.wait_and_consume([](const int&) { FAIL(); }, 0ms), Status::timed_out);
    std::stop_source stop;
    std::thread stopper([&] {
      let_consumers_sleep();
      stop.request_stop();
    });
    EXPECT_EQ(consumer.wait(stop.get_token()), Status::stopped);
    stopper.join();
    ASSERT_EQ(broadcast.try_push(1), Status::ok);
    EXPECT_EQ(consumer.wait(0ms), Status::ok) << "what is there comes first";
    EXPECT_EQ(consumer.wait(stop.get_token()), Status::ok);
    EXPECT_EQ(all_found(consumer), std::vector{1});
  }
}

TYPED_TEST(AnyBroadcast, AVisitorMayPublishAndJoinAndClose) {
  typename TestFixture::Ints broadcast(4);
  auto consumer = broadcast.consumer();
  ASSERT_EQ(broadcast.try_push(1), Status::ok);
  std::optional<typename TestFixture::Ints::Consumer> joined;
  EXPECT_EQ(consumer.consume(
                [&](const int&) {
                  joined.emplace(broadcast.consumer());
                  EXPECT_EQ(broadcast.try_push(2), Status::ok);
                  broadcast.close();
                },
                1),
            1U);
  EXPECT_EQ(all_found(consumer), std::vector{2});
  EXPECT_EQ(all_found(*joined), std::vector{2});
  EXPECT_TRUE(consumer.closed() && joined->closed());
}

TYPED_TEST(AnyBroadcast, LivesInTheCallersStorage) {
  using Tested = typename TestFixture::Ints;
  const std::size_t bytes = Tested::storage_bytes(5);
  std::vector<std::byte> storage(bytes + 3);
  const Tested first(5);  // the first one in a process also reads the number of CPUs
  for (std::size_t offset = 0; offset < 4; ++offset) {
    const std::size_t before = handoff::test::calls(Call::allocation);
    {
      Tested broadcast(5, std::span(storage).subspan(offset, bytes));
      EXPECT_EQ(handoff::test::calls(Call::allocation), before);
      EXPECT_EQ(broadcast.capacity(), 8U);
      auto consumer = broadcast.consumer();
      for (int i = 0; i < 8; ++i) ASSERT_EQ(broadcast.try_push(i), Status::ok);
      EXPECT_EQ(all_found(consumer).size(), 8U);
    }
  }
  EXPECT_THROW(Tested(5, std::span(storage).first(16)), std::length_error);
}

TYPED_TEST(AnyBroadcast, OverAlignedMessagesLieWhereTheyMust) {
  struct alignas(256) Wide {
    int value = 0;
  };
  using Tested = Audited<Broadcast<Wide, TypeParam>>;
  std::vector<std::byte> storage(Tested::storage_bytes(2) + 1);
  for (const std::span<std::byte> lent : {std::span<std::byte>(), std::span(storage).subspan(1)}) {
    Tested broadcast(2, lent);
    auto consumer = broadcast.consumer();
    for (int i = 0; i < 2; ++i) ASSERT_EQ(broadcast.try_push(Wide{i}), Status::ok);
    int next = 0;
    consumer.consume([&](const Wide& message) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&message) % alignof(Wide), 0U);
      EXPECT_EQ(message.value, next++);
    });
    EXPECT_EQ(next, 2);
  }
}

TYPED_TEST(AnyBroadcast, OnlyJoiningAllocates) {
  typename TestFixture::Ints broadcast(8);
  auto consumer = broadcast.consumer();
  {
    auto other = broadcast.consumer();
  }
  const std::size_t before = handoff::test::calls(Call::allocation);
  int sum = 0;
  const auto add = [&](const int& message) { sum += message; };
  for (int lap = 0; lap < 100; ++lap) {
    std::array<int, 3> batch{1, 1, 1};
    ASSERT_EQ(broadcast.try_push_batch(batch), 3U);
    ASSERT_EQ(broadcast.push(1), Status::ok);
    auto claim = broadcast.claim(2);
    claim.emplace(1);
    claim.publish();
    auto other = broadcast.consumer();  // takes the record of the one that left
    ASSERT_EQ(consumer.wait_and_consume(add), Status::ok);
    while (consumer.consume(add) != 0) {
    }
  }
  EXPECT_EQ(sum, 500);
  EXPECT_EQ(handoff::test::calls(Call::allocation), before);
}

TYPED_TEST(AnyBroadcast, WhoFollowsNothingFindsTheEnd) {
  typename TestFixture::Ints broadcast(2);
  const auto expect_end = [](auto& nobody) {
    const auto look = [](const int&) { FAIL(); };
    EXPECT_TRUE(nobody.closed());
    EXPECT_EQ(nobody.consume(look), 0U);
    EXPECT_EQ(nobody.wait(), Status::closed);
    EXPECT_EQ(nobody.wait_and_consume(look), Status::closed);
    EXPECT_EQ(nobody.behind(), 0U);
    if constexpr (TestFixture::lossy) {
      EXPECT_EQ(nobody.lost(), 0U);
    }
  };
  typename TestFixture::Ints::Consumer never;
  expect_end(never);
  never.leave();
  auto consumer = broadcast.consumer();
  ASSERT_EQ(broadcast.try_push(1), Status::ok);
  never = std::move(consumer);
  expect_end(consumer);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(all_found(never), std::vector{1});
  never.leave();
  expect_end(never);
}

// The message of that visit is the call's last one; a consumer that only moved finds the next.
TYPED_TEST(AnyBroadcast, AConsumerEndsOrMovesInItsVisitor) {
  using Consumer = typename TestFixture::Ints::Consumer;
  typename TestFixture::Ints broadcast(4);
  auto ended = std::make_unique<Consumer>(broadcast.consumer());
  Consumer replaced = broadcast.consumer();
  Consumer moved = broadcast.consumer();
  Consumer thrown = broadcast.consumer();
  Consumer target;
  for (const int i : {1, 2}) ASSERT_EQ(broadcast.try_push(i), Status::ok);
  EXPECT_EQ(ended->consume([&](const int&) { ended.reset(); }), 1U);
  EXPECT_EQ(replaced.consume([&](const int&) { replaced = broadcast.consumer(); }), 1U);
  EXPECT_EQ(moved.consume([&](const int&) { target = std::move(moved); }), 1U);
  EXPECT_THROW((void)thrown.consume([&](const int&) {
    thrown = Consumer();
    throw 7;
  }),
               int);
  EXPECT_EQ(all_found(target), std::vector{2});
  EXPECT_TRUE(all_found(replaced).empty());
  for (const int i : {3, 4, 5, 6}) ASSERT_EQ(broadcast.try_push(i), Status::ok) << "room";
  EXPECT_EQ(all_found(replaced), (std::vector{3, 4, 5, 6}));
  EXPECT_EQ(all_found(target), (std::vector{3, 4, 5, 6}));
}

// --- Messages in place. ---

TYPED_TEST(AnyBroadcast, AMessageIsRenewed) {
  Audited<Broadcast<std::string, TypeParam>> broadcast(2);
  auto consumer = broadcast.consumer();
  const auto fill = [&](const char* text) {
    auto claim = broadcast.claim();
    std::string& message = claim.renew();
    const std::string before = message;
    message = text;
    claim.publish();
    consumer.consume([&](const std::string& seen) { EXPECT_EQ(seen, text); });
    return before;
  };
  EXPECT_EQ(fill("a"), "");
  EXPECT_EQ(fill("b"), "");
  EXPECT_EQ(fill("c"), "a") << "what lay there a lap ago";
  EXPECT_EQ(fill("d"), "b");
  {
    auto dropped = broadcast.claim(2);
  }
  EXPECT_EQ(consumer.consume([](const std::string&) {}), 0U) << "it makes room again";
  EXPECT_EQ(fill("e").size(), TypeParam::many_producers ? 0U : 1U);
}

struct ThrowsWhenMade {
  explicit ThrowsWhenMade(int number) : value(number) {
    if (number < 0) throw number;
  }
  ThrowsWhenMade(const ThrowsWhenMade& other) : value(other.value) {
    if (value == 7) throw value;
  }
  ThrowsWhenMade(ThrowsWhenMade&&) noexcept = default;
  ThrowsWhenMade& operator=(ThrowsWhenMade&&) noexcept = default;
  int value;
};

TYPED_TEST(AnyBroadcast, AThrowingConstructorPublishesNothing) {
  Audited<Broadcast<ThrowsWhenMade, TypeParam>> broadcast(2);
  auto consumer = broadcast.consumer();
  const ThrowsWhenMade sample(7);
  EXPECT_THROW((void)broadcast.try_emplace(-1), int);
  EXPECT_THROW((void)broadcast.try_push(sample), int);
  EXPECT_THROW((void)broadcast.push(sample), int);
  EXPECT_EQ(consumer.consume([](const ThrowsWhenMade&) { ADD_FAILURE(); }), 0U);
  EXPECT_EQ(consumer.behind(), 0U);
  auto claim = broadcast.claim(2);
  EXPECT_THROW((void)claim.emplace(-1), int);
  claim.emplace(1);
  claim.emplace(2);
  claim.publish();
  std::vector<int> seen;
  EXPECT_EQ(consumer.consume([&](const ThrowsWhenMade& message) { seen.push_back(message.value); }),
            2U);
  EXPECT_EQ(seen, (std::vector{1, 2}));
}

TYPED_TEST(AnyBroadcast, MoreThanWasClaimedIsMisuse) {
  typename TestFixture::Ints broadcast(2);
  auto claim = broadcast.claim();
  claim.emplace(1);
  EXPECT_THROW((void)claim.emplace(2), std::logic_error);
  EXPECT_THROW((void)claim.renew(), std::logic_error);
  claim.publish();
  EXPECT_THROW((void)claim.emplace(3), std::logic_error);
  EXPECT_EQ(broadcast.claim(0).status(), Status::ok);
  EXPECT_FALSE(broadcast.try_claim(0));
}

// --- The slowest holds producers back. ---

template <class Policies>
class HeldBack : public testing::Test {
 protected:
  using Ints = Audited<Broadcast<int, Policies>>;
};
using HoldingPolicies = testing::Types<BroadcastPolicies, OneProducer>;

TYPED_TEST_SUITE(HeldBack, HoldingPolicies);

TYPED_TEST(HeldBack, ALongBatchGivesPlacesBackInStrides) {
  typename TestFixture::Ints broadcast(64);
  auto consumer = broadcast.consumer();
  for (int i = 0; i < 64; ++i) ASSERT_EQ(broadcast.try_push(i), Status::ok);
  std::size_t accepted = 0;
  consumer.consume([&](const int& message) {
    if (message < 64 && broadcast.try_push(100) == Status::ok) ++accepted;
  });
  EXPECT_EQ(accepted, 48U) << "a quarter at a time, and the last one at the end";
}

TYPED_TEST(HeldBack, AVisitorNeitherWaitsNorConsumes) {
  typename TestFixture::Ints broadcast(2);
  auto consumer = broadcast.consumer();
  auto slower = broadcast.consumer();
  for (int i = 0; i < 2; ++i) ASSERT_EQ(broadcast.try_push(i), Status::ok);
  EXPECT_EQ(consumer.consume([&](const int&) {
    EXPECT_EQ(broadcast.push(7, 10s), Status::full);
    EXPECT_EQ(broadcast.claim(1, 10s).status(), Status::full);
    EXPECT_THROW((void)consumer.consume([](const int&) {}), std::logic_error);
    EXPECT_THROW((void)consumer.wait_and_consume([](const int&) {}), std::logic_error);
  }),
            2U);
  EXPECT_EQ(broadcast.push(7, 1ms), Status::timed_out) << "nobody drains";
  EXPECT_EQ(all_found(slower), (std::vector{0, 1}));
  EXPECT_TRUE(all_found(consumer).empty()) << "each was visited once";
}

TYPED_TEST(HeldBack, WrongFollowersAreRefused) {
  typename TestFixture::Ints broadcast(4);
  typename TestFixture::Ints other(4);
  auto stranger = other.consumer();
  EXPECT_THROW((void)broadcast.consumer({.after = {stranger}}), std::logic_error);
  auto gone = broadcast.consumer();
  gone.leave();
  EXPECT_THROW((void)broadcast.consumer({.after = {gone}}), std::logic_error);
  auto a = broadcast.consumer();
  EXPECT_THROW((void)broadcast.consumer({.after = {a, a, a, a, a, a, a, a, a}}), std::length_error);
  auto b = broadcast.consumer({.after = {a, a, a, a, a, a, a, a}});
  ASSERT_EQ(broadcast.try_push(1), Status::ok);
  EXPECT_TRUE(all_found(b).empty());
  EXPECT_EQ(all_found(a), std::vector{1});
  EXPECT_EQ(all_found(b), std::vector{1});
}

// --- The oldest are lost. ---

template <class Policies>
class Lossy : public testing::Test {
 protected:
  using Ints = Audited<Broadcast<int, Policies>>;
};
using LosingPolicies = testing::Types<LosesOldest, OneLosesOldest>;

TYPED_TEST_SUITE(Lossy, LosingPolicies);

TYPED_TEST(Lossy, NothingComesAfterTheEndOfABatch) {
  typename TestFixture::Ints broadcast(4);
  auto consumer = broadcast.consumer();
  for (int i = 0; i < 2; ++i) ASSERT_EQ(broadcast.try_push(i), Status::ok);
  std::vector<bool> ends;
  const auto look = [&](const int& message, std::uint64_t, bool end_of_batch) {
    if (message == 1) {
      EXPECT_EQ(broadcast.try_push(2), Status::ok);
    }
    ends.push_back(end_of_batch);
  };
  EXPECT_EQ(consumer.consume(look), 2U) << "2 comes after what was said to be the end";
  EXPECT_EQ(consumer.consume(look), 1U);
  EXPECT_EQ(ends, (std::vector{false, true, true}));
}

TYPED_TEST(Lossy, AConsumerEndsInAVisitWithinAVisit) {
  typename TestFixture::Ints broadcast(4);
  auto consumer = std::make_unique<typename TestFixture::Ints::Consumer>(broadcast.consumer());
  for (int i = 0; i < 4; ++i) ASSERT_EQ(broadcast.try_push(i), Status::ok);
  const auto end = [&](const int&) { consumer.reset(); };
  EXPECT_EQ(consumer->consume([&](const int&) { EXPECT_EQ(consumer->consume(end), 1U); }), 1U);
}

TYPED_TEST(Lossy, WhatIsLostInAVisitBelongsToTheNextOne) {
  typename TestFixture::Ints broadcast(2);
  auto consumer = broadcast.consumer();
  for (int i = 0; i < 2; ++i) ASSERT_EQ(broadcast.try_push(i), Status::ok);
  std::vector<int> seen;
  consumer.consume([&](const int& message, std::uint64_t sequence) {
    EXPECT_EQ(sequence, static_cast<std::uint64_t>(message));
    EXPECT_EQ(sequence, seen.size() + consumer.lost());
    if (message == 0) {
      for (int i = 2; i <= 4; ++i) EXPECT_EQ(broadcast.try_push(i), Status::ok);
    }
    seen.push_back(message);
  });
  EXPECT_EQ(seen, (std::vector{0, 3}));
  EXPECT_EQ(consumer.lost(), 2U);
  EXPECT_EQ(all_found(consumer), std::vector{4});
}

// A copy that stops in the midst, so that producers meet it.
struct SlowCopy {
  explicit SlowCopy(int number) noexcept : value(number) {}
  SlowCopy(const SlowCopy& other) : value(other.value) {
    if (meanwhile) std::exchange(meanwhile, nullptr)();
  }
  SlowCopy(SlowCopy&&) noexcept = default;
  SlowCopy& operator=(SlowCopy&&) noexcept = default;
  static inline std::function<void()> meanwhile;
  int value;
};

TYPED_TEST(Lossy, FullOnlyWhileThatMessageIsCopied) {
  Audited<Broadcast<SlowCopy, TypeParam>> broadcast(2);
  auto consumer = broadcast.consumer();
  ASSERT_EQ(broadcast.try_emplace(0), Status::ok);
  std::vector<int> seen;
  const auto look = [&](const SlowCopy& message) { seen.push_back(message.value); };
  SlowCopy::meanwhile = [&] {
    EXPECT_EQ(broadcast.try_emplace(1), Status::ok);
    EXPECT_EQ(broadcast.try_emplace(2), Status::full);
    EXPECT_EQ(broadcast.push(SlowCopy(2), 1ms), Status::timed_out);
    EXPECT_EQ(broadcast.try_claim().status(), Status::full);
  };
  EXPECT_EQ(consumer.consume(look, 1), 1U);
  EXPECT_EQ(broadcast.try_emplace(2), Status::ok);
  EXPECT_EQ(consumer.consume(look), 2U);
  EXPECT_EQ(seen, (std::vector{0, 1, 2}));
  EXPECT_EQ(consumer.lost(), 0U);
}

}}  // namespace broadcast_test
