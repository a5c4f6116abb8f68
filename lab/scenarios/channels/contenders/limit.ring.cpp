// SPDX-License-Identifier: MIT
// The least that a message needs: a bare ring for one producer and one consumer, which knows its
// size and cannot be closed.
#include "peers/bare_ring.hpp"
#include "scenarios/channels/measure.hpp"

namespace handoff::lab::channels {
namespace {

class Ring {
 public:
  explicit Ring(const Task& /*task*/) {}

  bool try_push(const Message& message) {
    return ring_.try_push([&](Message& place) { place = message; });
  }
  bool try_pop(Message& message) {
    return ring_.try_pop([&](const Message& place) { message = place; });
  }

 private:
  peers::BareRing<Message, capacity> ring_;
};

}  // namespace

Operation contender(const Task& task) { return measure<Ring>(task); }

}  // namespace handoff::lab::channels
