// SPDX-License-Identifier: MIT
// Measures a queue in `channels`. A contender's Queue is made from a task, has room for `capacity`
// messages, and has
//
//   void push(const Message&)      waits for room; or, of a queue that cannot wait and is polled:
//   bool try_push(const Message&)  false while it is full
//   void pop(Message&)             waits for a message; or
//   bool try_pop(Message&)         false while it is empty
//   auto producer(), consumer()    what has these, for one thread (peers/queue_ends.hpp)
//
// How many threads may do that at once stands in CMakeLists.txt (WHEN).
#pragma once

#include "harness/contender.hpp"
#include "peers/queue_ends.hpp"
#include "peers/threads.hpp"
#include "scenarios/channels/work.hpp"

namespace handoff::lab::channels {

struct Task {
  explicit Task(const Parameters& given)
      : producers(given.number("producers")), consumers(given.number("consumers")) {}

  std::size_t producers;
  std::size_t consumers;
  Answer* output = nullptr;

  // Whether each side is one thread.
  [[nodiscard]] bool one_each() const { return producers == 1 && consumers == 1; }
};

// A contender's own: sends all messages once. The task outlives it.
Operation contender(const Task& task);

namespace detail {

// Always inlined, for the reason that retry() gives: a ring took 47 ns a message in place of 24.
template <class Producer>
[[gnu::always_inline]] inline void push(Producer& producer, const Message& message) {
  if constexpr (requires { producer.push(message); }) {
    producer.push(message);
  } else {
    peers::retry([&] { return producer.try_push(message); });
  }
}

template <class Consumer>
[[gnu::always_inline]] inline void pop(Consumer& consumer, Message& message) {
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
    line_.draw();
    ended_.store(0, std::memory_order_relaxed);
    claimed_.store(0, std::memory_order_relaxed);
    {
      const std::vector<std::jthread> others = start_others();
      auto&& producer = peers::producer_of(queue_, 0);
      line_.await(others.size());
      burst.timed([&] {
        line_.give_word();
        produce(producer, 0);
        peers::retry([&] { return ended_.load(std::memory_order_acquire) == task_.consumers; });
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
  struct alignas(peers::kApart) Received {
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
        auto&& consumer = peers::consumer_of(queue_, c);
        line_.await_word();
        received_[c] = consume(consumer);
        ended_.fetch_add(1, std::memory_order_release);
      });
    }
    for (std::size_t p = 1; p < task_.producers; ++p) {
      others.emplace_back([this, p] {
        auto&& producer = peers::producer_of(queue_, p);
        line_.await_word();
        produce(producer, p);
      });
    }
    return others;
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
  peers::StartLine line_;
  alignas(peers::kApart) std::atomic<std::size_t> ended_{0};
  alignas(peers::kApart) std::atomic<std::size_t> claimed_{0};
  alignas(peers::kApart) Queue queue_;
};

template <class Queue>
Operation measure(const Task& task) {
  const auto exchange = std::make_shared<Exchange<Queue>>(task);
  return [exchange](Burst& burst) { exchange->run(burst); };
}

}  // namespace handoff::lab::channels
