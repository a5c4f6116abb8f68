// SPDX-License-Identifier: MIT
//
// Message buses of both orders beyond their model and the suites of their tier: types, reserves,
// waits, memory, meta data, lanes.
#include "support/failing.hpp"
#include "support/started_at.hpp"
#include "support/test.hpp"

namespace message_bus_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace test;

struct Reading {
  int sensor = 0;
  double value = 0;
};
struct Text {
  std::string text;
};
struct alignas(256) Wide {
  int number = 0;
};
using Owned = std::unique_ptr<int>;

template <class Policies>
struct MessageBusTest : testing::Test {
  template <class... Messages>
  using Of = BasicMessageBus<Policies, Messages...>;
};
using Orders = testing::Types<BusPolicies, LanedBusPolicies>;

TYPED_TEST_SUITE(MessageBusTest, Orders);

template <class Bus>
std::vector<int> drained(Bus& bus, std::size_t most = ~std::size_t{0}) {
  std::vector<int> numbers;
  const std::size_t count = bus.drain([&](int number) { numbers.push_back(number); }, most);
  EXPECT_EQ(count, numbers.size());
  return numbers;
}
using Numbers = std::vector<int>;

TYPED_TEST(MessageBusTest, EachTypeReachesItsFunction) {
  typename TestFixture::template Of<Reading, Text, Owned, Wide> bus;
  EXPECT_EQ(bus.publish(Reading{3, 1.5}), Status::ok);
  EXPECT_EQ(bus.publish(Text{"some text that is not short at all, so it is allocated"}),
            Status::ok);
  EXPECT_EQ(bus.publish(std::make_unique<int>(7)), Status::ok);
  EXPECT_EQ(bus.publish(Wide{9}), Status::ok);
  const Reading copied{4, 2.5};
  EXPECT_EQ(bus.publish(copied), Status::ok);
  std::string came;
  Owned kept;
  EXPECT_EQ(bus.drain(overloaded{
                [&](const Reading& r) { came += "reading " + std::to_string(r.sensor) + ' '; },
                [&](const Text& t) { came += t.text.substr(0, 4) + ' '; },
                [&](Owned& o) { kept = std::move(o); },
                [&](const Wide& w) {
                  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&w) % 256, 0U);
                  came += "wide " + std::to_string(w.number) + ' ';
                }}),
            5U);
  EXPECT_EQ(came, "reading 3 some wide 9 reading 4 ");
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(*kept, 7);
  EXPECT_EQ(bus.size(), 0U);
  EXPECT_EQ(bus.tally().done, 5U);
}

// Counters that run over at 2^16, 2^32, 2^48, 2^63 and 2^64 positions, and begin a little earlier.
template <class Bus>
struct Started : Bus {
  Started(const typename Bus::Options& options, std::uint64_t position)
      : Bus(options, detail::RingStart{position}) {}
};

TYPED_TEST(MessageBusTest, CountersRunOverUnseen) {
  using Bus = Started<typename TestFixture::template Of<int>>;
  for (const unsigned bits : {0U, 16U, 32U, 47U, 48U, 62U, 63U, 64U}) {
    for (const std::uint64_t before : {1U, 3U, 5U}) {
      const std::uint64_t end = bits == 64 ? 0 : std::uint64_t{1} << bits;
      SCOPED_TRACE(testing::Message() << before << " before 2^" << bits);
      Bus bus({.capacity = 2}, end - before);
      auto producer = bus.producer();
      for (int i = 0; i < 10; i += 2) {
        EXPECT_EQ(producer.publish(i), Status::ok);
        EXPECT_EQ(producer.publish(i + 1), Status::ok);
        EXPECT_EQ(producer.publish(i + 2), Status::full);
        EXPECT_EQ(bus.size(), 2U);
        EXPECT_EQ(drained(bus), (Numbers{i, i + 1}));
        EXPECT_EQ(bus.size(), 0U);
      }
      bus.shut();
      EXPECT_TRUE(came_to(bus.tally(), {.done = 10}));
      EXPECT_EQ(bus.wait(), Status::closed);
    }
  }
}

