// SPDX-License-Identifier: MIT
// For tests: a queue that delivers its eighth message after the ninth.
#include "lying_messages.hpp"

namespace handoff::lab::messages {
namespace {

template <class Message>
struct Lie {
  template <class F>
  void operator()(const Message& message, F& f) {
    if (message.number() == 7) {
      late = message;
      return;
    }
    f(message);
    if (message.number() == 8) f(late);
  }

  Message late{};
};

}  // namespace

Operation contender(const Task& task) { return measure<Lying<Lie>::Queue>(task); }

}  // namespace handoff::lab::messages
