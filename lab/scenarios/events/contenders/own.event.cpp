// SPDX-License-Identifier: MIT
// This library: CallbackList, and EventQueue to its listeners or to a visitor.
#include <handoff/event/callback_list.hpp>
#include <handoff/event/event_queue.hpp>

#include "scenarios/events/measure.hpp"

namespace handoff::lab::events {
namespace {

class Own {
 public:
  explicit Own(const Task& task) : queue_({.spin_for = looks_for(task)}) {}

  template <class F>
  void listen(int key, F f) {
    queue_.append_listener(key, f);
  }
  void enqueue(int key, const Payload& payload) {
    if (queue_.enqueue(key, payload) != Status::ok) throw std::runtime_error("refused");
  }
  void process() { queue_.drain(); }
  template <class Visitor>
  void visit(Visitor&& visitor) {
    queue_.drain(visitor);
  }
  void await() { (void)queue_.wait(); }

 private:
  static std::chrono::nanoseconds looks_for(const Task& task) {
    if (task.spins) return std::chrono::hours(1);
    return is_latency(task.metric) ? patience : EventQueueOptions().spin_for;
  }

  EventQueue<int, void(const Payload&)> queue_;
};

}  // namespace

Operation contender(const Task& task) {
  return measure_both<CallbackList<void(const Payload&)>, Own>(task);
}

}  // namespace handoff::lab::events