// However small it is, a place that is kept is there.
TYPED_TEST(MessageBusTest, WhatIsUrgentGetsTheLastPlaceOfASmallBus) {
  for (const std::size_t capacity : {2U, 4U, 8U}) {
    typename TestFixture::template Of<int> bus({.capacity = capacity, .reserve = {.urgent = 1}});
    while (bus.publish(1) == Status::ok) {
    }
    EXPECT_EQ(bus.pressure(), Pressure::normal) << capacity;
    EXPECT_EQ(bus.publish(2, Admission::urgent), Status::ok) << capacity;
    while (bus.publish(2, Admission::urgent) == Status::ok) {
    }
    EXPECT_EQ(bus.size(), capacity);
  }
}

// Whatever the depth, each class is refused at its threshold and not below.
TYPED_TEST(MessageBusTest, EachClassIsAdmittedUpToItsPart) {
  typename TestFixture::template Of<int> bus(
      {.capacity = 128, .reserve = {.urgent = 20, .normal = 20}});
  EXPECT_EQ(bus.capacity(), 128U);
  const auto fill = [&](Admission admission) {
    while (bus.publish(1, admission) == Status::ok) {
    }
    return bus.size();
  };
  EXPECT_EQ(bus.pressure(), Pressure::none);
  EXPECT_EQ(fill(Admission::low), 76U) << "60 %";
  EXPECT_EQ(bus.pressure(), Pressure::low);
  EXPECT_EQ(fill(Admission::normal), 102U) << "80 %";
  EXPECT_EQ(bus.pressure(), Pressure::normal);
  EXPECT_EQ(fill(Admission::urgent), 128U) << "all";
  EXPECT_EQ(bus.pressure(), Pressure::urgent);
  EXPECT_EQ(bus.publish(1), Status::full);
  EXPECT_EQ(bus.refused(Admission::low), 1U);
  EXPECT_EQ(bus.refused(Admission::normal), 2U);
  EXPECT_EQ(bus.refused(Admission::urgent), 1U);
  EXPECT_EQ(bus.tally().accepted, 128U) << "what was refused is no part of it";
  // A place that comes free is seen at once, one by one.
  EXPECT_EQ(bus.drain([](int) {}, 26), 26U);
  EXPECT_EQ(bus.publish(1), Status::full);
  EXPECT_EQ(bus.drain([](int) {}, 1), 1U);
  EXPECT_EQ(bus.publish(1), Status::ok);
  EXPECT_EQ(bus.publish(1), Status::full);
  const std::uint64_t refused = bus.refused();
  bus.shut();
  EXPECT_EQ(bus.publish(1), Status::closed);
  EXPECT_EQ(bus.refused(), refused) << "not for want of room";
}

TYPED_TEST(MessageBusTest, WhatIsKeptLeavesEachClassAPlace) {
  using Bus = typename TestFixture::template Of<int>;
  Bus bus({.capacity = 10, .reserve = {.urgent = 50, .normal = 50}});
  EXPECT_EQ(bus.capacity(), 16U);
  EXPECT_EQ(bus.publish(1, Admission::low), Status::ok) << "each class has a place";
  EXPECT_EQ(bus.publish(1, Admission::low), Status::full);
  while (bus.publish(1) == Status::ok) {
  }
  EXPECT_EQ(bus.size(), 8U);
  while (bus.publish(1, Admission::urgent) == Status::ok) {
  }
  EXPECT_EQ(bus.size(), 16U);
  const Reserve wrong[] = {{.urgent = 101}, {.urgent = 50, .normal = 51}, {.normal = ~0U}};
  for (const Reserve& reserve : wrong) EXPECT_THROW(Bus({.reserve = reserve}), std::logic_error);
}

