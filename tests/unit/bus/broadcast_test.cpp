// SPDX-License-Identifier: MIT
//
// Broadcast: what consumers see, what holds producers back, who joins and leaves, what is lost.
// Real threads have their own tests in tests/stress, interleavings in explore/scenarios.
#include <handoff/bus/broadcast.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <handoff/core/misuse.hpp>
#include <handoff/sync/cache_line.hpp>

#include "books/broadcast_books.hpp"
#include "support/failing.hpp"
#include "support/started_at.hpp"
#include "support/support.hpp"

namespace broadcast_test { namespace {

using namespace std::chrono_literals;
using handoff::Broadcast;
using handoff::BroadcastPolicies;
using handoff::OneProducer;
using handoff::OnFull;
using handoff::Status;
using handoff::test::Audited;
using handoff::test::Call;
using handoff::test::StartedAt;

struct LosesOldest : BroadcastPolicies {
  static constexpr OnFull on_full = OnFull::overwrite_oldest;
};
struct OneLosesOldest : LosesOldest {
  static constexpr bool many_producers = false;
};

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

// A message that is counted while it lives; not where it was moved from.
struct Counted {
  static inline std::atomic<int> alive{0};

  explicit Counted(int number = 0) noexcept : value(number) { ++alive; }
  Counted(const Counted& other) noexcept : value(other.value) { ++alive; }
  Counted(Counted&& other) noexcept : value(std::exchange(other.value, -1)) { ++alive; }
  Counted& operator=(const Counted&) noexcept = default;
  Counted& operator=(Counted&&) noexcept = default;
  ~Counted() { --alive; }

