// SPDX-License-Identifier: MIT
//
// SharedMpscRing: claims that hold up others, batches, slots, and producers that die amid all that.
// The rest is in shared_rings_test.cpp.
#include "books/process_books.hpp"
#include "support/test.hpp"
#include "unit/process/shared_faces.hpp"

namespace shared_mpsc_ring_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace test;
using Many = SharedMpscRing<Message>;
using MadeOfMany = test::RingInPages<Many>;
using Producer = test::ManyToOne::Producer;
using Consumer = test::ManyToOne::Consumer;
using Numbers = std::vector<std::uint64_t>;

TEST(SharedMpscRing, TheFirstInTurnHoldsUpTheRestUntilItIsDropped) {
  MadeOfMany made(2, 2);
  EXPECT_EQ(Many::attach(made.pages.bytes()).producers(), 2U);
  Producer one(made.ring, 0);
  Consumer in(made.ring);
  std::uint64_t number = 0;
  ASSERT_EQ(one.try_claim(), Status::ok);
  {
    Producer two(Many::attach(made.pages.bytes()), 1);
    ASSERT_EQ(two.try_push(5), Status::ok);
    EXPECT_EQ(in.try_pop(number), Status::empty) << "the first in turn is not there yet";
    EXPECT_EQ(two.try_claim(), Status::full);
  }
  one.out.drop();
  ASSERT_EQ(in.try_pop(number), Status::ok);
  EXPECT_EQ(number, 5U);
  {
    Producer two(made.ring, 1);
    ASSERT_EQ(two.try_claim(), Status::ok);
  }  // its end drops what it had claimed
  EXPECT_EQ(in.try_pop(number), Status::empty);
  EXPECT_TRUE(made.ring.empty());
}

TEST(SharedMpscRing, BatchesTakeWhatThereIsRoomFor) {
  MadeOfMany made(4, 2);
  Producer one(made.ring, 0);
  Producer two(made.ring, 1);
  Consumer in(made.ring);
  EXPECT_EQ(one.try_push_batch(0, 0), 0U);
  EXPECT_EQ(in.try_pop_batch(3), Numbers{});
  for (std::uint64_t lap = 0; lap < 5; ++lap) {  // batches begin at each place
    EXPECT_EQ(one.try_push_batch(10, 3), 3U);
    EXPECT_EQ(made.ring.size(), 3U);
    EXPECT_EQ(two.try_push_batch(20, 3), 1U);
    EXPECT_EQ(one.try_push_batch(30, 2), 0U);
    EXPECT_EQ(in.try_pop_batch(0), Numbers{});
    EXPECT_EQ(in.try_pop_batch(2), (Numbers{10, 11}));
    EXPECT_EQ(two.try_push_batch(40, 9), 2U);
    EXPECT_EQ(in.try_pop_batch(9), (Numbers{12, 20, 40, 41}));
    EXPECT_EQ(one.try_push(50), Status::ok);
    EXPECT_EQ(in.try_pop_batch(1), Numbers{50});
    EXPECT_TRUE(made.ring.empty());
  }
  EXPECT_EQ(test::fault_in(made.ring), "");
  (void)one.try_push_batch(1, 2);
  made.ring.close();
  EXPECT_EQ(one.try_push_batch(3, 1), 0U);
  EXPECT_EQ(in.try_pop_batch(9), (Numbers{1, 2}));
  EXPECT_EQ(test::fault_in(made.ring), "");
}

// The place that was claimed is the first one's, as of a push.
TEST(SharedMpscRing, ABatchAfterAClaimAndALongOne) {
  MadeOfMany made(1024, 1);
  Producer out(made.ring, 0);
  Consumer in(made.ring);
  ASSERT_EQ(out.try_claim(), Status::ok);
  EXPECT_EQ(out.try_push_batch(0, 1500), 1024U);
  EXPECT_EQ(out.out.publish(), Status::closed) << "nothing is claimed";
  const Numbers found = in.try_pop_batch(2000);
  ASSERT_EQ(found.size(), 1024U);
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], i);
  EXPECT_EQ(test::fault_in(made.ring), "");
}

TEST(SharedMpscRing, ClosedWaitsForClaims) {
  MadeOfMany made(4, 2);
  Producer one(made.ring, 0);
  Producer two(made.ring, 1);
  Consumer in(made.ring);
  std::uint64_t number = 0;
  ASSERT_EQ(one.try_claim(), Status::ok);
  ASSERT_EQ(two.try_push(2), Status::ok);
  made.ring.close();
  EXPECT_EQ(in.try_pop(number), Status::empty);
  EXPECT_EQ(one.publish(1), Status::ok);
  for (const std::uint64_t next : {1U, 2U}) {
    EXPECT_EQ(in.pop(number), Status::ok);
    EXPECT_EQ(number, next);
  }
  EXPECT_EQ(in.pop(number), Status::closed);
}