TYPED_TEST(MessageBusTest, CapacitiesThatCannotBeAreSaid) {
  using Bus = typename TestFixture::template Of<Wide>;
  EXPECT_THROW(Bus({.capacity = 0}), std::logic_error);
  EXPECT_THROW(Bus({.capacity = ~std::size_t{0}}), std::length_error);
  EXPECT_THROW(Bus({.capacity = std::size_t{1} << 60}), std::length_error);
  Bus one({.capacity = 1});
  EXPECT_EQ(one.publish(Wide{1}, Admission::low), Status::ok);
  EXPECT_EQ(one.publish(Wide{1}, Admission::urgent), Status::full);
  const auto can_be = [](std::size_t capacity) {
    try {
      return Bus::bytes_needed({.capacity = capacity}) != 0;
    } catch (const std::length_error&) {
      return false;
    }
  };
  std::size_t most = 1;
  while (can_be(2 * most)) most *= 2;
  EXPECT_FALSE(can_be(most + 1)) << "the largest is a power of two";
}

TEST(LanedMessageBus, NumbersOfLanesThatCannotBeAreSaid) {
  EXPECT_THROW(LanedMessageBus<int>({.lanes = ~std::size_t{0}}), std::length_error);
  EXPECT_THROW(LanedMessageBus<int>({.lanes = ~std::size_t{0} - 1}), std::length_error);
}

// What a message's constructor throws is the publisher's; the place is stepped over.
struct Unruly {
  explicit Unruly(int n) : number(n) { may_throw(); }
  Unruly(const Unruly& other) : number(other.number) { may_throw(); }
  Unruly(Unruly&& other) noexcept : number(other.number) {}
  void may_throw() const {
    if (number < 0) throw std::domain_error("negative");
  }
  int number;
};

TYPED_TEST(MessageBusTest, AMessageThatCannotBeMadeWasNeverPublished) {
  typename TestFixture::template Of<Unruly> bus;
  Unruly bad(1);
  bad.number = -1;
  EXPECT_EQ(bus.publish(Unruly(1)), Status::ok);
  EXPECT_THROW(static_cast<void>(bus.publish(std::as_const(bad))), std::domain_error);
  EXPECT_THROW(static_cast<void>(bus.template claim<Unruly>(-1)), std::domain_error);
  EXPECT_EQ(bus.publish(Unruly(2)), Status::ok);
  EXPECT_TRUE(came_to(bus.tally(), {.pending = 2}));
  std::vector<Unruly> batch{Unruly(3), Unruly(4), Unruly(5)};
  batch[1].number = -1;
  EXPECT_THROW(bus.publish_batch(std::as_const(batch)), std::domain_error);
  std::vector<std::pair<int, bool>> came;
  const auto visit = [&](const Unruly& u, std::uint64_t, bool end) {
    came.emplace_back(u.number, end);
  };
  EXPECT_EQ(bus.drain(visit), 3U);
  EXPECT_EQ(came, (std::vector<std::pair<int, bool>>{{1, false}, {2, false}, {3, true}}));
  EXPECT_EQ(bus.wait(0ms), Status::timed_out) << "what is stepped over is no message";
  bus.shut();
  EXPECT_TRUE(came_to(bus.tally(), {.done = 3}));
}

TYPED_TEST(MessageBusTest, ADrainEndsThoughItsHandlerPublishes) {
  typename TestFixture::template Of<int> bus({.capacity = 8});
  EXPECT_EQ(bus.publish(0), Status::ok);
  EXPECT_EQ(bus.drain([&](int number) { EXPECT_EQ(bus.publish(number + 1), Status::ok); }), 8U);
  EXPECT_EQ(drained(bus), Numbers{8});
}

TYPED_TEST(MessageBusTest, ToDrainInsideAHandlerIsMisuse) {
  typename TestFixture::template Of<int> bus;
  EXPECT_EQ(bus.publish(1), Status::ok);
  EXPECT_EQ(bus.drain([&](int) {
    EXPECT_THROW(bus.drain([](int) {}), std::logic_error);
    EXPECT_THROW(static_cast<void>(bus.wait()), std::logic_error);
  }),
            1U);
  EXPECT_EQ(bus.drain([](int) {}), 0U) << "it is as before";
}

