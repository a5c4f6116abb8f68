// SPDX-License-Identifier: MIT
// For tests: a queue that changes one bit in the middle of its eighth message.
#include <utility>

#include "lying_messages.hpp"

namespace handoff::lab::messages {
namespace {

template <class Message>
struct Lie {
  template <class F>
  void operator()(const Message& message, F& f) {
    Message broken = message;
    if (message.number() == 7) reinterpret_cast<unsigned char*>(&broken)[sizeof broken / 2] ^= 1;
    f(std::as_const(broken));
  }
};

}  // namespace

Operation contender(const Task& task) { return measure<Lying<Lie>::Queue>(task); }

}  // namespace handoff::lab::messages
