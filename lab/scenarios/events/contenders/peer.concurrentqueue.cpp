// SPDX-License-Identifier: MIT
// moodycamel's queue for many producers, drained in bulk by a consumer that calls by index. It has
// no way to sleep; its order is that of each producer alone.
#include <concurrentqueue.h>

#include "scenarios/events/function_table.hpp"
#include "scenarios/events/measure.hpp"

namespace handoff::lab::events {
namespace {

struct Event {
  int key = 0;
  Payload payload;
};

class Moodycamel : public CallsByIndex {
 public:
  explicit Moodycamel(const Task& task) {
    if (is_latency(task.metric) && !task.spins) throw Unavailable("it has no way to sleep");
  }

  void enqueue(int key, const Payload& payload) {
    if (!queue_.enqueue({key, payload})) throw std::runtime_error("refused");
  }
  template <class Visitor>
  void visit(Visitor&& visitor) {
    while (const std::size_t count = queue_.try_dequeue_bulk(taken_.begin(), taken_.size())) {
      for (std::size_t i = 0; i < count; ++i) visitor(taken_[i].key, taken_[i].payload);
    }
  }
  void process() { visit(functions_); }

 private:
  moodycamel::ConcurrentQueue<Event> queue_;
  std::array<Event, 64> taken_;
};

}  // namespace

Operation contender(const Task& task) { return measure<Moodycamel>(task); }

}  // namespace handoff::lab::events