TYPED_TEST(MessageBusTest, AWaitingBusWaitsForRoom) {
  using Bus = typename TestFixture::template Of<int>;
  Bus bus({.capacity = 1, .on_full = OnFull::wait});
  EXPECT_EQ(bus.publish(1), Status::ok);
  EXPECT_EQ(bus.try_publish(2), Status::full);
  EXPECT_EQ(bus.publish(2, 1ms), Status::timed_out);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(bus.publish(2, stop.get_token()), Status::stopped);
  EXPECT_EQ(bus.refused(Admission::normal), 3U);
  EXPECT_EQ(bus.publish(2, Admission::urgent, 1ms), Status::timed_out);
  EXPECT_EQ(bus.publish(2, {.admission = Admission::low}, 1ms), Status::timed_out);
  std::array<int, 2> two{2, 2};
  EXPECT_EQ(bus.publish_batch(two, 1ms), 0U);
  EXPECT_EQ(bus.publish_batch(two, Admission::low, stop.get_token()), 0U);
  EXPECT_EQ(bus.refused(Admission::urgent), 1U);
  EXPECT_EQ(bus.refused(Admission::low), 2U);
  EXPECT_EQ(bus.refused(), 7U) << "of all classes";
  EXPECT_FALSE(bus.empty());
  EXPECT_EQ(bus.drain([&](int) { EXPECT_EQ(bus.publish(2), Status::full) << "no deadlock"; }), 1U);
  EXPECT_EQ(bus.publish(3), Status::ok);
  std::thread producer([&] {
    EXPECT_EQ(bus.publish(4), Status::ok);
    std::array<int, 5> rest{5, 6, 7, 8, 9};
    EXPECT_EQ(bus.publish_batch(rest), 5U) << "it waits for room for all";
    bus.shut();
  });
  Numbers came;
  while (bus.wait() == Status::ok) {
    bus.drain([&](int number) { came.push_back(number); }, 1);
  }
  producer.join();
  EXPECT_EQ(came, (Numbers{3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(bus.publish(1), Status::closed);
}

TYPED_TEST(MessageBusTest, OneThatRejectsDoesNotWaitForRoom) {
  typename TestFixture::template Of<int> bus({.capacity = 1});
  std::array<int, 2> two{1, 2};
  EXPECT_EQ(bus.publish_batch(two, 1h), 1U);
  EXPECT_EQ(bus.publish(2, 1h), Status::full);
  EXPECT_EQ(bus.publish(2, Admission::urgent, 1h), Status::full);
}

TYPED_TEST(MessageBusTest, OnFullThatItHasNotIsMisuse) {
  using Bus = typename TestFixture::template Of<int>;
  for (const OnFull on_full : {OnFull::run_here, OnFull::grow, OnFull::overwrite_oldest}) {
    EXPECT_THROW(Bus({.on_full = on_full}), Misuse);
  }
}

TYPED_TEST(MessageBusTest, WaitsAsLongAsItIsTold) {
  for (const auto spin : {0ns, -1ns, std::chrono::nanoseconds::max()}) {
    typename TestFixture::template Of<int> bus({.spin_for = spin});
    EXPECT_EQ(bus.wait(1ms), Status::timed_out);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(bus.wait(stop.get_token()), Status::stopped);
    const std::jthread producer([&] {
      std::this_thread::sleep_for(5ms);
      EXPECT_EQ(bus.publish(1), Status::ok);
    });
    EXPECT_EQ(bus.wait(), Status::ok);
    EXPECT_EQ(bus.wait(stop.get_token()), Status::ok) << "what is there comes first";
    const std::jthread closer([&] {
      std::this_thread::sleep_for(5ms);
      bus.shut();
    });
    EXPECT_EQ(bus.drain([](int) {}), 1U);
    EXPECT_EQ(bus.wait(), Status::closed);
  }
}

// No allocation after the constructor, and none at all of its own where memory is lent.
TYPED_TEST(MessageBusTest, LentMemoryAndNoAllocation) {
  using Bus = typename TestFixture::template Of<Reading, Wide>;
  const typename Bus::Options options{.capacity = 64};
  std::vector<std::byte> memory(Bus::bytes_needed(options) + 1);
  const Bus first(options);  // the first one in a process also reads the number of CPUs
  for (const std::size_t offset : {0U, 1U}) {
    const std::size_t before = test::calls(Call::allocation);
    Bus own(options);
    const std::size_t of_own = test::calls(Call::allocation) - before;
    Bus lent(options, std::span(memory).subspan(offset));
    EXPECT_EQ(test::calls(Call::allocation) - before - of_own, of_own - 1);
    const std::size_t made = test::calls(Call::allocation);
    for (Bus* const bus : {&own, &lent}) {
      auto producer = bus->producer();
      for (int i = 0; i < 200; ++i) {
        EXPECT_EQ(producer.publish(Reading{i, 1}), Status::ok);
        EXPECT_EQ(bus->publish(Wide{i}), Status::ok);
        EXPECT_EQ(bus->wait(), Status::ok);
        int came = 0;
        bus->drain(overloaded{[&](const Reading& r) { came += r.sensor; },
                              [&](const Wide& w) { came += w.number; }});
        EXPECT_EQ(came, 2 * i);
      }
      EXPECT_EQ(bus->drain(), 0U);
      bus->shut();
    }
    EXPECT_EQ(test::calls(Call::allocation), made);
  }
  EXPECT_THROW(Bus(options, std::span(memory).first(1000)), std::logic_error);
}

// Even what looks like a first message that has been published, and lanes that are taken.
TYPED_TEST(MessageBusTest, LentMemoryMayHoldAnything) {
  using Bus = typename TestFixture::template Of<Reading>;
  typename Bus::Options options{.capacity = 64};
  if constexpr (requires { options.lanes; }) options.lanes = 2;
  std::vector<std::uint64_t> memory(Bus::bytes_needed(options) / sizeof(std::uint64_t) + 1, 0x0101);
  Bus bus(options, std::as_writable_bytes(std::span(memory)));
  EXPECT_EQ(bus.drain([](const Reading&) {}), 0U);
  auto producer = bus.producer();
  EXPECT_EQ(producer.has_lane(), Bus(options).producer().has_lane());
  EXPECT_EQ(producer.publish(Reading{3, 1}), Status::ok);
  int came = 0;
  EXPECT_EQ(bus.drain([&](const Reading& reading) { came = reading.sensor; }), 1U);
  EXPECT_EQ(came, 3);
}

// A large message is allocated on its own, first of all: a failure claims no place.
template <class Base>
struct Boxes : Base {
  static constexpr std::size_t inline_bytes = 64;
};

TYPED_TEST(MessageBusTest, LargeMessagesAreBoxed) {
  struct Large {
    std::array<int, 100> numbers{};
    Owned owned;
  };
  BasicMessageBus<Boxes<TypeParam>, Large, int> bus({.capacity = 4});
  using Slot = detail::MessageSlot<Boxes<TypeParam>, Large, int>;
  static_assert(sizeof(Slot) == 16, "the state, and a pointer");
  for (int round = 0; round < 10; ++round) {
    Large large;
    large.numbers[99] = round;
    large.owned = std::make_unique<int>(round);
    test::fail_after(Call::allocation, 0, 0);
    EXPECT_THROW(static_cast<void>(bus.publish(std::move(large))), std::bad_alloc);
    EXPECT_TRUE(test::stop_failing(Call::allocation));
    ASSERT_NE(large.owned, nullptr) << "still the caller's";
    EXPECT_EQ(bus.publish(std::move(large)), Status::ok);
    Large again;
    EXPECT_EQ(bus.publish_batch(std::span(&again, 1)), 1U);
    int came = 0;
    EXPECT_EQ(bus.drain(overloaded{[&](Large& l) {
                                     if (l.owned != nullptr) came += l.numbers[99] + *l.owned;
                                   },
                                   [](int) {}}),
              2U);
    EXPECT_EQ(came, 2 * round);
  }
  EXPECT_EQ(bus.publish(Large{}), Status::ok);  // left, for the sanitizer
}

struct WithMeta : BusPolicies {
  static constexpr bool senders = true;
  static constexpr bool topics = true;
  static constexpr bool times = true;
};
template <class Meta>
constexpr bool kHasMore = requires(Meta meta) { meta.sender; } ||
                          requires(Meta meta) { meta.topic; } || requires(Meta meta) { meta.time; };

TEST(MessageBus, MetaDataWhereTheyAreAskedFor) {
  using Bus = BasicMessageBus<WithMeta, int>;
  static_assert(sizeof(detail::MessageSlot<BusPolicies, int>) == 16, "the state and the message");
  static_assert(kHasMore<Bus::Meta> && !kHasMore<MessageBus<int>::Meta>);
  Bus bus;
  const auto before = sync::clock::now();
  const std::string topic = "engine/left";
  EXPECT_EQ(bus.publish(1, {.admission = Admission::urgent, .sender = 7, .topic = topic}),
            Status::ok);
  EXPECT_EQ(bus.publish(2), Status::ok);
  const auto after = sync::clock::now();
  std::vector<std::uint64_t> ids;
  EXPECT_EQ(bus.drain([&](int number, const Bus::Meta& meta) {
    EXPECT_EQ(meta.sender, number == 1 ? 7U : 0U);
    EXPECT_EQ(meta.topic.name(), number == 1 ? "engine/left" : "");
    EXPECT_EQ(meta.topic.is_none(), number == 2);
    EXPECT_GE(meta.time, before);
    EXPECT_LE(meta.time, after);
    EXPECT_EQ(meta.sequence, static_cast<std::uint64_t>(number - 1));
    EXPECT_EQ(meta.end_of_batch, number == 2);
    ids.push_back(meta.id);
  }),
            2U);
  EXPECT_LT(ids.at(0), ids.at(1));
}

TEST(LanedMessageBus, SmallDrainsReachAllLanes) {
  LanedMessageBus<int> bus({.capacity = 64, .lanes = 2});
  auto one = bus.producer();
  auto two = bus.producer();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(one.publish(1), Status::ok);
  EXPECT_EQ(two.publish(2), Status::ok);
  Numbers came;
  for (int i = 0; i < 3; ++i) bus.drain([&](int number) { came.push_back(number); }, 2);
  EXPECT_EQ(std::ranges::count(came, 2), 1);
}

TEST(LanedMessageBus, ALaneIsGivenBack) {
  LanedMessageBus<int> bus({.capacity = 64, .lanes = 1});
  for (int round = 0; round < 5; ++round) {
    auto producer = bus.producer();
    ASSERT_TRUE(producer.has_lane());
    EXPECT_EQ(producer.publish(round), Status::ok);
    auto moved = std::move(producer);
    EXPECT_TRUE(moved.has_lane());
    EXPECT_FALSE(producer.has_lane());  // NOLINT(bugprone-use-after-move): it shares one
    EXPECT_EQ(moved.publish(round), Status::ok);
    if (round % 2 == 1) moved = bus.producer();
    EXPECT_EQ(moved.has_lane(), round % 2 == 0) << "the lane was taken when the other one asked";
  }
  EXPECT_EQ(drained(bus), (Numbers{0, 0, 1, 1, 2, 2, 3, 3, 4, 4}));
}

// Its lane goes back to the bus that it was of; the one that was moved from stays with its own bus.
TEST(LanedMessageBus, AProducerIsAssignedOneOfAnotherBus) {
  LanedMessageBus<int> one({.capacity = 1, .lanes = 1});
  LanedMessageBus<int> two({.capacity = 1, .lanes = 1});
  {
    auto producer = one.producer();
    auto other = two.producer();
    producer = std::move(other);
    EXPECT_TRUE(one.producer().has_lane()) << "it was given back";
    EXPECT_FALSE(two.producer().has_lane()) << "it is still taken";
    EXPECT_EQ(producer.publish(1), Status::ok);
    EXPECT_EQ(producer.publish(2), Status::full);
    EXPECT_EQ(one.refused(Admission::normal), 0U);
    EXPECT_EQ(two.refused(Admission::normal), 1U);
    EXPECT_EQ(other.publish(3), Status::ok);  // NOLINT(bugprone-use-after-move): it shares one
  }
  EXPECT_TRUE(two.producer().has_lane());
  EXPECT_EQ(drained(one), Numbers{});
  Numbers of_two = drained(two);
  std::ranges::sort(of_two);
  EXPECT_EQ(of_two, (Numbers{1, 3}));
}

}}  // namespace message_bus_test
