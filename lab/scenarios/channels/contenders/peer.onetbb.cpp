// SPDX-License-Identifier: MIT
// oneTBB's bounded queue: any number of threads, which sleep while they wait.
#include <tbb/concurrent_queue.h>

#include "scenarios/channels/measure.hpp"

namespace handoff::lab::channels {
namespace {

class OneTbb {
 public:
  explicit OneTbb(const Task& /*task*/) { queue_.set_capacity(capacity); }

  void push(const Message& message) { queue_.push(message); }
  void pop(Message& message) { queue_.pop(message); }

 private:
  tbb::concurrent_bounded_queue<Message> queue_;
};

}  // namespace

Operation contender(const Task& task) { return measure<OneTbb>(task); }

}  // namespace handoff::lab::channels
