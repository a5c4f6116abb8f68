// SPDX-License-Identifier: MIT
// The threads that take messages from a contender and write down what they got. They are there from
// the launch on, so that no word of an end goes through the contender.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

#include "peers/queue_ends.hpp"
#include "scenarios/messages/books.hpp"
#include "scenarios/messages/ends.hpp"

namespace handoff::lab::messages {

// A consumer that may sleep does so after this time without a message.
inline constexpr std::chrono::microseconds patience{50};

template <class Message, class Queue>
class Receivers {
 public:
  // Where the contender calls a handler, perhaps on threads of its own, listen() tells it which.
  static constexpr bool kListens = requires(Queue& queue) { queue.listen(Ignore()); };
  static constexpr bool kOwnThreads = kListens && !requires(Queue& queue) { queue.process(); };
  static constexpr bool kOrdered = !requires { Queue::unordered; };

  Receivers(const Task& task, Queue& queue)
      : queue_(queue),
        sleeps_(task.sleeps),
        books_(task.consumers, kOwnThreads ? kOtherThreads : 0, is_latency(task.metric), kOrdered) {
    if constexpr (kListens) {
      queue.listen([this](const Message& message) { books_.mine().enter(message); });
    }
    if constexpr (!kOwnThreads) {
      for (std::size_t c = 0; c < task.consumers; ++c) {
        threads_.emplace_back([this, c] { serve(c); });
      }
      peers::retry([&] { return there_.load(std::memory_order_acquire) == threads_.size(); });
    }
  }
  ~Receivers() {
    quit_.store(true, std::memory_order_release);
    do {
      if constexpr (requires { queue_.close(); }) queue_.close();
      std::this_thread::yield();
    } while (ended_.load(std::memory_order_acquire) != threads_.size());
  }
  Receivers(const Receivers&) = delete;
  Receivers& operator=(const Receivers&) = delete;

  Books& books() { return books_; }

  // Until so many have come since the launch. Where none comes for a while some are lost, and the
  // answer will say so. They stay lost: from then on a short while is enough, or a burst of many
  // operations would seem to hang.
  void await(std::uint64_t wanted) {
    std::uint64_t seen = 0;
    do {
      seen = books_.count();
    } while (!peers::retry_for(a_while_, [&] { return books_.count() >= wanted; }) &&
             books_.count() != seen);
    if (books_.count() < wanted) a_while_ = std::chrono::milliseconds(10);
  }

 private:
  // A contender's own threads may be more than its consumers: a producer that helps is one.
  static constexpr std::size_t kOtherThreads = most_producers + 1;

  void serve(std::size_t c) {
    {
      auto&& consumer = peers::consumer_of(queue_, c);
      Taker<Message, std::remove_reference_t<decltype(consumer)>> taker(consumer);
      Book& book = books_[c];
      const auto enter = [&book](const Message& message) { book.enter(message); };
      there_.fetch_add(1, std::memory_order_release);
      const auto found = [&] {
        return taker.take(enter) != 0 || quit_.load(std::memory_order_acquire);
      };
      while (!quit_.load(std::memory_order_acquire)) {
        if (!sleeps_) {
          peers::retry(found);
        } else if (!peers::retry_for(patience, found)) {
          if constexpr (requires { consumer.await(enter); }) consumer.await(enter);
        }
      }
    }
    ended_.fetch_add(1, std::memory_order_release);
  }

  Queue& queue_;
  const bool sleeps_;
  Books books_;
  std::atomic<bool> quit_{false};
  std::atomic<std::size_t> there_{0};  // consumers that have their end of the queue
  std::atomic<std::size_t> ended_{0};
  std::chrono::milliseconds a_while_{2000};  // see await()
  std::vector<std::jthread> threads_;
};

}  // namespace handoff::lab::messages
