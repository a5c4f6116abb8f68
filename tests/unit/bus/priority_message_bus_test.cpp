// SPDX-License-Identifier: MIT
//
// A message bus that hands out the most urgent message first, beyond its model and the suites of
// its tier.
#include "books/bus_books.hpp"
#include "support/test.hpp"

namespace priority_message_bus_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;

using Numbers = std::vector<int>;
using Bus = test::Audited<PriorityMessageBus<int>>;
constexpr std::array kAll{Priority::urgent, Priority::high, Priority::normal, Priority::low};

template <class Of>
Numbers drained(Of& bus, std::size_t most = ~std::size_t{0}) {
  Numbers numbers;
  const std::size_t count = bus.drain([&](int number) { numbers.push_back(number); }, most);
  EXPECT_EQ(count, numbers.size());
  return numbers;
}

TEST(PriorityMessageBus, TheMostUrgentComesFirstAndEachPriorityInItsOrder) {
  Bus bus({.capacity = 16});
  for (int i = 0; i < 3; ++i) {
    for (const Priority priority : {Priority::low, Priority::high, Priority::urgent}) {
      EXPECT_EQ(bus.publish(10 * static_cast<int>(priority) + i, priority), Status::ok);
    }
    EXPECT_EQ(bus.publish(20 + i), Status::ok) << "normal";
  }
  EXPECT_EQ(bus.size(), 12U);
  EXPECT_EQ(drained(bus, 1), (Numbers{0}));
  EXPECT_EQ(drained(bus), (Numbers{1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32}));
}

struct Senders : PriorityBusPolicies {
  static constexpr bool senders = true;
};

TEST(PriorityMessageBus, EachCallTakesAPriority) {
  using Ask = Request<int, int>;
  BasicMessageBus<Senders, int, Ask> bus({.capacity = 8});
  auto producer = bus.producer();
  EXPECT_FALSE(producer.has_lane());
  EXPECT_EQ(bus.publish(1, {.sender = 1}), Status::ok);
  const std::array batch{2, 3};
  EXPECT_EQ(producer.publish_batch(batch, Priority::low), 2U);
  EXPECT_EQ(producer.try_publish(4, Priority::high), Status::ok);
  auto claim = producer.claim_with<int>({.priority = Priority::urgent, .sender = 5}, 5);
  ASSERT_TRUE(claim);
  const std::uint64_t id = claim.id();
  claim.commit();
  auto reply = bus.request<int>(6, {.priority = Priority::urgent}, 1h);
  Numbers numbers;
  std::set<std::uint64_t> ids;
  bus.drain(overloaded{[&](int number, const auto& meta) {
                         EXPECT_EQ(meta.sender,
                                   number == 1 || number == 5 ? static_cast<unsigned>(number) : 0U);
                         EXPECT_EQ(meta.sequence, ids.size());
                         EXPECT_EQ(meta.id == id, number == 5);
                         EXPECT_EQ(meta.end_of_batch, number != 2 && number != 5) << number;
                         ids.insert(meta.id);
                         numbers.push_back(number);
                       },
                       [&](Ask& ask, const auto& meta) {
                         ids.insert(meta.id);
                         numbers.push_back(ask.question);
                         ask.reply(7);
                       }});
  EXPECT_EQ(numbers, (Numbers{5, 6, 4, 1, 2, 3}));
  EXPECT_EQ(ids.size(), 6U) << "each has an id of its own";
  EXPECT_EQ(reply.get(), 7);
}

TEST(PriorityMessageBus, EachPriorityHasPlacesOfItsOwn) {
  Bus bus({.capacity = 2});
  EXPECT_EQ(bus.capacity(), 2U);
  for (const Priority priority : kAll) {
    for (int i = 0; i < 2; ++i) EXPECT_EQ(bus.publish(i, priority), Status::ok);
    EXPECT_EQ(bus.publish(2, priority), Status::full);
    EXPECT_EQ(bus.refused(priority), 1U);
  }
  EXPECT_EQ(bus.refused(), 4U);
  EXPECT_EQ(bus.size(), 8U);
  EXPECT_EQ(drained(bus, 3), (Numbers{0, 1, 0}));
  EXPECT_EQ(bus.publish(2, Priority::high), Status::ok) << "one came free";
  EXPECT_EQ(bus.publish(2, Priority::low), Status::full);
  EXPECT_EQ(drained(bus), (Numbers{1, 2, 0, 1, 0, 1}));
}

TEST(PriorityMessageBus, AnOpenClaimHoldsBackItsPriorityAlone) {
  Bus bus({.capacity = 4});
  auto open = bus.claim_with<int>({.priority = Priority::urgent}, 1);
  ASSERT_TRUE(open);
  EXPECT_EQ(bus.publish(2, Priority::urgent), Status::ok);
  EXPECT_EQ(bus.publish(3), Status::ok);
  EXPECT_EQ(drained(bus), (Numbers{3}));
  EXPECT_EQ(bus.wait(0ns), Status::timed_out);
  open.drop();
  EXPECT_EQ(bus.wait(), Status::ok);
  EXPECT_EQ(drained(bus), (Numbers{2}));
  EXPECT_EQ(bus.tally().accepted, 2U);
}

TEST(PriorityMessageBus, ADrainEndsThoughHandlersPublish) {
  Bus bus({.capacity = 2});
  EXPECT_EQ(bus.publish(1), Status::ok);
  const std::size_t count =
      bus.drain([&](int) { EXPECT_EQ(bus.publish(1, Priority::urgent), Status::ok); });
  EXPECT_EQ(count, 8U) << "as many as there are places";
  (void)bus.close(Closing::abandon);
}

TEST(PriorityMessageBus, ItsPlacesMayLieInMemoryThatIsLent) {
  const PriorityMessageBusOptions options{.capacity = 4};
  std::vector<std::byte> memory(PriorityMessageBus<int>::bytes_needed(options));
  PriorityMessageBus<int> bus(options, memory);
  for (const Priority priority : kAll) {
    for (int i = 0; i < 4; ++i) EXPECT_EQ(bus.publish(i, priority), Status::ok);
  }
  EXPECT_EQ(drained(bus).size(), 16U);
  EXPECT_THROW(PriorityMessageBus<int>({.capacity = ~std::size_t{0}}), std::length_error);
}

}}  // namespace priority_message_bus_test
