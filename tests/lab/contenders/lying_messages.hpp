// SPDX-License-Identifier: MIT
// For tests: a ring of messages from one thread to another that lies about some of them.
#pragma once

#include <cstddef>

#include <handoff/queue/spsc_ring.hpp>

#include "scenarios/messages/own_queue.hpp"

namespace handoff::lab::messages {

// Lie(message, f) calls f in place of the ring.
template <class Message, class Lie>
class LyingMessages : public OwnQueue<SpscRing<Message>> {
 public:
  using OwnQueue<SpscRing<Message>>::OwnQueue;

  template <class F>
  std::size_t visit(F& f) {
    return this->queue_.consume([&](const Message& message) { lie_(message, f); }, batch);
  }

 private:
  Lie lie_;
};

template <template <class> class Lie>
struct Lying {
  template <class Message>
  using Queue = LyingMessages<Message, Lie<Message>>;
};

}  // namespace handoff::lab::messages
