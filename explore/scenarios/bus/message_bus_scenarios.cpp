// SPDX-License-Identifier: MIT
//
// Message buses: the scenarios of docs/design/message_bus.md. A wake-up that is lost is a deadlock
// here.
#include <handoff/bus/detail/bus_core.hpp>
#include <handoff/bus/detail/message_slot.hpp>
#include <handoff/bus/message_bus.hpp>
#include <handoff/bus/request.hpp>
#include <handoff/core/internal/rare_sleepers.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/pause.hpp>

#include "books/bus_books.hpp"
#include "explore/scenario.hpp"

namespace message_bus_scenarios { namespace {

using namespace handoff;
using namespace test;

template <class Policies>
using BusOf = test::Audited<BasicMessageBus<Policies, int>>;
using Total = BusOf<BusPolicies>;
using Laned = BusOf<LanedBusPolicies>;
using ByPriority = BusOf<PriorityBusPolicies>;

template <class Bus>
typename Bus::Options options(std::size_t capacity, const Reserve& reserve = {}) {
  typename Bus::Options made;
  made.capacity = capacity;
  if constexpr (requires { made.reserve; }) made.reserve = reserve;
  made.spin_for = std::chrono::nanoseconds(0);
  if constexpr (requires { made.lanes; }) made.lanes = 2;
  return made;
}
// Options of a bus whose producers wait.
template <class Bus>
typename Bus::Options waiting(std::size_t capacity, const Reserve& reserve = {}) {
  typename Bus::Options made = options<Bus>(capacity, reserve);
  made.on_full = OnFull::wait;
  return made;
}

template <class Producer>
void put(Producer& producer, int number) {
  while (producer.publish(number) == Status::full) sync::pause();
}

// Checks that each producer's come in order: numbers are 10 * producer + 1, 2, ...
class Order {
 public:
  void operator()(int number) {
    int& last = last_.at(static_cast<std::size_t>(number) / 10);
    explore::check(number % 10 == ++last, "each producer's come in order, each once");
    ++count;
  }
  int count = 0;

