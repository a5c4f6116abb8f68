// SPDX-License-Identifier: MIT
//
// SharedMpscRing: calls, sleeps, closes, deaths, and memory that cannot be trusted; between
// processes.
#include <handoff/process/shared_mpsc_ring.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <handoff/core/misuse.hpp>
#include <handoff/process/shared_ring.hpp>
#include <system_error>

#include "books/process_books.hpp"
#include "forked.hpp"
#include "shared_item.hpp"
#include "support/support.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;
using test::ForkedChild;
using test::is_whole;
using test::Message;
using test::message_of;
using test::RingInPages;
using Many = SharedMpscRing<Message>;

using MadeOfMany = RingInPages<Many>;

TEST(SharedMpscRing, FirstInFirstOutUntilFullAndEmpty) {
  MadeOfMany made(3, 2);  // 4 places
  EXPECT_EQ(made.ring.capacity(), 4U);
  EXPECT_EQ(Many::attach(made.pages.bytes()).producers(), 2U);
  Many::Producer one(made.ring, 0);
  Many::Producer two(Many::attach(made.pages.bytes()), 1);
  Many::Consumer in(made.ring);
  Message message{};
  EXPECT_EQ(in.try_pop(message), Status::empty);
  for (std::uint64_t lap = 0; lap < 3; ++lap) {
    for (std::uint64_t i = 0; i < 4; ++i) {
      Many::Producer& out = i % 2 == 0 ? one : two;
      EXPECT_EQ(out.try_push(message_of(4 * lap + i)), Status::ok);
    }
    EXPECT_EQ(one.try_push(message_of(99)), Status::full);
    EXPECT_EQ(two.push(message_of(99), 1ms), Status::timed_out);
    EXPECT_EQ(made.ring.size(), 4U);
    std::uint64_t next = 4 * lap;
    EXPECT_EQ(in.consume([&](const Message& item) { EXPECT_EQ(item.number, next++); }, 3), 3U);
    ASSERT_EQ(in.try_pop(message), Status::ok);
    EXPECT_EQ(message.number, next);
    EXPECT_TRUE(made.ring.empty());
  }
}

TEST(SharedMpscRing, InPlaceAndDropped) {
  MadeOfMany made(2, 2);
  Many::Producer one(made.ring, 0);
  Many::Consumer in(made.ring);
  const Message* front = nullptr;
  Message* place = nullptr;
  EXPECT_EQ(one.publish(), Status::closed) << "nothing was claimed";
  ASSERT_EQ(one.try_claim(place), Status::ok);
  Message* again = nullptr;
  ASSERT_EQ(one.try_claim(again), Status::ok);
  EXPECT_EQ(again, place);
  {
    Many::Producer two(made.ring, 1);
    ASSERT_EQ(two.try_push(message_of(5)), Status::ok);
    EXPECT_EQ(in.try_peek(front), Status::empty) << "the first in turn is not there yet";
    EXPECT_EQ(two.try_claim(again), Status::full);
  }
  one.drop();
  ASSERT_EQ(in.try_peek(front), Status::ok);
  EXPECT_EQ(front->number, 5U);
  in.release();
  in.release();
  {
    Many::Producer two(made.ring, 1);
    ASSERT_EQ(two.try_claim(place), Status::ok);
  }  // its end drops what it had claimed
  EXPECT_EQ(in.try_peek(front), Status::empty);
  EXPECT_TRUE(made.ring.empty());
}

// What a consumer pops, as numbers.
std::vector<std::uint64_t> pop_batch(Many::Consumer& in, std::size_t most) {
  std::vector<Message> found(most);
  found.resize(in.try_pop_batch(found));
  std::vector<std::uint64_t> numbers;
  for (const Message& message : found) {
    EXPECT_TRUE(is_whole(message));
    numbers.push_back(message.number);
  }
  return numbers;
}

std::vector<Message> messages(std::uint64_t first, std::size_t count) {
  std::vector<Message> made;
  for (std::size_t i = 0; i < count; ++i) made.push_back(message_of(first + i));
  return made;
}

using Numbers = std::vector<std::uint64_t>;

