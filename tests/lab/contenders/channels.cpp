// SPDX-License-Identifier: MIT
// A ring for one producer and one consumer that does something to the messages in it.
#include <handoff/queue/spsc_ring.hpp>

#include "scenarios/channels/own_queues.hpp"

namespace handoff::lab::channels {
namespace {

template <void (*lie)(Message&)>
struct Liar : OwnRing<SpscRing<Message>> {
  using OwnRing::OwnRing;
  bool try_pop(Message& message) {
    if (!OwnRing::try_pop(message)) return false;
    lie(message);
    return true;
  }
};

// The seventh message comes twice and the eighth not at all.
void swap(Message& received) {
  if (received.words[0] == 8) received = message(7);
}

// The seventh message comes with the end of the eighth.
void tear(Message& received) {
  if (received.words[0] == 7) received.words[7] = message(8).words[7];
}

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>(
      {{"peer.swaps", measure<Liar<swap>>}, {"peer.tears", measure<Liar<tear>>}})(task);
}

}  // namespace handoff::lab::channels
