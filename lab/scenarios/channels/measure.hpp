// SPDX-License-Identifier: MIT
// Measures a queue in `channels`. A contender's Queue is made from a task, has room for `capacity`
// messages, and has
//
//   void push(const Message&)      waits for room; or, of a queue that cannot wait and is polled:
//   bool try_push(const Message&)  false while it is full
//   void pop(Message&)             waits for a message; or
//   bool try_pop(Message&)         false while it is empty
//   auto producer(), consumer()    what has these, for one thread; without them, the queue itself
//
// How many threads may do that at once stands in CMakeLists.txt (WHEN).
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "peers/polling.hpp"
#include "scenarios/channels/contender.hpp"

namespace handoff::lab::channels {

namespace detail {

template <class Queue>
decltype(auto) producer_of(Queue& queue) {
  if constexpr (requires { queue.producer(); }) {
    return queue.producer();
  } else {
    return (queue);
  }
}

template <class Queue>
decltype(auto) consumer_of(Queue& queue) {
  if constexpr (requires { queue.consumer(); }) {
    return queue.consumer();
  } else {
    return (queue);
  }
}

template <class Producer>
void push(Producer& producer, const Message& message) {
  if constexpr (requires { producer.push(message); }) {
    producer.push(message);
  } else {
    peers::retry([&] { return producer.try_push(message); });
  }
}

template <class Consumer>
void pop(Consumer& consumer, Message& message) {
  if constexpr (requires { consumer.pop(message); }) {
    consumer.pop(message);
  } else {
    peers::retry([&] { return consumer.try_pop(message); });
  }
}

}  // namespace detail

// The queue, and the threads at its two ends. This thread is the first of the producers; the others
// are started for each operation, but are there before its time begins.
template <class Queue>
class Exchange {
 public:
  explicit Exchange(const Task& task)
      : task_(task),
        share_(task.consumers == 1 ? messages : kShare),
        received_(task.consumers),
        queue_(task) {}

  void run(Burst& burst) {
    there_.store(0, std::memory_order_relaxed);
    ended_.store(0, std::memory_order_relaxed);
    claimed_.store(0, std::memory_order_relaxed);
    began_.store(false, std::memory_order_relaxed);
    {
      const std::vector<std::jthread> others = start_others();
      auto&& producer = detail::producer_of(queue_);
      await(there_, others.size());
      burst.timed([&] {
        began_.store(true, std::memory_order_release);
        produce(producer, 0);
        await(ended_, task_.consumers);
      });
    }
    burst.items(static_cast<double>(messages));
    *task_.output = {0, 0};
    for (std::size_t c = 0; c < task_.consumers; ++c) {
      task_.output->count += received_[c].count;
      task_.output->sum += received_[c].sum;
      burst.executed(1 + c, static_cast<double>(received_[c].count));
    }
  }

 private:
  // What one thread writes lies apart from what another one reads: the queue decides what its
  // threads share.
  static constexpr std::size_t kApart = 128;
  struct alignas(kApart) Received {
    std::uint64_t count;
    std::uint64_t sum;
  };

  // How many messages one of several consumers takes before it claims more: so few that none is
  // left behind, and so many that the claims do not count.
  static constexpr std::size_t kShare = 64;

  std::vector<std::jthread> start_others() {
    std::vector<std::jthread> others;
    for (std::size_t c = 0; c < task_.consumers; ++c) {
      others.emplace_back([this, c] {
        auto&& consumer = detail::consumer_of(queue_);
        await_begin();
        received_[c] = consume(consumer);
        ended_.fetch_add(1, std::memory_order_release);
      });
    }
    for (std::size_t p = 1; p < task_.producers; ++p) {
      others.emplace_back([this, p] {
        auto&& producer = detail::producer_of(queue_);
        await_begin();
        produce(producer, p);
      });
    }
    return others;
  }

  void await_begin() {
    there_.fetch_add(1, std::memory_order_release);
    peers::retry([this] { return began_.load(std::memory_order_acquire); });
  }
  static void await(const std::atomic<std::size_t>& number, std::size_t wanted) {
    peers::retry([&] { return number.load(std::memory_order_acquire) == wanted; });
  }

  template <class Producer>
  void produce(Producer& producer, std::size_t first) {
    for (std::size_t i = first; i < messages; i += task_.producers) {
      detail::push(producer, message(i));
    }
  }

  // A consumer claims messages before it waits for them, so that each of them ends, and no word of
  // an end has to go through queues that have no order.
  template <class Consumer>
  Received consume(Consumer& consumer) {
    Received received{0, 0};
    Message message;
    for (;;) {
      const std::size_t first = claimed_.fetch_add(share_, std::memory_order_relaxed);
      if (first >= messages) return received;
      const std::size_t count = std::min(share_, messages - first);
      for (std::size_t i = 0; i < count; ++i) {
        detail::pop(consumer, message);
        received.sum += weight(message);
      }
      received.count += count;
    }
  }

  const Task& task_;
  const std::size_t share_;
  std::vector<Received> received_;
  std::atomic<bool> began_{false};
  alignas(kApart) std::atomic<std::size_t> there_{0};
  std::atomic<std::size_t> ended_{0};
  alignas(kApart) std::atomic<std::size_t> claimed_{0};
  alignas(kApart) Queue queue_;
};

template <class Queue>
Operation measure(const Task& task) {
  const auto exchange = std::make_shared<Exchange<Queue>>(task);
  return [exchange](Burst& burst) { exchange->run(burst); };
}

}  // namespace handoff::lab::channels