TEST(SharedMpscRing, WhatCannotBeIsRefused) {
  EXPECT_THROW((void)Many::bytes_for(0, 1), std::logic_error);
  EXPECT_THROW((void)Many::bytes_for(1, 0), Misuse);
  EXPECT_THROW((void)Many::bytes_for(1, 65537), std::length_error);
  EXPECT_THROW((void)Many::bytes_for(~std::size_t{0} / 2, 1), std::length_error);
  MadeOfMany made(4, 3);
  EXPECT_THROW(Many::create(made.pages.bytes(), 1024, 3), std::length_error);
  EXPECT_THROW(Many::create(made.pages.bytes(), 4, 1000), std::length_error);
  EXPECT_THROW(SharedRing<Message>::attach(made.pages.bytes()), std::system_error);
  EXPECT_THROW(SharedMpscRing<int>::attach(made.pages.bytes()), std::system_error);
  EXPECT_THROW(Many::Producer(made.ring, 3), std::system_error);
  const auto first = std::make_unique<Many::Producer>(made.ring, 2);
  EXPECT_THROW(Many::Producer(made.ring, 2), std::system_error);
  EXPECT_EQ(made.ring.producer_died(2), 0U);
  EXPECT_EQ(made.ring.producer_died(3), 0U);
  for (int i = 0; i < 2; ++i) const Many::Producer next(made.ring, 2);
}

// Of some the bytes for so many producers are the right ones, modulo 2 to the 64.
TEST(SharedMpscRing, ANumberOfProducersThatCannotBeIsRefused) {
  constexpr std::uint64_t over = std::uint64_t{1} << 62;
  MadeOfMany made(4, 3);
  const std::span<std::byte> bytes = made.pages.bytes();
  constexpr std::size_t place = detail::kSharedRingStart + 6 * sizeof over;
  std::uint64_t there = 0;
  std::memcpy(&there, bytes.data() + place, sizeof there);
  ASSERT_EQ(there, 3U);
  for (const std::uint64_t producers : {std::uint64_t{0}, over, over + 3, ~std::uint64_t{0}}) {
    std::memcpy(bytes.data() + place, &producers, sizeof producers);
    EXPECT_THROW((void)Many::attach(bytes), std::system_error) << producers;
  }
}

// --- Between processes. ---

// Each producer's numbers have its slot in the upper half.
std::uint64_t number_of(std::uint64_t slot, std::uint64_t i) { return (slot << 32) | i; }

bool push_from(Many ring, std::size_t slot, std::uint64_t count) {
  Producer out(ring, slot);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (out.push(number_of(slot, i)) != Status::ok) return false;
  }
  return true;
}

// In batches of each size, and one by one where there is no room.
bool push_batches_from(Many ring, std::size_t slot, std::uint64_t count) {
  Producer out(ring, slot);
  for (std::uint64_t i = 0; i < count;) {
    const std::uint64_t size = std::min<std::uint64_t>(1 + i % 7, count - i);
    const std::size_t pushed = out.try_push_batch(number_of(slot, i), size);
    i += pushed;
    if (pushed != 0) continue;
    if (out.push(number_of(slot, i++)) != Status::ok) return false;
  }
  return true;
}

TEST(SharedMpscRing, BatchesBetweenProcesses) {
  constexpr std::size_t producers = 3;
  for (const std::size_t capacity : {2U, 8U, 256U}) {
    MadeOfMany made(capacity, producers);
    // A small ring is full or empty, and makes somebody sleep, every few messages.
    const std::uint64_t count = test::rounds(capacity < 64 ? 10'000 : 50'000) / producers;
    std::vector<std::unique_ptr<ForkedChild>> children;
    for (std::size_t slot = 0; slot < producers; ++slot) {
      children.push_back(std::make_unique<ForkedChild>(
          [&] { return push_batches_from(Many::attach(made.pages.bytes()), slot, count); }));
    }
    Consumer in(made.ring);
    std::uint64_t next[producers] = {};
    for (std::uint64_t left = producers * count; left != 0;) {
      Numbers found = in.try_pop_batch(left % 9);
      if (found.empty()) {
        std::uint64_t number = 0;
        ASSERT_EQ(in.pop(number, 20s), Status::ok);
        found.push_back(number);
      }
      left -= found.size();
      for (const std::uint64_t number : found) {
        const std::uint64_t slot = number >> 32;
        ASSERT_LT(slot, producers);
        ASSERT_EQ(number, number_of(slot, next[slot]++));
      }
    }
    for (const auto& child : children) EXPECT_TRUE(child->succeeded());
    EXPECT_EQ(test::fault_in(made.ring), "");
  }
}