TEST(SharedMpscRing, BatchesTakeWhatThereIsRoomFor) {
  MadeOfMany made(4, 2);
  Many::Producer one(made.ring, 0);
  Many::Producer two(made.ring, 1);
  Many::Consumer in(made.ring);
  EXPECT_EQ(one.try_push_batch({}), 0U);
  EXPECT_EQ(pop_batch(in, 3), Numbers{});
  for (std::uint64_t lap = 0; lap < 5; ++lap) {  // batches begin at each place
    EXPECT_EQ(one.try_push_batch(messages(10, 3)), 3U);
    EXPECT_EQ(made.ring.size(), 3U);
    EXPECT_EQ(two.try_push_batch(messages(20, 3)), 1U);
    EXPECT_EQ(one.try_push_batch(messages(30, 2)), 0U);
    EXPECT_EQ(pop_batch(in, 0), Numbers{});
    EXPECT_EQ(pop_batch(in, 2), (Numbers{10, 11}));
    EXPECT_EQ(two.try_push_batch(messages(40, 9)), 2U);
    EXPECT_EQ(pop_batch(in, 9), (Numbers{12, 20, 40, 41}));
    EXPECT_EQ(one.try_push(message_of(50)), Status::ok);
    EXPECT_EQ(pop_batch(in, 1), Numbers{50});
    EXPECT_TRUE(made.ring.empty());
  }
  EXPECT_EQ(test::fault_in(made.ring), "");
  one.try_push_batch(messages(1, 2));
  made.ring.close();
  EXPECT_EQ(one.try_push_batch(messages(3, 1)), 0U);
  EXPECT_EQ(pop_batch(in, 9), (Numbers{1, 2}));
  EXPECT_EQ(test::fault_in(made.ring), "");
}

// The place that was claimed is the first one's, as of a push.
TEST(SharedMpscRing, ABatchAfterAClaimAndALongOne) {
  MadeOfMany made(1024, 1);
  Many::Producer out(made.ring, 0);
  Many::Consumer in(made.ring);
  Message* place = nullptr;
  ASSERT_EQ(out.try_claim(place), Status::ok);
  EXPECT_EQ(out.try_push_batch(messages(0, 1500)), 1024U);
  EXPECT_EQ(out.publish(), Status::closed) << "nothing is claimed";
  EXPECT_EQ(place->number, 0U);
  const Numbers found = pop_batch(in, 2000);
  ASSERT_EQ(found.size(), 1024U);
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], i);
  EXPECT_EQ(test::fault_in(made.ring), "");
}

TEST(SharedMpscRing, ClosedDrainsWaitsForClaimsAndRefuses) {
  MadeOfMany made(4, 2);
  Many::Producer one(made.ring, 0);
  Many::Producer two(made.ring, 1);
  Many::Consumer in(made.ring);
  Message* place = nullptr;
  Message message{};
  ASSERT_EQ(one.try_claim(place), Status::ok);
  ASSERT_EQ(two.try_push(message_of(2)), Status::ok);
  made.ring.close();
  made.ring.close();
  EXPECT_EQ(two.try_push(message_of(3)), Status::closed);
  EXPECT_EQ(two.push(message_of(3)), Status::closed);
  EXPECT_EQ(in.try_pop(message), Status::empty);
  *place = message_of(1);
  EXPECT_EQ(one.publish(), Status::ok);
  EXPECT_EQ(in.pop(message), Status::ok);
  EXPECT_EQ(in.pop(message), Status::ok);
  EXPECT_EQ(message.number, 2U);
  EXPECT_EQ(in.pop(message), Status::closed);
  EXPECT_EQ(in.try_pop(message), Status::closed);
  Many::Consumer successor(made.ring);
  EXPECT_EQ(successor.try_pop(message), Status::closed);
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

TEST(SharedMpscRing, WaitsEndByTimeAndByStop) {
  MadeOfMany made(1, 1);
  Many::Producer out(made.ring, 0);
  Many::Consumer in(made.ring);
  Message message{};
  EXPECT_EQ(in.pop(message, 1ms), Status::timed_out);
  std::stop_source stop;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(2ms);
    stop.request_stop();
  });
  EXPECT_EQ(in.pop(message, stop.get_token()), Status::stopped);
  ASSERT_EQ(out.push(message_of(1), stop.get_token()), Status::ok) << "there is room";
  EXPECT_EQ(out.push(message_of(2), stop.get_token()), Status::stopped);
}

