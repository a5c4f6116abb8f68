// SPDX-License-Identifier: MIT
//
// What all rings of shared memory promise, in C++ and in C: calls, sleeps, closes, deaths, and
// memory that cannot be trusted; between processes. What is a ring's own is in its own file.
#include "support/test.hpp"
#include "unit/process/shared_faces.hpp"

namespace shared_rings_test { namespace {

using namespace handoff;
using namespace handoff::test;
using namespace std::chrono_literals;

constexpr std::size_t kAll = ~std::size_t{0};

template <class Face>
class SharedRings : public testing::Test {};
using All = testing::Types<OneToOne, ManyToOne, OneToMany, BytesInCpp, BytesInC, ItemsInC>;
TYPED_TEST_SUITE(SharedRings, All);
// Whose producers wait for room.
template <class Face>
class BoundedRings : public testing::Test {};
using Bounded = testing::Types<OneToOne, ManyToOne, BytesInCpp, BytesInC, ItemsInC>;
TYPED_TEST_SUITE(BoundedRings, Bounded);
template <class Face>
class RingsInCpp : public testing::Test {};
using InCpp = testing::Types<OneToOne, ManyToOne, OneToMany, BytesInCpp>;
TYPED_TEST_SUITE(RingsInCpp, InCpp);

// From `next` on, as many as have room.
template <class Producer>
void fill(Producer& out, std::uint64_t& next) {
  while (out.try_push(next) == Status::ok) ++next;
}

// ---- One process ----

TYPED_TEST(BoundedRings, FirstInFirstOutUntilFullAndEmpty) {
  typename TypeParam::Made made(4);
  typename TypeParam::Producer out(made.ring);
  typename TypeParam::Consumer in(made.attached());
  std::uint64_t number = 0;
  std::uint64_t pushed = 0;
  std::uint64_t popped = 0;
  for (int lap = 0; lap < 50; ++lap) {
    fill(out, pushed);
    EXPECT_GE(pushed - popped, 4U);
    EXPECT_EQ(out.try_push(pushed), Status::full);
    if (lap < 3) {
      EXPECT_EQ(out.push(pushed, 1ms), Status::timed_out);
    }
    for (; popped != pushed; ++popped) {
      ASSERT_EQ(in.try_pop(number), Status::ok);
      ASSERT_EQ(number, popped);
    }
    EXPECT_EQ(in.try_pop(number), Status::empty);
    EXPECT_TRUE(TypeParam::is_empty(made.ring));
  }
  EXPECT_FALSE(in.damaged() || out.damaged());
}

TYPED_TEST(BoundedRings, InPlace) {
  typename TypeParam::Made made(2);
  typename TypeParam::Producer out(made.ring);
  typename TypeParam::Consumer in(made.ring);
  std::span<const std::byte> found;
  EXPECT_EQ(out.publish(0), Status::closed) << "nothing is claimed";
  ASSERT_EQ(out.try_claim(), Status::ok);
  const void* const place = out.place();
  EXPECT_EQ(in.try_peek(found), Status::empty);
  EXPECT_TRUE(found.empty());
  in.release();  // nothing is peeked: nothing happens
  ASSERT_EQ(out.try_claim(), Status::ok);
  EXPECT_EQ(out.place(), place);
  EXPECT_EQ(out.publish(0), Status::ok);
  EXPECT_EQ(out.publish(1), Status::closed);
  ASSERT_EQ(out.claim(), Status::ok);
  EXPECT_EQ(out.publish(1), Status::ok);
  while (out.try_claim() == Status::ok) EXPECT_EQ(out.publish(2), Status::ok);
  EXPECT_EQ(out.try_claim(), Status::full);
  EXPECT_EQ(out.place(), nullptr);
  EXPECT_EQ(out.claim(1ms), Status::timed_out);
  EXPECT_EQ(out.publish(3), Status::closed) << "a claim that failed is none";
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(in.try_peek(found), Status::ok);
    EXPECT_EQ(TypeParam::read(found), 0U);
  }
  in.release();
  in.release();
  ASSERT_EQ(in.try_peek(found), Status::ok);
  EXPECT_EQ(TypeParam::read(found), 1U);
}

TYPED_TEST(RingsInCpp, AVisitorSeesWhatIsThereAndConsumesWhatItThrowsAt) {
  typename TypeParam::Made made(8);
  typename TypeParam::Producer out(made.ring);
  typename TypeParam::Consumer in(made.ring);
  for (std::uint64_t i = 0; i < 5; ++i) ASSERT_EQ(out.push(i), Status::ok);
  std::uint64_t next = 0;
  const auto visit = [&](std::uint64_t number) { EXPECT_EQ(number, next++); };
  EXPECT_EQ(in.consume(visit, 2), 2U);
  const auto throws = [&](std::uint64_t number) {
    visit(number);
    if (number == 3) throw std::runtime_error("no");
  };
  EXPECT_THROW(in.consume(throws, kAll), std::runtime_error);
  EXPECT_EQ(in.consume(visit, kAll), 1U);
  EXPECT_EQ(in.consume(visit, kAll), 0U);
  EXPECT_EQ(next, 5U);
}

TYPED_TEST(SharedRings, ClosedDrainsAndRefuses) {
  typename TypeParam::Made made(4);
  typename TypeParam::Producer out(made.ring);
  std::uint64_t number = 0;
  ASSERT_EQ(out.try_push(1), Status::ok);
  {
    typename TypeParam::Consumer in(made.ring);
    if constexpr (TypeParam::waits) {
      ASSERT_EQ(out.try_claim(), Status::ok);
    }
    TypeParam::close(made.ring);
    TypeParam::close(made.ring);
    if constexpr (TypeParam::waits) {
      EXPECT_EQ(out.publish(2), Status::ok) << "claimed before, and nothing has ended yet";
      EXPECT_EQ(out.try_claim(), Status::closed);
    }
    EXPECT_EQ(out.try_push(3), Status::closed);
    EXPECT_EQ(out.push(3), Status::closed);
    for (std::uint64_t next = 1; next <= (TypeParam::waits ? 2 : 1); ++next) {
      ASSERT_EQ(in.pop(number), Status::ok);
      EXPECT_EQ(number, next);
    }
    EXPECT_EQ(in.pop(number), Status::closed);
    EXPECT_EQ(in.try_pop(number), Status::closed);
    if constexpr (TypeParam::waits) {
      EXPECT_FALSE(in.damaged());
    }
  }
  if constexpr (TypeParam::waits) {
    typename TypeParam::Consumer successor(made.ring);
    EXPECT_EQ(successor.try_pop(number), Status::closed);
  }
}

// A wait that is stopped, and one that begins after the stop.
template <class Wait>
void expect_stopped(const Wait& wait) {
  std::stop_source stop;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(2ms);
    stop.request_stop();
  });
  for (int i = 0; i < 2; ++i) EXPECT_EQ(wait(stop.get_token()), Status::stopped);
}