// Dies amid a claim of one place or more: some are written, the first not published. It holds up
// the rest until its death is told; then nothing of it comes out, and what another one has pushed
// behind it does.
TEST(SharedMpscRing, WhatADeadProducerHadClaimedIsPassedOver) {
  for (const std::size_t claimed : {1U, 3U}) {
    for (std::uint64_t before = 0; before < 4; ++before) {  // it begins at each place
      MadeOfMany made(4, 2);
      detail::SharedTicketRing& inside = detail::Books<Many>::inside(made.ring);
      Producer living(made.ring, 1);
      Consumer in(made.ring);
      for (std::uint64_t i = 0; i < before; ++i) {
        ASSERT_EQ(living.try_push(i), Status::ok);
        EXPECT_EQ(in.try_pop_batch(1), Numbers{i});
      }
      ForkedChild child([&] {
        detail::SharedTicketProducer out(inside, 0);
        if (out.try_claim(claimed) != Status::ok || out.count() != claimed) return false;
        for (;;) ::pause();
      });
      child.wait_until_asleep();
      ASSERT_EQ(living.try_push_batch(7, 1), 1U);
      std::uint64_t number = 0;
      EXPECT_EQ(in.pop(number, 1ms), Status::timed_out);
      child.kill();
      EXPECT_EQ(in.try_pop_batch(9), Numbers{}) << "nobody has said it";
      EXPECT_THROW(Producer(made.ring, 0), std::system_error);
      EXPECT_EQ(made.ring.producer_died(0), claimed);
      EXPECT_EQ(made.ring.producer_died(0), 0U);
      EXPECT_EQ(in.try_pop_batch(9), Numbers{7});
      Producer successor(made.ring, 0);
      EXPECT_EQ(successor.try_push_batch(8, 4), 4U);
      EXPECT_EQ(in.try_pop_batch(9), (Numbers{8, 9, 10, 11}));
      EXPECT_EQ(test::fault_in(made.ring), "");
    }
  }
}

// Killed at any instant, again and again, beside one that lives: its messages come whole and in
// order up to some point, the other's all.
void producers_are_killed_and_replaced(bool (*push_some)(Many, std::size_t, std::uint64_t),
                                       std::size_t most_dropped) {
  MadeOfMany made(8, 2);
  const std::size_t kills = test::rounds(50);
  const std::uint64_t count = test::rounds(20'000);
  ForkedChild living([&] { return push_some(made.ring, 1, count); });
  std::jthread parent([&] {
    for (std::size_t i = 0; i < kills; ++i) {
      ForkedChild child([&] { return push_some(made.ring, 0, 1ULL << 30); });
      std::this_thread::sleep_for(std::chrono::microseconds(100 * (i % 20)));
      child.kill();
      EXPECT_LE(made.ring.producer_died(0), most_dropped);
    }
    EXPECT_TRUE(living.succeeded());
    made.ring.close();
  });
  Consumer in(made.ring);
  std::uint64_t number = 0;
  std::uint64_t next = 0;
  std::uint64_t lives = 0;
  std::uint64_t next_of_killed = 0;
  Status said = Status::ok;
  while ((said = in.pop(number, 20s)) == Status::ok) {
    if (number >> 32 == 1) {
      ASSERT_EQ(number, number_of(1, next++));
    } else {
      if (number == 0) next_of_killed = 0, ++lives;
      ASSERT_EQ(number, next_of_killed++);
    }
  }
  EXPECT_EQ(said, Status::closed);
  EXPECT_EQ(next, count);
  EXPECT_LE(lives, kills);
  EXPECT_FALSE(in.damaged());
  EXPECT_EQ(test::fault_in(made.ring), "");
}

TEST(SharedMpscRing, ProducersAreKilledAndReplaced) {
  producers_are_killed_and_replaced(&push_from, 1);
}
TEST(SharedMpscRing, ProducersOfBatchesAreKilledAndReplaced) {
  producers_are_killed_and_replaced(&push_batches_from, 7);
}

}}  // namespace shared_mpsc_ring_test
