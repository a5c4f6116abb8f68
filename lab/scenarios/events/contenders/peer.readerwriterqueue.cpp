// SPDX-License-Identifier: MIT
// moodycamel's queue for one producer and one consumer, which calls by index. It has no way to
// sleep.
#include <readerwriterqueue.h>

#include "scenarios/events/function_table.hpp"
#include "scenarios/events/measure.hpp"

namespace handoff::lab::events {
namespace {

class Moodycamel : public CallsByIndex {
 public:
  explicit Moodycamel(const Task& task) {
    if (!task.spins) throw Unavailable("it has no way to sleep");
  }

  void enqueue(int key, const Payload& payload) {
    if (!queue_.enqueue({key, payload})) throw std::runtime_error("refused");
  }
  void process() {
    for (; const Event* const event = queue_.peek(); queue_.pop()) {
      functions_(event->key, event->payload);
    }
  }

 private:
  struct Event {
    int key = 0;
    Payload payload;
  };

  moodycamel::ReaderWriterQueue<Event> queue_;
};

}  // namespace

Operation contender(const Task& task) { return measure<Moodycamel>(task); }

}  // namespace handoff::lab::events
