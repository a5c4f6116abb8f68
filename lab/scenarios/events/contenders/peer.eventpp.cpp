// SPDX-License-Identifier: MIT
// eventpp as it is: its callback list, and its queue to listeners.
#include <memory>

#include <eventpp/callbacklist.h>
#include <eventpp/eventqueue.h>

#include "scenarios/events/measure.hpp"

namespace handoff::lab::events {
namespace {

class Eventpp {
 public:
  explicit Eventpp(const Task& task) : spins_(task.spins) {}

  template <class F>
  void listen(int key, F f) {
    queue_.appendListener(key, f);
  }
  void enqueue(int key, const Payload& payload) { queue_.enqueue(key, payload); }
  void process() { queue_.process(); }
  void await() {
    if (!spins_) queue_.wait();
  }

 private:
  const bool spins_;
  eventpp::EventQueue<int, void(const Payload&)> queue_;
};

}  // namespace

Operation contender(const Task& task) {
  if (task.metric != "invoke") return measure<Eventpp>(task);
  const auto list = std::make_shared<eventpp::CallbackList<void(const Payload&)>>();
  for (std::size_t i = 0; i < task.listeners; ++i) {
    list->append([i, sum = task.sum](const Payload& payload) { *sum += heard(i, payload); });
  }
  return [&task, list](Burst&) {
    run_passes(task, [&](const Payload& payload) { (*list)(payload); });
  };
}

}  // namespace handoff::lab::events
