// SPDX-License-Identifier: MIT
// moodycamel's queue for any number of threads, with tokens. It has no way to sleep.
#include "peers/moodycamel.hpp"
#include "scenarios/channels/measure.hpp"

handoff::lab::Operation handoff::lab::channels::contender(const Task& task) {
  return measure<peers::Moodycamel<Message, capacity>>(task);
}