TYPED_TEST(SharedRings, WaitsEndByTimeAndByStop) {
  typename TypeParam::Made made(1);
  typename TypeParam::Producer out(made.ring);
  typename TypeParam::Consumer in(made.ring);
  std::uint64_t number = 0;
  EXPECT_EQ(in.pop(number, 1ms), Status::timed_out);
  EXPECT_EQ(in.pop(number, 0ms), Status::timed_out);
  if constexpr (TypeParam::may_stop) {
    expect_stopped([&](const std::stop_token& stop) { return in.pop(number, stop); });
    std::uint64_t next = 0;
    if constexpr (TypeParam::waits) {
      fill(out, next);
      expect_stopped([&](const std::stop_token& stop) { return out.push(next, stop); });
    } else {
      ASSERT_EQ(out.push(next), Status::ok);
    }
    std::stop_source stopped;
    stopped.request_stop();
    EXPECT_EQ(in.pop(number, stopped.get_token()), Status::ok) << "what is there comes first";
  }
}

// ---- Between processes ----

// A producer's number is in the upper half.
std::uint64_t number_of(std::uint64_t slot, std::uint64_t i) { return (slot << 32) | i; }

// A child for each producer.
template <class Face, class Work>
std::vector<std::unique_ptr<ForkedChild>> children_of(const typename Face::Made& made,
                                                      const Work& work) {
  std::vector<std::unique_ptr<ForkedChild>> children;
  for (std::size_t slot = 0; slot < Face::producers; ++slot) {
    children.push_back(std::make_unique<ForkedChild>([&] {
      typename Face::Producer out(made.attached(), slot);
      return work(out, slot);
    }));
  }
  return children;
}

