// SPDX-License-Identifier: MIT
// This library's bus with one order for all producers, drained to a subscriber.
#include <cstddef>

#include <handoff/bus/message_bus.hpp>

#include "scenarios/messages/own_bus.hpp"

namespace handoff::lab::messages {
namespace {

template <class Message>
class Subscribers : public OwnBus<MessageBus<Message>, Message> {
 public:
  explicit Subscribers(const Task& /*task*/)
      : OwnBus<MessageBus<Message>, Message>({.capacity = capacity}) {}

  template <class F>
  void listen(F f) {
    this->bus_.template subscribe<Message>(f);
  }
  std::size_t process() { return this->bus_.drain(batch); }
};

}  // namespace

Operation contender(const Task& task) { return measure<Subscribers>(task); }

}  // namespace handoff::lab::messages
