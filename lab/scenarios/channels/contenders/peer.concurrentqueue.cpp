// SPDX-License-Identifier: MIT
// moodycamel's queue for any number of threads, with tokens. It has no way to sleep.
#include "peers/moodycamel.hpp"
#include "scenarios/channels/measure.hpp"

namespace handoff::lab::channels {
namespace {

struct Moodycamel : peers::Moodycamel<Message, capacity> {
  explicit Moodycamel(const Task& task) : peers::Moodycamel<Message, capacity>(task.producers) {}
};

}  // namespace

Operation contender(const Task& task) { return measure<Moodycamel>(task); }

}  // namespace handoff::lab::channels