  int value;
};

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

TYPED_TEST(AnyBroadcast, EachConsumerSeesEachMessageInOrder) {
  typename TestFixture::Ints broadcast(4);
  auto first = broadcast.consumer();
  auto second = broadcast.consumer();
  for (int lap = 0; lap < 5; ++lap) {
    for (int i = 0; i < 3; ++i) ASSERT_EQ(broadcast.try_push(3 * lap + i), Status::ok);
    const std::vector expected{3 * lap, 3 * lap + 1, 3 * lap + 2};
    EXPECT_EQ(all_found(first), expected);
    EXPECT_EQ(all_found(second), expected);
    EXPECT_TRUE(all_found(second).empty());
  }
}

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

TYPED_TEST(AnyBroadcast, AVisitorMayTakeTheSequenceAndTheEndOfABatch) {
  typename TestFixture::Ints broadcast(8);
  auto consumer = broadcast.consumer();
  using Seen = std::vector<std::tuple<int, std::uint64_t, bool>>;
  Seen seen;
  const auto look = [&](const int& message, std::uint64_t sequence, bool end_of_batch) {
    seen.emplace_back(message, sequence, end_of_batch);
  };
  for (int i = 10; i < 15; ++i) ASSERT_EQ(broadcast.try_push(i), Status::ok);
  EXPECT_EQ(consumer.consume(look, 2), 2U);
  EXPECT_EQ(consumer.consume(look), 3U);
  EXPECT_EQ(consumer.consume(look), 0U);
  EXPECT_EQ(consumer.consume(look, 0), 0U);
  EXPECT_EQ(seen,
            (Seen{{10, 0, false}, {11, 1, true}, {12, 2, false}, {13, 3, false}, {14, 4, true}}));
  std::vector<std::uint64_t> numbers;
  ASSERT_EQ(broadcast.try_push(15), Status::ok);
  consumer.consume([&](const int&, std::uint64_t sequence) { numbers.push_back(sequence); });
  EXPECT_EQ(numbers, std::vector<std::uint64_t>{5});
}

TYPED_TEST(AnyBroadcast, CloseDrains) {
  typename TestFixture::Ints broadcast(2);
  auto consumer = broadcast.consumer();
  ASSERT_EQ(broadcast.try_push(1), Status::ok);
  EXPECT_FALSE(broadcast.closed());
  broadcast.close();
  broadcast.close();
  EXPECT_TRUE(broadcast.closed());
  EXPECT_FALSE(consumer.closed()) << "one is left";
  int more = 7;
  EXPECT_EQ(broadcast.try_push(2), Status::closed);
  EXPECT_EQ(broadcast.push(2), Status::closed);
  EXPECT_EQ(broadcast.try_push_batch(std::span(&more, 1)), 0U);
  EXPECT_EQ(broadcast.try_claim().status(), Status::closed);
  EXPECT_EQ(broadcast.claim(2).status(), Status::closed);
  EXPECT_EQ(consumer.wait(), Status::ok);
  EXPECT_EQ(all_found(consumer), std::vector{1});
  EXPECT_TRUE(consumer.closed());
  EXPECT_EQ(consumer.wait(), Status::closed);
  EXPECT_EQ(consumer.wait_and_consume([](const int&) { FAIL(); }), Status::closed);
  auto late = broadcast.consumer();
  EXPECT_EQ(late.wait(), Status::closed) << "a consumer that joins after the end";
}

TYPED_TEST(AnyBroadcast, WithoutAConsumerNothingIsFull) {
  typename TestFixture::Ints broadcast(2);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(broadcast.try_push(i), Status::ok);
  auto consumer = broadcast.consumer();
  EXPECT_TRUE(all_found(consumer).empty()) << "those were before it";
  ASSERT_EQ(broadcast.try_push(10), Status::ok);
  EXPECT_EQ(all_found(consumer), std::vector{10});
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

TYPED_TEST(AnyBroadcast, WaitsForAMessage) {
  for (const auto spin_for : {std::chrono::nanoseconds(0), std::chrono::nanoseconds(-1),
                              std::chrono::nanoseconds::max()}) {
    typename TestFixture::Ints broadcast(2);
    auto consumer = broadcast.consumer({.spin_for = spin_for});
    std::vector<int> seen;
    std::thread reader([&] {
      while (consumer.wait_and_consume([&](const int& message) { seen.push_back(message); }) ==
             Status::ok) {
      }
    });
    let_consumers_sleep();
    ASSERT_EQ(broadcast.push(1), Status::ok);
    let_consumers_sleep();
    ASSERT_EQ(broadcast.push(2), Status::ok);
    broadcast.close();
    reader.join();
    EXPECT_EQ(seen, (std::vector{1, 2}));
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

TYPED_TEST(AnyBroadcast, AThrowingVisitorHasConsumedItsMessage) {
  typename TestFixture::Ints broadcast(4);
  auto consumer = broadcast.consumer();
  for (int i = 0; i < 4; ++i) ASSERT_EQ(broadcast.try_push(i), Status::ok);
  std::vector<int> seen;
  const auto throw_at_one = [&](const int& message) {
    seen.push_back(message);
    if (message == 1) throw message;
  };
  EXPECT_THROW(consumer.consume(throw_at_one), int);
  EXPECT_EQ(consumer.behind(), 2U);
  EXPECT_EQ(broadcast.try_push(4), Status::ok) << "its place is free";
  EXPECT_EQ(consumer.consume(throw_at_one), 3U);
  EXPECT_EQ(seen, (std::vector{0, 1, 2, 3, 4}));
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

TYPED_TEST(AnyBroadcast, AJoinThatFindsNoMemoryChangesNothing) {
  typename TestFixture::Ints broadcast(2);
  handoff::test::until_whole(Call::allocation, 0, [&] {
    try {
      auto consumer = broadcast.consumer();
      EXPECT_EQ(broadcast.try_push(1), Status::ok);
      EXPECT_EQ(all_found(consumer), std::vector{1});
    } catch (const std::bad_alloc&) {
      for (int i = 0; i < 5; ++i) EXPECT_EQ(broadcast.try_push(i), Status::ok);
    }
  });
}

TYPED_TEST(AnyBroadcast, ConsumersMove) {
  typename TestFixture::Ints broadcast(4);
  auto consumer = broadcast.consumer();
  ASSERT_EQ(broadcast.try_push(1), Status::ok);
  auto moved = std::move(consumer);
  EXPECT_EQ(all_found(moved), std::vector{1});
  moved = broadcast.consumer();
  ASSERT_EQ(broadcast.try_push(2), Status::ok);
  EXPECT_EQ(all_found(moved), std::vector{2});
  moved.leave();
  moved.leave();
  for (int i = 0; i < 9; ++i) ASSERT_EQ(broadcast.try_push(i), Status::ok) << "nobody is left";
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

TYPED_TEST(AnyBroadcast, AConsumerLeavesInItsOwnVisitor) {
  typename TestFixture::Ints broadcast(4);
  auto consumer = broadcast.consumer();
  for (int i = 0; i < 4; ++i) ASSERT_EQ(broadcast.try_push(i), Status::ok);
  std::vector<int> seen;
  const auto leave_at_one = [&](const int& message) {
    seen.push_back(message);
    if (message != 1) return;
    consumer.leave();
    consumer.leave();
  };
  EXPECT_EQ(consumer.consume(leave_at_one), 2U);
  EXPECT_EQ(seen, (std::vector{0, 1}));
  EXPECT_EQ(consumer.wait_and_consume(leave_at_one), Status::closed) << "so a loop ends";
  for (int i = 0; i < 9; ++i) ASSERT_EQ(broadcast.try_push(i), Status::ok) << "nobody is left";
  consumer = broadcast.consumer();
  ASSERT_EQ(broadcast.try_push(9), Status::ok);
  EXPECT_EQ(all_found(consumer), std::vector{9});
}

// --- Messages in place. ---

TYPED_TEST(AnyBroadcast, ClaimsFillPlaces) {
  Audited<Broadcast<std::string, TypeParam>> broadcast(4);
  auto consumer = broadcast.consumer();
  {
    auto claim = broadcast.try_claim(3);
    ASSERT_TRUE(claim);
    EXPECT_EQ(claim.size(), 3U);
    EXPECT_EQ(claim.status(), Status::ok);
    claim.emplace("one");
    claim.emplace(3U, 'x') += "y";
    EXPECT_EQ(consumer.consume([](const std::string&) {}), 0U) << "not before publish()";
    claim.publish();
    EXPECT_FALSE(claim);
  }
  std::vector<std::string> seen;
  std::vector<bool> ends;
  EXPECT_EQ(consumer.consume([&](const std::string& text, std::uint64_t, bool end_of_batch) {
    seen.push_back(text);
    ends.push_back(end_of_batch);
  }),
            2U);
  EXPECT_EQ(seen, (std::vector<std::string>{"one", "xxxy"}));
  EXPECT_EQ(ends, (std::vector{false, true})) << "a place that was given back is no message";
  ASSERT_EQ(broadcast.try_push("three"), Status::ok);
  EXPECT_EQ(consumer.consume([](const std::string& text) { EXPECT_EQ(text, "three"); }), 1U);
}

TYPED_TEST(AnyBroadcast, AClaimThatIsDroppedIsSkipped) {
  Counted::alive = 0;
  {
    Audited<Broadcast<Counted, TypeParam>> broadcast(2);
    auto consumer = broadcast.consumer();
    for (int lap = 0; lap < 5; ++lap) {
      {
        auto claim = broadcast.claim(2);
        ASSERT_EQ(claim.size(), 2U);
        claim.emplace(100);
        auto taken = std::move(claim);
        EXPECT_FALSE(claim);  // NOLINT(bugprone-use-after-move)
      }
      EXPECT_EQ(consumer.consume([](const Counted&) { FAIL(); }), 0U);
      EXPECT_EQ(consumer.wait_and_consume([](const Counted&) { FAIL(); }, 0ms), Status::timed_out);
      ASSERT_EQ(broadcast.try_push(Counted(lap)), Status::ok);
      int seen = -1;
      EXPECT_EQ(consumer.consume([&](const Counted& message) { seen = message.value; }), 1U);
      EXPECT_EQ(seen, lap);
      EXPECT_LE(Counted::alive, 2);
    }
  }
  EXPECT_EQ(Counted::alive, 0);
}

TYPED_TEST(AnyBroadcast, ACallCountsMessagesNotDroppedClaims) {
  typename TestFixture::Ints broadcast(8);
  auto consumer = broadcast.consumer();
  for (int i = 0; i < 3; ++i) {
    {
      auto dropped = broadcast.claim();
    }
    ASSERT_EQ(broadcast.try_push(i), Status::ok);
  }
  std::vector<std::pair<int, bool>> seen;
  const auto look = [&](const int& message, std::uint64_t, bool end_of_batch) {
    seen.emplace_back(message, end_of_batch);
  };
  EXPECT_EQ(consumer.consume(look, 2), 2U);
  EXPECT_EQ(consumer.consume(look, 2), 1U);
  EXPECT_EQ(seen, (std::vector<std::pair<int, bool>>{{0, false}, {1, true}, {2, true}}));
}

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

TYPED_TEST(AnyBroadcast, EachMessageEndsOnce) {
  Counted::alive = 0;
  for (int messages = 0; messages < 12; ++messages) {
    Audited<Broadcast<Counted, TypeParam>> broadcast(4);
    for (int i = 0; i < messages; ++i) ASSERT_EQ(broadcast.try_push(Counted(i)), Status::ok);
    EXPECT_EQ(Counted::alive, std::min(messages, 4));
  }
  EXPECT_EQ(Counted::alive, 0);
}

// --- The slowest holds producers back. ---

template <class Policies>
class HeldBack : public testing::Test {
 protected:
  using Ints = Audited<Broadcast<int, Policies>>;
};
using HoldingPolicies = testing::Types<BroadcastPolicies, OneProducer>;
TYPED_TEST_SUITE(HeldBack, HoldingPolicies);

TYPED_TEST(HeldBack, FullUntilTheSlowestHasSeenIt) {
  typename TestFixture::Ints broadcast(2);
  auto fast = broadcast.consumer();
  auto slow = broadcast.consumer();
  ASSERT_EQ(broadcast.try_push(1), Status::ok);
  ASSERT_EQ(broadcast.try_push(2), Status::ok);
  EXPECT_EQ(broadcast.try_push(3), Status::full);
  EXPECT_EQ(broadcast.try_claim().status(), Status::full);
  EXPECT_EQ(all_found(fast), (std::vector{1, 2}));
  EXPECT_EQ(broadcast.try_push(3), Status::full);
  EXPECT_EQ(broadcast.push(3, 1ms), Status::timed_out);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(broadcast.push(3, stop.get_token()), Status::stopped);
  EXPECT_EQ(broadcast.claim(1, 1ms).status(), Status::timed_out);
  EXPECT_EQ(slow.consume([](const int&) {}, 1), 1U);
  EXPECT_EQ(broadcast.try_push(3), Status::ok);
  EXPECT_EQ(broadcast.try_push(4), Status::full);
  slow.leave();
  EXPECT_EQ(broadcast.try_push(4), Status::ok) << "the other one is ahead";
  EXPECT_EQ(broadcast.try_push(5), Status::full) << "and has not seen 3";
  EXPECT_EQ(all_found(fast), (std::vector{3, 4}));
  EXPECT_EQ(broadcast.try_push(5), Status::ok);
}

TYPED_TEST(HeldBack, ARefusedMessageIsStillTheCallers) {
  Audited<Broadcast<std::unique_ptr<int>, TypeParam>> broadcast(2);
  auto consumer = broadcast.consumer();
  std::array<std::unique_ptr<int>, 3> messages;
  for (int i = 0; i < 3; ++i) messages[static_cast<std::size_t>(i)] = std::make_unique<int>(i);
  EXPECT_EQ(broadcast.try_push_batch(messages), 2U);
  EXPECT_EQ(broadcast.try_push_batch({}), 0U);
  ASSERT_NE(messages[2], nullptr);
  EXPECT_EQ(broadcast.try_push(std::move(messages[2])), Status::full);
  EXPECT_EQ(broadcast.try_emplace(std::move(messages[2])), Status::full);
  EXPECT_EQ(broadcast.push(std::move(messages[2]), 0ms), Status::timed_out);
  broadcast.close();
  EXPECT_EQ(broadcast.try_push(std::move(messages[2])), Status::closed);
  ASSERT_NE(messages[2], nullptr);
  int sum = 0;
  consumer.consume([&](const std::unique_ptr<int>& message) { sum += 1 + *message; });
  EXPECT_EQ(sum, 3);
}

TYPED_TEST(HeldBack, APushWaitsForTheSlowest) {
  typename TestFixture::Ints broadcast(1);
  auto consumer = broadcast.consumer();
  ASSERT_EQ(broadcast.push(1), Status::ok);
  std::thread producer([&] {
    EXPECT_EQ(broadcast.push(2), Status::ok);
    auto claim = broadcast.claim();
    EXPECT_EQ(claim.status(), Status::ok);
    claim.emplace(3);
    claim.publish();
    EXPECT_EQ(broadcast.push(4), Status::ok);
  });
  let_consumers_sleep();
  EXPECT_EQ(all_found(consumer), std::vector{1});
  EXPECT_THROW((void)consumer.wait_and_consume([](const int& message) { throw message; }), int);
  let_consumers_sleep();
  EXPECT_EQ(all_found(consumer), std::vector{3});
  consumer.leave();
  producer.join();
}

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

TYPED_TEST(HeldBack, AMessageStaysUntilTheVisitorThatLeavesIsOver) {
  typename TestFixture::Ints broadcast(1);
  auto consumer = broadcast.consumer();
  auto follower = broadcast.consumer({.after = {consumer}});
  ASSERT_EQ(broadcast.try_push(1), Status::ok);
  EXPECT_THROW(consumer.consume([&](const int& message) {
    consumer.leave();
    EXPECT_TRUE(all_found(follower).empty()) << "it goes first, and is not over";
    follower.leave();
    EXPECT_EQ(broadcast.try_push(2), Status::full);
    throw message;
  }),
               int);
  EXPECT_TRUE(consumer.closed());
  EXPECT_EQ(broadcast.try_push(2), Status::ok);
}

TYPED_TEST(HeldBack, OneComesAfterTheOthers) {
  Audited<Broadcast<std::vector<char>, TypeParam>> broadcast(4);
  auto a = broadcast.consumer();
  auto b = broadcast.consumer();
  auto c = broadcast.consumer({.after = {a, b}});
  auto d = broadcast.consumer({.after = {c}});
  const auto see = [](auto& consumer) { return consumer.consume([](const std::vector<char>&) {}); };
  const auto write = [](auto& consumer, char name) {
    return consumer.consume([=](std::vector<char>& message) { message.push_back(name); }, 1);
  };
  for (int i = 0; i < 2; ++i) ASSERT_EQ(broadcast.try_emplace(), Status::ok);
  EXPECT_EQ(see(c), 0U);
  EXPECT_EQ(write(a, 'a'), 1U);
  EXPECT_EQ(see(c), 0U);
  EXPECT_EQ(c.wait(0ms), Status::timed_out);
  EXPECT_EQ(write(b, 'b'), 1U);
  EXPECT_EQ(see(d), 0U);
  EXPECT_EQ(write(c, 'c'), 1U);
  EXPECT_EQ(see(c), 0U);
  EXPECT_EQ(d.consume([](const std::vector<char>& message, std::uint64_t, bool end_of_batch) {
    EXPECT_EQ(message, (std::vector{'a', 'b', 'c'}));
    EXPECT_TRUE(end_of_batch);
  }),
            1U);
  broadcast.close();
  EXPECT_FALSE(d.closed());
  for (auto* consumer : {&a, &b, &c, &d}) EXPECT_EQ(see(*consumer), 1U);
  EXPECT_TRUE(d.closed());
}

TYPED_TEST(HeldBack, WhoLeavesLetsItsFollowersGo) {
  typename TestFixture::Ints broadcast(4);
  auto a = broadcast.consumer();
  auto b = broadcast.consumer({.after = {a}});
  ASSERT_EQ(broadcast.try_push(1), Status::ok);
  ASSERT_EQ(broadcast.try_push(2), Status::ok);
  EXPECT_TRUE(all_found(b).empty());
  std::thread follower([&] { EXPECT_EQ(b.wait(), Status::ok); });
  let_consumers_sleep();
  a.leave();
  follower.join();
  auto c = broadcast.consumer();  // has no part in it, whatever record it takes
  EXPECT_EQ(all_found(b), (std::vector{1, 2}));
  ASSERT_EQ(broadcast.try_push(3), Status::ok);
  EXPECT_EQ(all_found(b), std::vector{3});
  EXPECT_EQ(all_found(c), std::vector{3});
}

TYPED_TEST(HeldBack, AFollowerSleepsUntilItsTurn) {
  typename TestFixture::Ints broadcast(4);
  auto a = broadcast.consumer();
  auto b = broadcast.consumer({.after = {a}, .spin_for = std::chrono::nanoseconds(0)});
  ASSERT_EQ(broadcast.try_push(1), Status::ok);
  std::atomic<bool> seen{false};
  std::thread follower([&] {
    EXPECT_EQ(b.wait_and_consume([&](const int&) { EXPECT_TRUE(seen.load()); }), Status::ok);
  });
  let_consumers_sleep();
  a.consume([&](const int&) { seen = true; });
  follower.join();
}

TYPED_TEST(HeldBack, AFollowerThatJoinsAheadWaits) {
  typename TestFixture::Ints broadcast(4);
  auto a = broadcast.consumer();
  ASSERT_EQ(broadcast.try_push(1), Status::ok);
  auto b = broadcast.consumer({.after = {a}});
  EXPECT_TRUE(all_found(b).empty());
  ASSERT_EQ(broadcast.try_push(2), Status::ok);
  EXPECT_EQ(a.consume([](const int&) {}, 1), 1U);
  EXPECT_TRUE(all_found(b).empty()) << "1 was before it, 2 is not its turn yet";
  EXPECT_EQ(all_found(a), std::vector{2});
  EXPECT_EQ(all_found(b), std::vector{2});
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

TYPED_TEST(Lossy, ASlowConsumerLosesTheOldestAndIsToldHowMany) {
  typename TestFixture::Ints broadcast(4);
  auto slow = broadcast.consumer();
  auto fast = broadcast.consumer();
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(broadcast.try_push(i), Status::ok);
    EXPECT_EQ(all_found(fast), std::vector{i});
  }
  EXPECT_EQ(fast.lost(), 0U);
  std::vector<int> seen;
  EXPECT_EQ(slow.consume([&](const int& message, std::uint64_t sequence) {
    EXPECT_EQ(slow.lost(), 6U) << "it knows before it sees the next one";
    EXPECT_EQ(sequence, static_cast<std::uint64_t>(message));
    seen.push_back(message);
  }),
            4U);
  EXPECT_EQ(seen, (std::vector{6, 7, 8, 9}));
  std::array<int, 9> batch{};
  EXPECT_EQ(broadcast.try_push_batch(batch), 4U) << "as many as there are places";
  EXPECT_EQ(all_found(slow).size(), 4U);
  EXPECT_EQ(slow.lost(), 6U);
}

TYPED_TEST(Lossy, AVisitorHoldsNobodyBack) {
  typename TestFixture::Ints broadcast(2);
  auto consumer = broadcast.consumer();
  ASSERT_EQ(broadcast.try_push(0), Status::ok);
  std::vector<int> seen;
  EXPECT_EQ(consumer.consume([&](const int& message) {
    for (int i = 1; i <= 5; ++i) EXPECT_EQ(broadcast.try_push(i), Status::ok);
    seen.push_back(message);
  }),
            1U)
      << "what was there";
  EXPECT_EQ(seen, std::vector{0});
  EXPECT_EQ(all_found(consumer), (std::vector{4, 5}));
  EXPECT_EQ(consumer.lost(), 3U);
}

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

TYPED_TEST(Lossy, AClaimMakesItsRoomAtOnce) {
  typename TestFixture::Ints broadcast(2);
  auto consumer = broadcast.consumer();
  ASSERT_EQ(broadcast.try_push(0), Status::ok);
  ASSERT_EQ(broadcast.try_push(1), Status::ok);
  {
    auto dropped = broadcast.claim(2);
  }
  broadcast.close();
  EXPECT_EQ(consumer.wait_and_consume([](const int&) { FAIL(); }), Status::closed);
  EXPECT_EQ(consumer.lost(), 2U) << "also when nothing comes any more";
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

TYPED_TEST(Lossy, AThrowingCopyHasConsumedItsMessage) {
  Audited<Broadcast<SlowCopy, TypeParam>> broadcast(2);
  auto consumer = broadcast.consumer();
  ASSERT_EQ(broadcast.try_emplace(0), Status::ok);
  ASSERT_EQ(broadcast.try_emplace(1), Status::ok);
  SlowCopy::meanwhile = [] { throw 7; };
  EXPECT_THROW(consumer.consume([](const SlowCopy&) { FAIL(); }), int);
  EXPECT_EQ(consumer.consume([](const SlowCopy& message) { EXPECT_EQ(message.value, 1); }), 1U);
  ASSERT_EQ(broadcast.try_emplace(2), Status::ok);
}

// --- Many producers: what others see between a claim and its end. ---

TEST(Broadcast, AClaimHoldsUpThoseBehindIt) {
  Audited<Broadcast<int>> broadcast(4);
  auto consumer = broadcast.consumer();
  auto claim = broadcast.claim();
  ASSERT_EQ(broadcast.try_push(2), Status::ok);
  EXPECT_TRUE(all_found(consumer).empty()) << "2 is there, but the claim goes first";
  EXPECT_EQ(consumer.wait(0ms), Status::timed_out);
  EXPECT_EQ(consumer.behind(), 2U);
  broadcast.close();
  EXPECT_FALSE(consumer.closed()) << "a message may still come";
  claim.emplace(1);
  claim.publish();
  EXPECT_EQ(all_found(consumer), (std::vector{1, 2}));
  EXPECT_TRUE(consumer.closed());
}

TEST(Broadcast, ProducersDoNotLapAClaim) {
  Audited<Broadcast<int>> broadcast(2);
  auto claim = broadcast.claim();
  ASSERT_EQ(broadcast.try_push(1), Status::ok);
  EXPECT_EQ(broadcast.try_push(2), Status::full) << "though nobody listens";
  std::thread producer([&] { EXPECT_EQ(broadcast.push(2), Status::ok); });
  let_consumers_sleep();
  claim.drop();
  producer.join();
}

TEST(Broadcast, ALossyConsumerSeesNoClaimThatIsNotPublished) {
  Audited<Broadcast<int, LosesOldest>> broadcast(2);
  auto consumer = broadcast.consumer();
  {
    auto claim = broadcast.claim();
    ASSERT_EQ(broadcast.try_push(1), Status::ok);
    EXPECT_EQ(broadcast.try_push(2), Status::full) << "and nothing is lost for it";
    EXPECT_TRUE(all_found(consumer).empty());
    claim.emplace(0);
    claim.publish();
  }
  EXPECT_EQ(all_found(consumer), (std::vector{0, 1}));
  EXPECT_EQ(consumer.lost(), 0U);
}

}}  // namespace broadcast_test
