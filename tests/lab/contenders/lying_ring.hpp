// SPDX-License-Identifier: MIT
// For tests: a ring for one producer and one consumer that does something to the messages in it.
#pragma once

#include <handoff/queue/spsc_ring.hpp>

#include "scenarios/channels/own_queues.hpp"

namespace handoff::lab::channels {

template <void (*lie)(Message&)>
struct LyingRing : OwnRing<SpscRing<Message>> {
  using OwnRing::OwnRing;
  bool try_pop(Message& message) {
    if (!OwnRing::try_pop(message)) return false;
    lie(message);
    return true;
  }
};

}  // namespace handoff::lab::channels
