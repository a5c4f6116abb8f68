// SPDX-License-Identifier: MIT
// moodycamel's queue for one producer and one consumer, kept to the memory that it begins with. It
// has no way to sleep.
#include <readerwriterqueue.h>

#include "scenarios/channels/measure.hpp"

namespace handoff::lab::channels {
namespace {

class Moodycamel {
 public:
  explicit Moodycamel(const Task& /*task*/) : queue_(capacity) {}

  bool try_push(const Message& message) { return queue_.try_enqueue(message); }
  bool try_pop(Message& message) { return queue_.try_dequeue(message); }

 private:
  moodycamel::ReaderWriterQueue<Message> queue_;
};

}  // namespace

Operation contender(const Task& task) { return measure<Moodycamel>(task); }

}  // namespace handoff::lab::channels