// --- Between processes. ---

// Each producer's numbers have its slot in the upper half.
std::uint64_t number_of(std::uint64_t slot, std::uint64_t i) { return (slot << 32) | i; }

bool push_from(Many ring, std::size_t slot, std::uint64_t count) {
  Many::Producer out(ring, slot);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (out.push(message_of(number_of(slot, i))) != Status::ok) return false;
  }
  return true;
}

// In batches of each size, and one by one where there is no room.
bool push_batches_from(Many ring, std::size_t slot, std::uint64_t count) {
  Many::Producer out(ring, slot);
  for (std::uint64_t i = 0; i < count;) {
    const std::uint64_t size = std::min<std::uint64_t>(1 + i % 7, count - i);
    const std::size_t pushed = out.try_push_batch(messages(number_of(slot, i), size));
    i += pushed;
    if (pushed != 0) continue;
    if (out.push(message_of(number_of(slot, i++))) != Status::ok) return false;
  }
  return true;
}

TEST(SharedMpscRing, EachMessageOnceAndInOrderBetweenProcesses) {
  constexpr std::size_t producers = 3;
  for (const std::size_t capacity : {1U, 4U, 1024U}) {
    MadeOfMany made(capacity, producers);
    const std::uint64_t count = test::rounds(capacity < 64 ? 10'000 : 100'000) / producers;
    std::vector<std::unique_ptr<ForkedChild>> children;
    children.reserve(producers);
    for (std::size_t slot = 0; slot < producers; ++slot) {
      children.push_back(std::make_unique<ForkedChild>(
          [&] { return push_from(Many::attach(made.pages.bytes()), slot, count); }));
    }
    Many::Consumer in(made.ring);
    std::uint64_t next[producers] = {};
    Message message{};
    for (std::uint64_t i = 0; i < producers * count; ++i) {
      ASSERT_EQ(in.pop(message, 20s), Status::ok);
      ASSERT_TRUE(is_whole(message));
      const std::uint64_t slot = message.number >> 32;
      ASSERT_LT(slot, producers);
      ASSERT_EQ(message.number, number_of(slot, next[slot]++));
    }
    for (const auto& child : children) EXPECT_TRUE(child->succeeded());
    made.ring.close();
    EXPECT_EQ(in.pop(message), Status::closed);
  }
}

