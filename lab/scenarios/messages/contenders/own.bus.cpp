// SPDX-License-Identifier: MIT
// This library's bus with one order for all producers, drained to a visitor.
#include <handoff/bus/message_bus.hpp>

#include "scenarios/messages/own_bus.hpp"

namespace handoff::lab::messages {
namespace {

template <class Message>
class Bus : public OwnDrainedBus<MessageBus<Message>, Message> {
 public:
  explicit Bus(const Task& /*task*/)
      : OwnDrainedBus<MessageBus<Message>, Message>({.capacity = capacity}) {}
};

}  // namespace

Operation contender(const Task& task) { return measure<Bus>(task); }

}  // namespace handoff::lab::messages
