// SPDX-License-Identifier: MIT
// This library's bus of lanes, which keeps each producer's order, drained to a visitor. The lanes
// share the places that others have.
#include <handoff/bus/message_bus.hpp>

#include "scenarios/messages/own_bus.hpp"

namespace handoff::lab::messages {
namespace {

template <class Message>
class Lanes : public OwnDrainedBus<LanedMessageBus<Message>, Message> {
 public:
  explicit Lanes(const Task& task)
      : OwnDrainedBus<LanedMessageBus<Message>, Message>(
            {.capacity = capacity / task.producers, .lanes = task.producers}) {}
};

}  // namespace

Operation contender(const Task& task) { return measure<Lanes>(task); }

}  // namespace handoff::lab::messages
