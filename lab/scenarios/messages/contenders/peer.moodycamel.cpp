// SPDX-License-Identifier: MIT
// moodycamel's queue with tokens, taken in bulk; where a consumer may sleep, the one that can wait.
#include <blockingconcurrentqueue.h>

#include "peers/moodycamel.hpp"
#include "scenarios/messages/measure.hpp"

namespace handoff::lab::messages {
namespace {

template <class Message>
using Polled = peers::Moodycamel<Message, capacity>;

template <class Message>
class Waiting
    : public peers::Moodycamel<Message, capacity, moodycamel::BlockingConcurrentQueue<Message>> {
  using Queue = peers::Moodycamel<Message, capacity, moodycamel::BlockingConcurrentQueue<Message>>;

 public:
  using Queue::Queue;

  class Consumer : public Queue::Consumer {
   public:
    explicit Consumer(Waiting& queue) : Queue::Consumer(queue) {}
    template <class F>
    void await(F& f) {
      const std::size_t count = this->pop_batch_for(taken_, std::chrono::milliseconds(50));
      for (std::size_t i = 0; i < count; ++i) f(std::as_const(taken_[i]));
    }

   private:
    std::vector<Message> taken_ = std::vector<Message>(batch);
  };
  Consumer consumer() { return Consumer(*this); }
};

}  // namespace

Operation contender(const Task& task) {
  return task.sleeps ? measure<Waiting>(task) : measure<Polled>(task);
}

}  // namespace handoff::lab::messages