 private:
  std::array<int, 5> last_{};
};

template <class Bus>
void drain_until(Bus& bus, Order& order, int count) {
  while (order.count < count) {
    explore::check(bus.wait() == Status::ok, "it is open");
    bus.drain(order);
  }
}

// Each with a handle of its own, which in a bus of lanes is a lane, and one through the bus.
template <class Bus>
void producers(std::size_t capacity) {
  Bus bus(options<Bus>(capacity));
  explore::Thread one([&] {
    auto producer = bus.producer();
    put(producer, 11);
    put(producer, 12);
  });
  explore::Thread two([&] { put(bus, 21); });
  Order order;
  drain_until(bus, order, 3);
  one.join();
  two.join();
  explore::check(bus.tally().done == 3 && bus.tally().balanced(), "the books are right");
}
const LargeScenario producers_total("message_bus/producers", [] { producers<Total>(1); });
const Scenario producers_lanes("message_bus/lanes", [] { producers<Laned>(1); });
const Scenario producers_lanes_two("message_bus/lanes_of_two", [] { producers<Laned>(2); });

// A message that races with the next one in its place, unless it is destroyed before.
struct Watched {
  explicit Watched(int number) noexcept { value.write() = number; }
  ~Watched() { value.write() = 0; }
  sync::cell<int> value;
};

const Scenario place_reused("message_bus/place_reused", [] {
  using Bus = test::Audited<BasicMessageBus<BusPolicies, Watched>>;
  Bus bus(options<Bus>(1));
  const auto claimed = [&](int number) {
    for (;; sync::pause()) {
      if (auto claim = bus.claim<Watched>(number)) return claim;
    }
  };
  explore::Thread dropping([&] { claimed(1).drop(); });
  explore::Thread publishing([&] {
    for (const int number : {2, 3}) claimed(number).commit();
  });
  for (int next = 2; next < 4;) {
    explore::check(bus.wait() == Status::ok, "it is open");
    bus.drain([&](const Watched& watched) {
      explore::check(watched.value.read() == next++, "they come in order");
    });
  }
});

const LargeScenario lane_pair("message_bus/two_lanes", [] {
  Laned bus(options<Laned>(1));
  auto one = bus.producer();
  auto two = bus.producer();
  explore::Thread other([&] {
    put(one, 11);
    put(one, 12);
  });
  explore::Thread another([&] { put(two, 21); });
  Order order;
  drain_until(bus, order, 3);
});

// Three producers, each in its ring.
const LargeScenario three("message_bus/two_lanes_and_the_bus", [] {
  Laned bus(options<Laned>(1));
  auto one = bus.producer();
  auto two = bus.producer();
  explore::Thread first([&] { put(one, 11); });
  explore::Thread second([&] { put(two, 21); });
  explore::Thread third([&] { put(bus, 31); });
  Order order;
  drain_until(bus, order, 3);
});

// A lane goes from a thread that ended to one that begins.
const Scenario given_back("message_bus/lane_given_back", [] {
  Laned bus(options<Laned>(3));  // all may come by one lane
  const auto publish = [&](int number) {
    auto producer = bus.producer();
    explore::outcome(producer.has_lane());
    put(producer, number);
  };
  explore::Thread one([&] { publish(11); });
  publish(21);
  one.join();
  publish(31);
  Order order;
  explore::check(bus.drain(order) == 3, "all of them");
});

// A close at any moment: what was accepted is handed out, and then the bus says so.
template <class Bus>
void close_under_load() {
  Bus bus(options<Bus>(2));
  std::array<std::uint64_t, 2> accepted{};
  explore::Thread producer([&] {
    auto handle = bus.producer();
    accepted[0] += handle.publish(11) == Status::ok ? 1U : 0U;
    accepted[0] += handle.publish(12) == Status::ok ? 1U : 0U;
  });
  explore::Thread closer([&] {
    accepted[1] += bus.publish(21) == Status::ok ? 1U : 0U;
    bus.shut();
  });
  std::uint64_t taken = 0;
  while (bus.wait() == Status::ok) taken += bus.drain([](int) {});
  const Tally tally = bus.tally();
  producer.join();
  closer.join();
  explore::check(taken == accepted[0] + accepted[1], "what was accepted was handed out");
  explore::check(tally.done == taken && tally.accepted == taken, "the Tally was exact");
  explore::outcome(taken);
}
const Scenario close_total("message_bus/close", [] { close_under_load<Total>(); });
const Scenario close_lanes("message_bus/close_lanes", [] { close_under_load<Laned>(); });

// A thread that learns of the close, by any call, sees what the closer did before.
template <class Bus>
void closed_is_seen() {
  Bus bus(options<Bus>(1));
  sync::cell<int> before_close(0);
  explore::Thread closer([&] {
    before_close.write() = 1;
    bus.shut();
  });
  explore::Thread producer([&] {
    auto handle = bus.producer();
    const bool refused = handle.publish(11) == Status::closed;
    if (refused) explore::check(before_close.read() == 1, "what the closer did");
    explore::outcome(refused);
  });
  if (bus.closed()) explore::check(before_close.read() == 1, "what the closer did");
  while (bus.wait() == Status::ok) bus.drain([](int) {});
  explore::check(before_close.read() == 1, "what the closer did");
}
const Scenario seen_total("message_bus/closed_is_seen", [] { closed_is_seen<Total>(); });
const Scenario seen_lanes("message_bus/closed_is_seen_in_lanes", [] { closed_is_seen<Laned>(); });
const Scenario seen_by_priority("message_bus/closed_is_seen_by_priority",
                                [] { closed_is_seen<ByPriority>(); });

// The depth is never what it cannot be, whenever it is looked at.
const Scenario depth("message_bus/depth", [] {
  Total bus(options<Total>(2));
  explore::Thread producer([&] { put(bus, 11); });
  explore::Thread watcher([&] {
    const std::size_t depth = bus.size();
    explore::check(depth <= 1, "there is one message");
    explore::outcome(depth);
  });
  Order order;
  explore::check(bus.wait() == Status::ok, "it is open");
  bus.drain(order);
  explore::check(order.count == 1, "the one");
});

template <class Bus>
void abandoned() {
  Bus bus(options<Bus>(2));
  std::uint64_t accepted = 0;
  explore::Thread producer([&] {
    auto handle = bus.producer();
    accepted += handle.publish(1) == Status::ok ? 1U : 0U;
    accepted += handle.publish(2) == Status::ok ? 1U : 0U;
  });
  const Tally tally = bus.close(Closing::abandon);
  producer.join();
  explore::check(tally.cancelled == accepted && tally.pending == 0, "each has its outcome");
  explore::outcome(accepted);
}
const Scenario abandoned_total("message_bus/abandon", [] { abandoned<Total>(); });
const Scenario abandoned_lanes("message_bus/abandon_lanes", [] { abandoned<Laned>(); });

// A claim that is dropped while the consumer waits for it, or for what is behind it.
template <class Bus>
void dropped_claim() {
  Bus bus(options<Bus>(2));
  explore::Thread producer([&] {
    auto claim = bus.template claim<int>(9);
    explore::check(bus.publish(11) == Status::ok, "there is room");
    claim.drop();
  });
  Order order;
  explore::check(bus.wait() == Status::ok, "a message comes");
  explore::check(bus.drain(order) == 1, "the one behind it");
  producer.join();
  explore::check(bus.tally().accepted == 1, "what was dropped was none");
}
const Scenario dropped_total("message_bus/claim_dropped", [] { dropped_claim<Total>(); });
const Scenario dropped_lanes("message_bus/claim_dropped_in_lanes", [] { dropped_claim<Laned>(); });

// ... or for the end, which it holds back.
const Scenario dropped_last("message_bus/claim_dropped_last", [] {
  Total bus(options<Total>(2));
  explore::Thread producer([&] {
    const auto claim = bus.claim<int>(9);
    bus.shut();
  });
  explore::check(bus.wait() == Status::closed, "nothing comes any more");
});

// ... or for its place, which the consumer makes free.
template <class Policies>
void dropped_makes_room() {
  using Bus = BusOf<Policies>;
  Bus bus(waiting<Bus>(1));
  explore::Thread thread([&] {
    auto producer = bus.producer();
    producer.template claim<int>(9).drop();
    explore::check(producer.publish(11) == Status::ok, "never closed");
  });
  Order order;
  explore::check(bus.wait() == Status::ok, "a message comes");
  explore::check(bus.drain(order) == 1, "the one behind it");
}
const Scenario makes_room("message_bus/claim_dropped_makes_room",
                          [] { dropped_makes_room<BusPolicies>(); });
const Scenario makes_room_in_lanes("message_bus/claim_dropped_makes_room_in_lanes",
                                   [] { dropped_makes_room<LanedBusPolicies>(); });

// Producers that wait for room, of classes that have it at different depths.
const Scenario room("message_bus/waits_for_room", [] {
  using Bus = BusOf<BusPolicies>;
  Bus bus(waiting<Bus>(1));
  explore::Thread producer([&] {
    explore::check(bus.publish(11) == Status::ok, "never closed");
    explore::check(bus.publish(12) == Status::ok, "never closed");
  });
  Order order;
  drain_until(bus, order, 2);
});
const Scenario lane_room("message_bus/waits_for_room_in_a_lane", [] {
  using Bus = BusOf<LanedBusPolicies>;
  Bus bus(waiting<Bus>(1));
  explore::Thread thread([&] {
    auto producer = bus.producer();
    explore::check(producer.publish(11) == Status::ok, "never closed");
    explore::check(producer.publish(12) == Status::ok, "never closed");
  });
  Order order;
  drain_until(bus, order, 2);
});
const LargeScenario classes("message_bus/waiting_classes", [] {
  using Bus = BusOf<BusPolicies>;
  Bus bus(waiting<Bus>(2, {.urgent = 50}));
  explore::check(bus.publish(11, Admission::urgent) == Status::ok, "there is room");
  explore::check(bus.publish(12, Admission::urgent) == Status::ok, "there is room");
  explore::Thread low(
      [&] { explore::check(bus.publish(21, Admission::low) == Status::ok, "never closed"); });
  explore::Thread high(
      [&] { explore::check(bus.publish(31, Admission::urgent) == Status::ok, "never closed"); });
  Order order;
  explore::check(bus.drain(order, 1) == 1, "the first");
  high.join();  // it has room already, whichever waited first
  drain_until(bus, order, 4);
  low.join();
});

template <class Policies>
void close_ends_waits() {
  using Bus = BusOf<Policies>;
  Bus bus(waiting<Bus>(1));
  const auto first = bus.producer();
  auto producer = bus.producer();  // has the last of the lanes, where there are any
  explore::check(producer.publish(1) == Status::ok, "there is room");
  explore::Thread waits(
      [&] { explore::check(producer.publish(2) == Status::closed, "nobody drains"); });
  bus.shut();
  waits.join();
  (void)bus.drain([](int) {});
}
const Scenario closed_waiters("message_bus/close_ends_waits",
                              [] { close_ends_waits<BusPolicies>(); });
const Scenario closed_waiters_in_lanes("message_bus/close_ends_waits_in_lanes",
                                       [] { close_ends_waits<LanedBusPolicies>(); });

// A handler that publishes to its own full bus does not wait for itself.
const Scenario from_inside("message_bus/full_inside_a_handler", [] {
  using Bus = BusOf<BusPolicies>;
  Bus bus(waiting<Bus>(1));
  explore::Thread producer([&] { explore::check(bus.publish(1) == Status::ok, "there is room"); });
  explore::check(bus.wait() == Status::ok, "it is open");
  bus.drain([&](int) { explore::check(bus.publish(2) == Status::full, "it would wait for ever"); });
});

// A request has its answer, or its bus is closed before: it never hangs.
const Scenario request("message_bus/request", [] {
  using Asked = Request<int, int>;
  MessageBus<Asked> bus({.capacity = 2, .spin_for = std::chrono::nanoseconds(0)});
  explore::Thread asks([&] {
    auto future = bus.request<int>(3);
    future.wait();
    try {
      explore::check(future.get() == 9, "the answer");
      explore::outcome(1U);
    } catch (const NotRun& why) {
      explore::check(why.status() == Status::stopped || why.status() == Status::closed, "closed");
      explore::outcome(2U);
    }
  });
  bus.drain([](Asked& asked) { asked.reply(asked.question * asked.question); });
  (void)bus.close(Closing::abandon);
});

// A subscriber that another thread removes has ended when that call returns.
const Scenario removed("message_bus/subscriber_removed", [] {
  Total bus(options<Total>(2));
  sync::cell<int> calls(0);
  const ListenerHandle handle = bus.subscribe<int>([&](int) { calls.write() = calls.read() + 1; });
  explore::check(bus.publish(1) == Status::ok, "there is room");
  explore::check(bus.publish(2) == Status::ok, "there is room");
  explore::Thread consumer([&] { explore::check(bus.drain() == 2, "both are done"); });
  handle.remove_and_wait();
  explore::outcome(static_cast<std::uint64_t>(calls.read()));
});

// ---- By priority --------------------------------------------------------------------------------

// Two producers, each in the ring of its priority, and a consumer that sleeps.
const LargeScenario producers_by_priority("message_bus/priorities", [] {
  ByPriority bus(options<ByPriority>(1));
  explore::Thread one(
      [&] { explore::check(bus.publish(11, Priority::urgent) == Status::ok, "there is room"); });
  explore::Thread two(
      [&] { explore::check(bus.publish(21, Priority::low) == Status::ok, "there is room"); });
  Order order;
  drain_until(bus, order, 2);
  one.join();
  two.join();
  explore::check(bus.tally().done == 2 && bus.tally().balanced(), "the books are right");
});

// What was published before a handler ended is the next one.
const Scenario urgent_next("message_bus/urgent_next", [] {
  ByPriority bus(options<ByPriority>(2));
  explore::check(bus.publish(1) == Status::ok, "there is room");
  explore::check(bus.publish(2) == Status::ok, "there is room");
  sync::atomic<int> published(0);
  explore::Thread other([&] {
    explore::check(bus.publish(9, Priority::urgent) == Status::ok, "there is room");
    published.store(1, sync::order::release);  // order: release pairs with the acquire below
  });
  bool is_due = false;
  bool came = false;
  const auto handler = [&](int number) {
    explore::check(!is_due || number == 9, "the urgent one is next");
    came = came || number == 9;
    // order: acquire pairs with the release above
    is_due = !came && published.load(sync::order::acquire) == 1;
  };
  const std::size_t count = bus.drain(handler);
  other.join();
  explore::check(count + bus.drain(handler) == 3, "all of them");
  explore::outcome(count);
});

// Who was refused as closed is so from then on, in each priority; and the Tally is exact.
const Scenario close_by_priority("message_bus/close_by_priority", [] {
  ByPriority bus(options<ByPriority>(1));
  std::uint64_t accepted = 0;
  explore::Thread producer([&] {
    bool closed = false;
    for (const Priority priority : {Priority::urgent, Priority::low}) {
      const Status status = bus.publish(1, priority);
      explore::check(!closed || status == Status::closed, "closed is closed");
      closed = status == Status::closed;
      accepted += closed ? 0U : 1U;
    }
  });
  explore::Thread closer([&] { bus.shut(); });
  std::uint64_t taken = 0;
  while (bus.wait() == Status::ok) taken += bus.drain([](int) {});
  const Tally tally = bus.tally();
  producer.join();
  closer.join();
  explore::check(taken == accepted, "what was accepted was handed out");
  explore::check(tally.done == taken && tally.accepted == taken, "the Tally was exact");
  explore::outcome(taken);
});

// A claim of one priority that is dropped, while the consumer waits for another one's message.
const Scenario dropped_by_priority("message_bus/claim_dropped_by_priority", [] {
  ByPriority bus(options<ByPriority>(1));
  explore::Thread producer([&] {
    auto claim = bus.claim_with<int>({.priority = Priority::urgent}, 9);
    explore::check(bus.publish(11) == Status::ok, "there is room");
    claim.drop();
    explore::check(bus.publish(12, Priority::low) == Status::ok, "there is room");
  });
  Order order;
  drain_until(bus, order, 2);
  producer.join();
  explore::check(bus.tally().accepted == 2, "what was dropped was none");
});

// A producer that waits for a place of its priority, beside another priority's.
const Scenario room_by_priority("message_bus/waits_for_room_by_priority", [] {
  ByPriority bus(waiting<ByPriority>(1));
  explore::check(bus.publish(21, Priority::high) == Status::ok, "there is room");
  explore::Thread producer([&] {
    explore::check(bus.publish(11, Priority::low) == Status::ok, "never closed");
    explore::check(bus.publish(12, Priority::low) == Status::ok, "never closed");
  });
  Order order;
  drain_until(bus, order, 3);
});

const Scenario abandoned_by_priority("message_bus/abandon_by_priority",
                                     [] { abandoned<ByPriority>(); });
const Scenario closed_waiters_by_priority("message_bus/close_ends_waits_by_priority",
                                          [] { close_ends_waits<PriorityBusPolicies>(); });

}}  // namespace message_bus_scenarios
