// SPDX-License-Identifier: MIT
//
// Subscribers: by type and topic, added and removed from anywhere.
#include "support/failing.hpp"
#include "support/test.hpp"

namespace subscribers_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;

struct Reading {
  int value = 0;
};
struct Command {
  int number = 0;
};
using Bus = MessageBus<Reading, Command>;

TEST(Subscribers, EachGetsItsType) {
  Bus bus;
  std::string came;
  const auto reading =
      bus.subscribe<Reading>([&](const Reading& r) { came += 'r' + std::to_string(r.value); });
  const auto meta = bus.subscribe<Reading>(
      [&](const Reading&, const Bus::Meta& m) { came += 's' + std::to_string(m.sequence); });
  const auto batch = bus.subscribe<Command>([&](const Command& c, std::uint64_t n, bool end) {
    came += 'c' + std::to_string(c.number) + ' ' + std::to_string(n) + (end ? '.' : ',');
  });
  EXPECT_EQ(bus.publish(Reading{7}), Status::ok);
  EXPECT_EQ(bus.publish(Command{1}), Status::ok);
  EXPECT_EQ(bus.publish(Command{2}), Status::ok);
  EXPECT_EQ(bus.drain(), 3U);
  EXPECT_EQ(came, "r7s0c1 1,c2 2.");
  EXPECT_TRUE(reading.remove());
  EXPECT_TRUE(meta.remove_and_wait());
  EXPECT_FALSE(meta.remove());
  came.clear();
  EXPECT_EQ(bus.publish(Reading{8}), Status::ok);
  EXPECT_EQ(bus.drain(), 1U) << "done, though nobody hears of it";
  EXPECT_EQ(came, "");
  EXPECT_EQ(bus.tally().done, 4U);
}

TEST(Subscribers, WhereThereAreNoneACloseCancels) {
  for (const bool visits : {false, true}) {
    Bus bus;
    for (int i = 0; i < 2; ++i) EXPECT_EQ(bus.publish(Reading{i}), Status::ok);
    if (visits) bus.drain([&](const auto&) { (void)bus.close(); });
    const Tally tally = bus.close();
    EXPECT_EQ(tally.done, visits ? 2U : 0U);
    EXPECT_EQ(tally.cancelled, visits ? 0U : 2U);
  }
}

// A subscription ends with what holds it: a scope, or an object that ends in its own subscriber.
TEST(Subscribers, EndWithTheirScopeOrTheirObject) {
  Bus bus;
  std::string came;
  struct Object {
    ListenerGroup subscriptions;
  };
  auto object = std::make_unique<Object>();
  object->subscriptions.add(bus.subscribe<Reading>([&](const Reading&) {
    came += 'o';
    object.reset();
  }));
  object->subscriptions.add(bus.subscribe<Command>([&](const Command&) { came += 'x'; }));
  {
    const ScopedListener scoped = bus.subscribe<Reading>([&](const Reading&) { came += 's'; });
    EXPECT_EQ(bus.publish(Reading{}), Status::ok);
    bus.drain();
  }
  EXPECT_EQ(bus.publish(Reading{}), Status::ok);
  EXPECT_EQ(bus.publish(Command{}), Status::ok);
  EXPECT_EQ(bus.drain(), 2U);
  EXPECT_EQ(came, "os");
}

TEST(Subscribers, TheyMayDoAnythingToTheirBus) {
  Bus bus;
  std::string came;
  ListenerHandle self;
  ListenerHandle added;
  self = bus.subscribe<Reading>([&](const Reading& r) {
    came += 'a';
    EXPECT_TRUE(self.remove_and_wait()) << "it does not wait for itself";
    added = bus.subscribe<Reading>([&](const Reading&) { came += 'b'; });
    EXPECT_EQ(bus.publish(Reading{r.value + 1}), Status::ok);
    if (r.value != 0) return;
    EXPECT_EQ(bus.publish(Command{}), Status::ok);
  });
  const auto closes = bus.subscribe<Command>([&](const Command&) { bus.shut(); });
  EXPECT_EQ(bus.publish(Reading{0}), Status::ok);
  while (bus.wait() == Status::ok) bus.drain();
  EXPECT_EQ(came, "ab");
  EXPECT_EQ(bus.tally().done, 3U);
}

struct WithTopics : BusPolicies {
  static constexpr bool topics = true;
};
TEST(Subscribers, TopicsFilterByNameAndPrefixAndNothingElse) {
  using Topics = BasicMessageBus<WithTopics, int>;
  Topics bus;
  std::string came;
  const auto hears = [&](char who) { return [&came, who](int) { came += who; }; };
  std::string name = "engine/left";
  const std::vector<ListenerHandle> handles{
      bus.subscribe<int>(hears('a')),
      bus.subscribe<int>(topic_is(name), hears('i')),
      bus.subscribe<int>(topic_begins("engine/"), hears('e')),
      bus.subscribe<int>(topic_begins(""), hears('n')),
      bus.subscribe<int>(topic_is(""), hears('x')),
      bus.subscribe<int>(topic_is("engine/left\0"), hears('I')),
  };
  name = "another one";  // a filter has a copy
  const auto heard = [&](Topic topic) {
    came.clear();
    EXPECT_EQ(bus.publish(1, {.topic = topic}), Status::ok);
    EXPECT_EQ(bus.drain(), 1U);
    return came;
  };
  EXPECT_EQ(heard({}), "a");
  EXPECT_EQ(heard(""), "a") << "the empty name is none";
  EXPECT_EQ(heard("engine/left"), "aienI");
  EXPECT_EQ(heard("engine/leftmost"), "aen");
  EXPECT_EQ(heard("engine"), "an");
  EXPECT_EQ(heard("Engine/left"), "an");
  EXPECT_EQ(heard(std::string_view("engine/left\0", 12)), "aen") << "no character is special";
  EXPECT_TRUE(Topic(name) == Topic("another one"));
  EXPECT_FALSE(Topic(name) == Topic("another"));
}

TEST(Subscribers, WhatIsNoFunctionIsRefused) {
  Bus bus;
  EXPECT_THROW(bus.subscribe<Reading>(std::function<void(const Reading&)>()), std::logic_error);
  int calls = 0;
  const auto once = bus.subscribe<Reading>([&](const Reading&) { ++calls; }, {.calls = 1});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(bus.publish(Reading{}), Status::ok);
  EXPECT_EQ(bus.drain(), 3U);
  EXPECT_EQ(calls, 1);
}

// Whatever allocation fails, nothing is left behind and what was there stays.
TEST(Subscribers, WithoutMemory) {
  const int places = test::until_enough_memory([] {
    Bus bus({.capacity = 2});
    int calls = 0;
    const auto one = bus.subscribe<Reading>([&](const Reading&) { ++calls; });
    EXPECT_EQ(bus.publish(Reading{}), Status::ok);
    EXPECT_EQ(bus.drain(), 1U);
    EXPECT_EQ(calls, 1);
  });
  EXPECT_GE(places, 4) << "the places, a list for each type, and the subscriber";
}

}}  // namespace subscribers_test
