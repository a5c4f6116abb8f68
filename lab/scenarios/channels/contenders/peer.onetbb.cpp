// SPDX-License-Identifier: MIT
// oneTBB's bounded queue, whose threads sleep while they wait.
#include "peers/onetbb_queue.hpp"
#include "scenarios/channels/measure.hpp"

handoff::lab::Operation handoff::lab::channels::contender(const Task& task) {
  return measure<peers::OneTbbQueue<Message, capacity>>(task);
}
