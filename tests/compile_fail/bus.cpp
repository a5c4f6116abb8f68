// SPDX-License-Identifier: MIT
//
// What no message bus can be, and what may not be asked of one.

#include <handoff/bus/request.hpp>

#include <memory>
#include <string>

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
#if defined(WRONG_no_types)  // expect: at least one type of message
  MessageBus<> nothing;
#endif
#if defined(WRONG_twice)  // expect: has each type of message once
  MessageBus<int, Reading, int> twice;
#endif
#if defined(WRONG_reference)  // expect: a message is a value, not a reference
  MessageBus<int&> references;
#endif
#if defined(WRONG_throwing_destructor)  // expect: whose destructor does not throw
  MessageBus<ThrowingEnd> endings;
#endif
#if defined(WRONG_on_full_of_the_policies)  // expect: on_full is no policy of a message bus
  handoff::BasicMessageBus<Waits, int> waits;
#endif
#if defined(WRONG_lanes)  // expect: lanes
  MessageBus<Reading> laned({.lanes = 4});
#endif
#if defined(WRONG_copy)  // expect: deleted
  MessageBus<Reading> one;
  MessageBus<Reading> other = one;
#endif
#if defined(WRONG_topic_of_a_temporary)  // expect: deleted
  handoff::Topic topic(std::string("gone"));
#endif
  return 0;
}

int main() {
  MessageBus<Reading, std::string, Asked> bus;
  if (bus.publish(Reading{1}) != bus.publish(std::string("text"))) return 1;

#if defined(WRONG_stranger)  // expect: Stranger(.|\n)*none of the messages of the bus
  if (bus.publish(Stranger{1}) != Status::ok) return 1;
#endif
#if defined(WRONG_stranger_claimed)  // expect: Stranger(.|\n)*none of the messages of the bus
  auto claim = bus.claim<Stranger>();
#endif
#if defined(WRONG_stranger_tried)  // expect: Stranger(.|\n)*none of the messages of the bus
  if (bus.try_publish(Stranger{1}) != Status::ok) return 1;
#endif
#if defined(WRONG_stranger_subscribed)  // expect: Stranger(.|\n)*none of the bus's messages
  bus.subscribe<Stranger>([](const Stranger&) {});
#endif
#if defined(WRONG_converts)  // expect: none of the messages of the bus
  if (bus.publish("text") != Status::ok) return 1;
#endif
#if defined(WRONG_visitor)  // expect: the visitor takes each type of message
  bus.drain([](const Reading&) {});
#endif
#if defined(WRONG_subscriber)  // expect: a subscriber takes the message, which it shares
  bus.subscribe<Reading>([](Reading& reading) { reading.value = 1; });
#endif
#if defined(WRONG_topic)  // expect: have no topics: set topics = true
  bus.subscribe<Reading>(handoff::topic_is("a"), [](const Reading&) {});
#endif
#if defined(WRONG_sender)  // expect: sender
  if (bus.publish(Reading{1}, {.sender = 1}) != Status::ok) return 1;
#endif
#if defined(WRONG_reply_type)  // expect: Request<Question, Reply> is none of the types
  auto future = bus.request<std::string>(Reading{1});
#endif
#if defined(WRONG_reply)  // expect: takes what the request is declared to be answered with
  bus.drain(handoff::overloaded{[](Reading&) {}, [](std::string&) {},
                                [](Asked& asked) { asked.reply(std::string("text")); }});
#endif
#if defined(WRONG_recording)  // expect: only messages that are trivially copyable
  bus.record("file");
#endif
#if defined(WRONG_refusal_nobody_looks_at)  // expect: says whether the call did what it should
  bus.publish(Reading{1});
#endif
#if defined(WRONG_claim_nobody_holds)  // expect: a claim that is dropped is skipped
  bus.claim<Reading>(1);
#endif
  return buses();
}