TYPED_TEST(BoundedRings, EachNumberOnceAndInOrder) {
  constexpr std::size_t producers = TypeParam::producers;
  for (const std::size_t capacity : {1U, 2U, 64U, 4096U}) {
    typename TypeParam::Made made(capacity);
    const std::uint64_t count = rounds(capacity < 64 ? 10'000 : 100'000) / producers;
    const auto children = children_of<TypeParam>(made, [&](auto& out, std::size_t slot) {
      std::uint64_t i = 0;
      while (i < count && out.push(number_of(slot, i)) == Status::ok) ++i;
      return i == count;
    });
    typename TypeParam::Consumer in(made.ring);
    std::uint64_t next[producers] = {};
    std::uint64_t number = 0;
    for (std::uint64_t i = 0; i < producers * count; ++i) {
      ASSERT_EQ(in.pop(number, 20s), Status::ok);
      const std::uint64_t slot = number >> 32;
      ASSERT_LT(slot, producers);
      ASSERT_EQ(number, number_of(slot, next[slot]++));
    }
    for (const auto& child : children) EXPECT_TRUE(child->succeeded());
    TypeParam::close(made.ring);
    EXPECT_EQ(in.pop(number), Status::closed);
  }
}

TYPED_TEST(SharedRings, ANumberAndACloseWakeASleepingProcess) {
  typename TypeParam::Made made(4);
  ForkedChild child([&] {
    typename TypeParam::Consumer in(made.attached());
    std::uint64_t number = 0;
    return in.pop(number) == Status::ok && number == 5 && in.pop(number) == Status::closed;
  });
  child.wait_until_asleep();
  typename TypeParam::Producer out(made.ring);
  EXPECT_EQ(out.push(5), Status::ok);
  child.wait_until_asleep();
  TypeParam::close(made.ring);
  EXPECT_TRUE(child.succeeded());
}

TYPED_TEST(BoundedRings, APlaceAndACloseWakeSleepingProcesses) {
  typename TypeParam::Made made(1);
  typename TypeParam::Consumer in(made.ring);
  const auto children = children_of<TypeParam>(made, [](auto& out, std::size_t) {
    Status said = Status::ok;
    while (said == Status::ok) said = out.push(7);
    return said == Status::closed;
  });
  std::uint64_t number = 0;
  for (int i = 0; i < 10; ++i) {
    for (const auto& child : children) child->wait_until_asleep();
    EXPECT_EQ(in.pop(number, 20s), Status::ok);
  }
  for (const auto& child : children) child->wait_until_asleep();
  TypeParam::close(made.ring);
  for (const auto& child : children) EXPECT_TRUE(child->succeeded());
}

