// SPDX-License-Identifier: MIT
// For tests: a link that hands each hundredth message over as the next one.
#include "lying_link.hpp"

namespace handoff::lab::processes {
namespace {

template <class Message>
void lie(Message& message, std::uint64_t number) {
  if (number % 100 == 99) message.write(number + 1);
}

template <class Message>
using Link = LyingLink<Message, lie<Message>>;

}  // namespace

Operation contender(const Task& task) { return measure<Link>(task); }

}  // namespace handoff::lab::processes
