// SPDX-License-Identifier: MIT
// For tests: a link whose second process fails at the hundredth message.
#include "lying_link.hpp"

namespace handoff::lab::processes {
namespace {

template <class Message>
void lie(Message& message, std::uint64_t number) {
  static_cast<void>(message);
  if (number == 99) throw std::runtime_error("it dies here");
}

template <class Message>
using Link = LyingLink<Message, lie<Message>>;

}  // namespace

Operation contender(const Task& task) { return measure<Link>(task); }

}  // namespace handoff::lab::processes
