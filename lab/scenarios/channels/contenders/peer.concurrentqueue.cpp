// SPDX-License-Identifier: MIT
// moodycamel's queue for any number of threads, each with the token that makes it faster. It knows
// no bound, so its producers look now and then how many messages are under way. It has no way to
// sleep; its order is that of each producer alone.
#include <algorithm>
#include <new>

#include <concurrentqueue.h>

#include "scenarios/channels/measure.hpp"

namespace handoff::lab::channels {
namespace {

class Moodycamel {
 public:
  explicit Moodycamel(const Task& task)
      : queue_(capacity),
        between_looks_(std::min<std::size_t>(64, capacity / 2 / task.producers)) {}

  class Producer {
   public:
    explicit Producer(Moodycamel& queue) : queue_(queue), token_(queue.queue_) {}
    bool try_push(const Message& message) {
      if (left_ == 0) {
        if (queue_.queue_.size_approx() >= capacity / 2) return false;
        left_ = queue_.between_looks_;
      }
      --left_;
      if (!queue_.queue_.enqueue(token_, message)) throw std::bad_alloc();
      return true;
    }

   private:
    Moodycamel& queue_;
    moodycamel::ProducerToken token_;
    std::size_t left_ = 0;  // until it looks again
  };
  Producer producer() { return Producer(*this); }

  class Consumer {
   public:
    explicit Consumer(Moodycamel& queue) : queue_(queue.queue_), token_(queue.queue_) {}
    bool try_pop(Message& message) { return queue_.try_dequeue(token_, message); }

   private:
    moodycamel::ConcurrentQueue<Message>& queue_;
    moodycamel::ConsumerToken token_;
  };
  Consumer consumer() { return Consumer(*this); }

 private:
  moodycamel::ConcurrentQueue<Message> queue_;
  const std::size_t between_looks_;  // all producers together stay within the capacity
};

}  // namespace

Operation contender(const Task& task) { return measure<Moodycamel>(task); }

}  // namespace handoff::lab::channels
