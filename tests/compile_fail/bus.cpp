// SPDX-License-Identifier: MIT
//
// What no message bus can be, and what may not be asked of one.

#include <handoff/bus/request.hpp>

#include <memory>
#include <string>
#include <vector>

#include <handoff/bus/message_bus.hpp>

using handoff::MessageBus;
using handoff::OnFull;
using handoff::Status;

struct Reading {
  int value;
};
struct Stranger {
  int value;
};
struct ThrowingEnd {
  ThrowingEnd() = default;
  ThrowingEnd(ThrowingEnd&&) noexcept {}
  ~ThrowingEnd() noexcept(false) {}
};
struct Waits : handoff::BusPolicies {
  static constexpr OnFull on_full = OnFull::wait;
};
using Asked = handoff::Request<Reading, int>;

// What is no bus.
int buses() {
  // wrong: at least one type of message
  // MessageBus<> nothing;
  // wrong: has each type of message once
  // MessageBus<int, Reading, int> twice;
  // wrong: a message is a value, not a reference
  // MessageBus<int&> references;
  // wrong: whose destructor does not throw
  // MessageBus<ThrowingEnd> endings;
  // wrong: on_full is no policy of a message bus
  // handoff::BasicMessageBus<Waits, int> waits;
  // wrong: lanes
  // MessageBus<Reading> laned({.lanes = 4});
  // wrong: starvation_limit
  // MessageBus<Reading> limited({.starvation_limit = 4});
  // wrong: deleted
  // MessageBus<Reading> one;
  // MessageBus<Reading> other = one;
  // wrong: deleted
  // handoff::Topic topic(std::string("gone"));
  return 0;
}

int main() {
  MessageBus<Reading, std::string, Asked> bus;
  if (bus.publish(Reading{1}) != bus.publish(std::string("text"))) return 1;
  handoff::PriorityMessageBus<Reading> first;
  if (first.publish(Reading{1}, handoff::Priority::urgent) != Status::ok) return 1;

  // wrong: Stranger(.|\n)*none of the messages of the bus
  // if (bus.publish(Stranger{1}) != Status::ok) return 1;
  // wrong: Stranger(.|\n)*none of the messages of the bus
  // auto claim = bus.claim<Stranger>();
  // wrong: Stranger(.|\n)*none of the messages of the bus
  // if (bus.try_publish(Stranger{1}) != Status::ok) return 1;
  // wrong: Stranger(.|\n)*none of the bus's messages
  // bus.subscribe<Stranger>([](const Stranger&) {});
  // wrong: none of the messages of the bus
  // if (bus.publish("text") != Status::ok) return 1;
  // wrong: the visitor takes each type of message
  // bus.drain([](const Reading&) {});
  // wrong: a subscriber takes the message, which it shares
  // bus.subscribe<Reading>([](Reading& reading) { reading.value = 1; });
  // wrong: have no topics: set topics = true
  // bus.subscribe<Reading>(handoff::topic_is("a"), [](const Reading&) {});
  // wrong: sender
  // if (bus.publish(Reading{1}, {.sender = 1}) != Status::ok) return 1;
  // wrong: a PriorityMessageBus takes a Priority
  // if (bus.publish(Reading{1}, handoff::Priority::urgent) != Status::ok) return 1;
  // wrong: a PriorityMessageBus takes a Priority
  // if (bus.try_publish(Reading{1}, handoff::Priority::urgent) != Status::ok) return 1;
  // wrong: a PriorityMessageBus takes a Priority
  // if (bus.publish_batch(std::vector<Reading>(1), handoff::Priority::low) != 1) return 1;
  // wrong: hands its messages out as they came
  // if (bus.publish(Reading{1}, {.priority = handoff::Priority::high}) != Status::ok) return 1;
  // wrong: other buses take an Admission
  // if (first.publish(Reading{1}, handoff::Admission::urgent) != Status::ok) return 1;
  // wrong: each priority has places of its own
  // (void)first.publish(Reading{1}, {.admission = handoff::Admission::low});
  // wrong: pressure
  // if (first.pressure() != handoff::Pressure::none) return 1;
  // wrong: Request<Question, Reply> is none of the types
  // auto future = bus.request<std::string>(Reading{1});
  // wrong: takes what the request is declared to be answered with
  // bus.drain(handoff::overloaded{[](Reading&) {}, [](std::string&) {},
  //                               [](Asked& asked) { asked.reply(std::string("text")); }});
  // wrong: only messages that are trivially copyable
  // bus.record("file");
  // wrong: says whether the call did what it should
  // bus.publish(Reading{1});
  // wrong: a claim that is dropped is skipped
  // bus.claim<Reading>(1);
  return buses();
}