TEST(SharedMpscRing, BatchesBetweenProcesses) {
  constexpr std::size_t producers = 3;
  for (const std::size_t capacity : {2U, 8U, 256U}) {
    MadeOfMany made(capacity, producers);
    // A small ring is full or empty, and makes somebody sleep, every few messages.
    const std::uint64_t count = test::rounds(capacity < 64 ? 10'000 : 50'000) / producers;
    std::vector<std::unique_ptr<ForkedChild>> children;
    children.reserve(producers);
    for (std::size_t slot = 0; slot < producers; ++slot) {
      children.push_back(std::make_unique<ForkedChild>(
          [&] { return push_batches_from(Many::attach(made.pages.bytes()), slot, count); }));
    }
    Many::Consumer in(made.ring);
    std::uint64_t next[producers] = {};
    Message message{};
    for (std::uint64_t left = producers * count; left != 0;) {
      Numbers found = pop_batch(in, left % 9);
      if (found.empty()) {
        ASSERT_EQ(in.pop(message, 20s), Status::ok);
        found.push_back(message.number);
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

TEST(SharedMpscRing, AnItemWakesASleepingProcess) {
  MadeOfMany made(4, 1);
  ForkedChild child([&] {
    Many::Consumer in(made.ring);
    Message message{};
    return in.pop(message) == Status::ok && in.pop(message) == Status::closed;
  });
  child.wait_until_asleep();
  Many::Producer out(made.ring, 0);
  EXPECT_EQ(out.push(message_of(5)), Status::ok);
  child.wait_until_asleep();
  made.ring.close();
  EXPECT_TRUE(child.succeeded());
}

TEST(SharedMpscRing, APlaceWakesSleepingProcesses) {
  MadeOfMany made(1, 3);
  Many::Producer out(made.ring, 0);
  ASSERT_EQ(out.push(message_of(0)), Status::ok);
  ForkedChild one([&] { return push_from(made.ring, 1, 1); });
  ForkedChild two([&] { return push_from(made.ring, 2, 1); });
  one.wait_until_asleep();
  two.wait_until_asleep();
  Many::Consumer in(made.ring);
  Message message{};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(in.pop(message, 20s), Status::ok);
  EXPECT_TRUE(one.succeeded());
  EXPECT_TRUE(two.succeeded());
}

TEST(SharedMpscRing, NoSystemCallWhileTheOthersAreAwake) {
  MadeOfMany made(64, 2);
  const std::uint64_t count = test::rounds(20'000);
  const auto push = [&](std::size_t slot) {
    Many::Producer out(made.ring, slot);
    test::forbid_futexes();
    for (std::uint64_t i = 0; i < count;) {
      const Status said = out.try_push(message_of(i));
      if (said == Status::closed) return false;
      said == Status::ok ? static_cast<void>(++i) : static_cast<void>(::sched_yield());
    }
    return true;
  };
  ForkedChild one([&] { return push(0); });
  ForkedChild two([&] { return push(1); });
  ForkedChild consumer([&] {
    Many::Consumer in(made.ring);
    test::forbid_futexes();
    Message message{};
    for (std::uint64_t left = 2 * count; left != 0;) {
      const Status said = in.try_pop(message);
      if (said == Status::closed) return false;
      said == Status::ok ? static_cast<void>(--left) : static_cast<void>(::sched_yield());
    }
    return true;
  });
  EXPECT_TRUE(one.succeeded());
  EXPECT_TRUE(two.succeeded());
  EXPECT_TRUE(consumer.succeeded());
}

// A dead producer's claim holds up the rest until its death is told.
TEST(SharedMpscRing, ADeadProducersPlaceIsPassedOver) {
  MadeOfMany made(4, 2);
  ForkedChild child([&] {
    Many::Producer out(made.ring, 0);
    Message* place = nullptr;
    if (out.try_claim(place) != Status::ok) return false;
    for (;;) ::pause();
  });
  child.wait_until_asleep();
  Many::Producer living(made.ring, 1);
  ASSERT_EQ(living.push(message_of(7)), Status::ok);
  Many::Consumer in(made.ring);
  Message message{};
  EXPECT_EQ(in.pop(message, 1ms), Status::timed_out);
  child.kill();
  EXPECT_EQ(in.try_pop(message), Status::empty);
  EXPECT_THROW(Many::Producer(made.ring, 0), std::system_error);
  EXPECT_EQ(made.ring.producer_died(0), 1U);
  ASSERT_EQ(in.try_pop(message), Status::ok);
  EXPECT_EQ(message.number, 7U);
  Many::Producer successor(made.ring, 0);
  EXPECT_EQ(successor.try_push(message_of(8)), Status::ok);
}

// Dies amid a batch: some are written, the first not published. Nothing of it comes out, and what
// another one has pushed behind it does.
TEST(SharedMpscRing, ADeadProducersBatchIsPassedOver) {
  for (std::uint64_t before = 0; before < 4; ++before) {  // it begins at each place
    MadeOfMany made(4, 2);
    detail::SharedTicketRing& inside = detail::Books<Many>::inside(made.ring);
    Many::Producer living(made.ring, 1);
    Many::Consumer in(made.ring);
    for (std::uint64_t i = 0; i < before; ++i) {
      ASSERT_EQ(living.try_push(message_of(i)), Status::ok);
      EXPECT_EQ(pop_batch(in, 1), Numbers{i});
    }
    ForkedChild child([&] {
      detail::SharedTicketProducer out(inside, 0);
      if (out.try_claim(3) != Status::ok || out.count() != 3) return false;
      for (;;) ::pause();
    });
    child.wait_until_asleep();
    ASSERT_EQ(living.try_push_batch(messages(7, 2)), 1U);
    EXPECT_EQ(pop_batch(in, 9), Numbers{});
    child.kill();
    EXPECT_EQ(pop_batch(in, 9), Numbers{}) << "nobody has said it";
    EXPECT_EQ(made.ring.producer_died(0), 3U);
    EXPECT_EQ(made.ring.producer_died(0), 0U);
    EXPECT_EQ(pop_batch(in, 9), Numbers{7});
    Many::Producer successor(made.ring, 0);
    EXPECT_EQ(successor.try_push_batch(messages(8, 4)), 4U);
    EXPECT_EQ(pop_batch(in, 9), (Numbers{8, 9, 10, 11}));
    EXPECT_EQ(test::fault_in(made.ring), "");
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
  Many::Consumer in(made.ring);
  Message message{};
  std::uint64_t next = 0;
  std::uint64_t lives = 0;
  std::uint64_t next_of_killed = 0;
  Status said = Status::ok;
  while ((said = in.pop(message, 20s)) == Status::ok) {
    ASSERT_TRUE(is_whole(message));
    if (message.number >> 32 == 1) {
      ASSERT_EQ(message.number, number_of(1, next++));
    } else {
      if (message.number == 0) next_of_killed = 0, ++lives;
      ASSERT_EQ(message.number, next_of_killed++);
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

TEST(SharedMpscRing, AKilledConsumerBlocksNobody) {
  MadeOfMany made(2, 1);
  ForkedChild child([&] {
    Many::Consumer in(made.ring);
    const Message* message = nullptr;
    if (in.peek(message) != Status::ok) return false;
    for (;;) ::pause();
  });
  Many::Producer out(made.ring, 0);
  ASSERT_EQ(out.push(message_of(0)), Status::ok);
  ASSERT_EQ(out.push(message_of(1)), Status::ok);
  EXPECT_EQ(out.push(message_of(2), 1ms), Status::timed_out);
  child.kill();
  {
    Many::Consumer successor(made.ring);
    Message message{};
    ASSERT_EQ(successor.try_pop(message), Status::ok);
    EXPECT_EQ(message.number, 0U) << "peeked and not released";
    EXPECT_EQ(out.push(message_of(2)), Status::ok);
  }
  std::jthread parent([&] {
    std::this_thread::sleep_for(2ms);
    made.ring.consumer_died();
  });
  EXPECT_EQ(out.push(message_of(3)), Status::closed);
}

// --- What others may write there. ---

void use_spoilt_many(std::span<std::byte> bytes, std::mt19937_64& random, std::size_t& damaged) {
  Many ring = Many::attach(bytes);
  Many::Producer out(ring, random() % 4);
  Many::Consumer in(ring);
  Message message{};
  Message* place = nullptr;
  const Message* front = nullptr;
  for (int i = 0; i < 3; ++i) {
    test::spoil(bytes, random);
    (void)out.try_push(message);
    if (out.try_claim(place) == Status::ok) *place = message;
    (void)out.publish();
    test::spoil(bytes, random);
    Message some[3] = {message, message, message};
    EXPECT_LE(out.try_push_batch(some), 3U);
    test::spoil(bytes, random);
    EXPECT_LE(in.try_pop_batch(some), 3U);
    (void)in.try_pop(message);
    if (in.try_peek(front) == Status::ok) message = *front;
    in.release();
    const std::size_t count = in.consume([&](const Message& next) { message = next; });
    EXPECT_LE(count, ring.capacity());
    EXPECT_LE(ring.size(), ring.capacity());
    (void)ring.producer_died(random() % 4);
  }
  ring.close();
  int pops = 0;
  while (in.try_pop(message) == Status::ok && pops < 99) ++pops;
  EXPECT_LE(pops, 8);
  damaged += in.damaged() || out.damaged();
}

TEST(SharedMpscRing, RandomImagesAreRefusedOrSurvived) {
  auto random = test::random();
  MadeOfMany made(4, 3);
  const std::span<std::byte> bytes = made.pages.bytes();
  const std::vector<std::byte> whole(bytes.begin(), bytes.end());
  std::size_t refused = 0;
  std::size_t damaged = 0;
  const std::size_t images = test::images();
  for (std::size_t i = 0; i < images; ++i) {
    std::copy(whole.begin(), whole.end(), bytes.begin());
    if (i % 4 == 0) {
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
      if (i % 8 == 0) std::copy_n(whole.begin(), 256, bytes.begin());
    } else {
      test::spoil(bytes, random);
    }
    try {
      use_spoilt_many(bytes, random, damaged);
    } catch (const std::system_error&) {
      ++refused;
    }
  }
  EXPECT_NE(refused, 0U);
  EXPECT_NE(damaged, 0U);
  EXPECT_LT(refused + damaged, images);
}

}  // namespace
