// SPDX-License-Identifier: MIT
// For tests: a queue that delivers its eighth message twice.
#include "lying_messages.hpp"

namespace handoff::lab::messages {
namespace {

template <class Message>
struct Lie {
  template <class F>
  void operator()(const Message& message, F& f) {
    if (message.number() == 7) f(message);
    f(message);
  }
};

}  // namespace

Operation contender(const Task& task) { return measure<Lying<Lie>::Queue>(task); }

}  // namespace handoff::lab::messages
