// SPDX-License-Identifier: MIT
// eventpp's callback list, and its queue to listeners. Built twice: with eventpp as it is, and with
// compat/eventpp, which a user gets by changing one include path.
#include <eventpp/callbacklist.h>
#include <eventpp/eventqueue.h>

#include "scenarios/events/measure.hpp"

namespace handoff::lab::events {

namespace {

// A program written against eventpp: its callback list, and its queue to listeners or, where there
// is one, to a visitor. Contenders give it the headers that it is built with.
class EventppProgram {
 public:
  explicit EventppProgram(const Task& task) : spins_(task.spins) {}

  template <class F>
  void listen(int key, F f) {
    queue_.appendListener(key, f);
  }
  void enqueue(int key, const Payload& payload) { queue_.enqueue(key, payload); }
  void process() { queue_.process(); }
  template <class Visitor, class Queue = eventpp::EventQueue<int, void(const Payload&)>>
    requires requires(Queue& queue, Visitor& visitor) { queue.processQueueWith(visitor); }
  void visit(Visitor&& visitor) {
    static_cast<Queue&>(queue_).processQueueWith(visitor);
  }
  void await() {
    if (!spins_) queue_.wait();
  }

 private:
  const bool spins_;
  eventpp::EventQueue<int, void(const Payload&)> queue_;
};

}  // namespace

Operation contender(const Task& task) {
  return measure_both<eventpp::CallbackList<void(const Payload&)>, EventppProgram>(task);
}

}  // namespace handoff::lab::events