// Each futex call would be the end of the process that makes it.
TYPED_TEST(SharedRings, NoSystemCallWhileTheOthersAreAwake) {
  typename TypeParam::Made made(64);
  const std::uint64_t count = rounds(20'000);
  ForkedChild consumer([&] {
    typename TypeParam::Consumer in(made.attached());
    forbid_futexes();
    std::uint64_t popped = 0;
    std::uint64_t number = 0;
    for (Status said = Status::empty; said != Status::closed; said = in.try_pop(number)) {
      if (said == Status::empty) ::sched_yield();
      if (said == Status::ok && (number == kTorn || number >= count)) return false;
      popped += said == Status::ok;
    }
    return !TypeParam::waits || popped == TypeParam::producers * count;
  });
  const auto producers = children_of<TypeParam>(made, [&](auto& out, std::size_t) {
    forbid_futexes();
    for (std::uint64_t i = 0; i < count;) {
      const Status said = out.try_push(i);
      if (said == Status::closed) return false;
      said == Status::ok ? static_cast<void>(++i) : static_cast<void>(::sched_yield());
    }
    return true;
  });
  for (const auto& producer : producers) EXPECT_TRUE(producer->succeeded());
  TypeParam::close(made.ring);
  EXPECT_TRUE(consumer.succeeded());
}

TYPED_TEST(BoundedRings, AKilledProducerLeavesWholeNumbersAndASuccessorGoesOn) {
  for (std::size_t round = 0; round < rounds(20); ++round) {
    typename TypeParam::Made made(8);
    ForkedChild child([&] {
      typename TypeParam::Producer out(made.attached());
      for (std::uint64_t i = 0; out.push(i) == Status::ok;) ++i;
      return false;
    });
    typename TypeParam::Consumer in(made.ring);
    std::uint64_t number = 0;
    std::uint64_t next = 0;
    for (; next < 50 * round; ++next) {
      ASSERT_EQ(in.pop(number, 20s), Status::ok);
      ASSERT_EQ(number, next);
    }
    child.kill();
    TypeParam::replaced(made.ring);
    for (; in.try_pop(number) == Status::ok; ++next) ASSERT_EQ(number, next);
    EXPECT_EQ(in.pop(number, 1ms), Status::timed_out) << "nobody has said that none comes";
    typename TypeParam::Producer successor(made.ring);
    ASSERT_EQ(successor.push(next), Status::ok);
    TypeParam::producer_died(made.ring);
    ASSERT_EQ(in.pop(number), Status::ok);
    EXPECT_EQ(number, next);
    EXPECT_EQ(in.pop(number), Status::closed);
  }
}

TYPED_TEST(BoundedRings, AKilledConsumerBlocksNobody) {
  typename TypeParam::Made made(2);
  typename TypeParam::Producer out(made.ring);
  std::uint64_t next = 0;
  fill(out, next);
  ForkedChild child([&] {
    typename TypeParam::Consumer in(made.attached());
    std::span<const std::byte> found;
    if (in.try_peek(found) != Status::ok) return false;
    for (;;) ::pause();
  });
  child.wait_until_asleep();
  EXPECT_EQ(out.push(next, 1ms), Status::timed_out);
  child.kill();
  std::uint64_t number = 0;
  {
    typename TypeParam::Consumer successor(made.ring);
    ASSERT_EQ(successor.try_pop(number), Status::ok);
    EXPECT_EQ(number, 0U) << "peeked and not released";
    while (successor.try_pop(number) == Status::ok) {
    }
    EXPECT_EQ(out.push(next), Status::ok);
  }
  fill(out, next);
  std::jthread owner([&] {
    std::this_thread::sleep_for(2ms);
    TypeParam::consumer_died(made.ring);
  });
  EXPECT_EQ(out.push(next), Status::closed);
}

// ---- What others may write there ----

// Each call, amid changes. Whether an end has found that.
template <class Face>
bool use_spoilt(const typename Face::Made& made, std::mt19937_64& random) {
  const std::span<std::byte> bytes = made.bytes();
  const std::size_t most = bytes.size() / 8;
  auto ring = made.attached();
  typename Face::Producer out(ring, Face::producers > 1 ? random() % (Face::producers + 1) : 0);
  typename Face::Consumer in(ring);
  std::uint64_t number = 0;
  std::span<const std::byte> found;
  for (int i = 0; i < 3; ++i) {
    spoil(bytes, random);
    (void)out.try_push(random());
    if constexpr (Face::waits) {
      if (out.try_claim() == Status::ok) (void)out.publish(random());
    }
    if constexpr (requires {
                    requires Face::waits;
                    out.try_push_batch(0, 5);
                  }) {
      EXPECT_LE(out.try_push_batch(0, 5), 5U);
      spoil(bytes, random);
      EXPECT_LE(in.try_pop_batch(3).size(), 3U);
    }
    spoil(bytes, random);
    (void)in.try_pop(number);
    if constexpr (Face::waits) {
      if (in.try_peek(found) == Status::ok) {
        EXPECT_TRUE(lies_in(found, bytes));
        (void)Face::read(found);
      }
      in.release();
    }
    if constexpr (requires { in.consume([](std::uint64_t) {}, kAll); }) {
      EXPECT_LE(in.consume([](std::uint64_t) {}, kAll), most);
    }
    if constexpr (requires { ring.size() <= ring.capacity(); }) {
      EXPECT_LE(ring.size(), ring.capacity());
    }
    if constexpr (Face::producers > 1) {
      if (random() % 2 == 0) Face::replaced(ring);
    }
  }
  Face::close(ring);
  for (std::size_t pops = 0; in.try_pop(number) == Status::ok; ++pops) {
    if (pops > most) {
      ADD_FAILURE() << "it has no end";
      break;
    }
  }
  if constexpr (Face::waits) return in.damaged() || out.damaged();
  else return in.in.behind() > most;
}

// Some bytes of a whole ring are changed, or all of them but the first; before the ends are made,
// or later. Nothing outside is touched, nothing hangs.
TYPED_TEST(SharedRings, RandomImagesAreRefusedOrSurvived) {
  auto random = test::random();
  typename TypeParam::Made made(4);
  const std::span<std::byte> bytes = made.bytes();
  const Bytes whole(bytes.begin(), bytes.end());
  std::size_t refused = 0;
  std::size_t damaged = 0;
  const std::size_t count = images();
  for (std::size_t i = 0; i < count; ++i) {
    std::copy(whole.begin(), whole.end(), bytes.begin());
    if (i % 4 == 0) {
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
      const std::size_t kept = i % 8 == 0 ? 128 * (1 + random() % 5) : 0;
      std::copy_n(whole.begin(), std::min(kept, whole.size()), bytes.begin());
    } else if (i % 4 == 1) {
      spoil(bytes, random);
    }
    try {
      damaged += use_spoilt<TypeParam>(made, random);
    } catch (const std::system_error&) {
      ++refused;
    }
  }
  EXPECT_NE(refused, 0U);
  EXPECT_NE(damaged, 0U);
  EXPECT_LT(refused + damaged, count);
}

}}  // namespace shared_rings_test
