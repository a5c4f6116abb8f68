// SPDX-License-Identifier: MIT
// moodycamel's queue for any number of threads, each with the token that makes it faster. It knows
// no bound, so its producers look now and then how many items are under way. Its order is that of
// each producer alone.
#pragma once

#include <concurrentqueue.h>

#include "harness/standard.hpp"

namespace handoff::lab::peers {

// `Queue` is the one that cannot wait, or the one that can.
template <class Item, std::size_t kCapacity, class Queue = ::moodycamel::ConcurrentQueue<Item>>
class Moodycamel {
 public:
  explicit Moodycamel(const auto& task)
      : queue_(kCapacity),
        at_once_(std::max<std::size_t>(1, kCapacity / 2 / task.producers)),
        between_looks_(std::min<std::size_t>(64, at_once_)) {}

  class Producer {
   public:
    explicit Producer(Moodycamel& queue) : queue_(queue), token_(queue.queue_) {}

    bool try_push(const Item& item) {
      if (left_ == 0 && !look(queue_.between_looks_)) return false;
      --left_;
      if (!queue_.queue_.enqueue(token_, item)) throw std::bad_alloc();
      return true;
    }
    std::size_t try_push_batch(std::span<Item> items) {
      if (left_ < items.size() && !look(queue_.at_once_)) return 0;
      const std::size_t count = std::min(left_, items.size());
      left_ -= count;
      if (!queue_.queue_.enqueue_bulk(token_, items.data(), count)) throw std::bad_alloc();
      return count;
    }

   private:
    // So many may follow before the next look, or none yet.
    bool look(std::size_t then) {
      if (queue_.queue_.size_approx() >= kCapacity / 2) return false;
      left_ = then;
      return true;
    }

    Moodycamel& queue_;
    ::moodycamel::ProducerToken token_;
    std::size_t left_ = 0;
  };
  Producer producer() { return Producer(*this); }

  class Consumer {
   public:
    explicit Consumer(Moodycamel& queue) : queue_(queue.queue_), token_(queue.queue_) {}

    bool try_pop(Item& item) { return queue_.try_dequeue(token_, item); }
    std::size_t try_pop_batch(std::span<Item> items) {
      return queue_.try_dequeue_bulk(token_, items.data(), items.size());
    }
    // The queue that can wait: until there is one, or the time is over.
    std::size_t pop_batch_for(std::span<Item> items, std::chrono::microseconds time) {
      return queue_.wait_dequeue_bulk_timed(token_, items.data(), items.size(), time.count());
    }

   private:
    Queue& queue_;
    ::moodycamel::ConsumerToken token_;
  };
  Consumer consumer() { return Consumer(*this); }

 private:
  Queue queue_;
  // All producers together stay within the capacity.
  const std::size_t at_once_;
  const std::size_t between_looks_;
};

}  // namespace handoff::lab::peers
