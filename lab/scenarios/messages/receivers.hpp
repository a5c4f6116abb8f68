// SPDX-License-Identifier: MIT
// The threads that take messages from a contender, and what they write down: how many came, what
// they come to, whether a producer's came in its order, and how long they took. They are there from
// the launch on, so that no word of an end goes through the contender.
#pragma once

#include "peers/queue_ends.hpp"
#include "scenarios/messages/ends.hpp"

namespace handoff::lab::messages {

// One receiver's. Others may read it once all messages have come.
class alignas(peers::kApart) Book {
 public:
  template <class Message>
  void enter(const Message& message) {
    if (latencies_ != nullptr) {
      latencies_->record(peers::clock_ns() - message.due());
      sum_ += message.weight_but_due();
    } else {
      sum_ += message.weight();
    }
    std::uint64_t& next = next_[message.producer() % most_producers];
    if (message.number() < next) ++misplaced_;
    next = message.number() + 1;
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  [[nodiscard]] std::uint64_t count() const { return count_.load(std::memory_order_acquire); }

 private:
  friend class Books;

  std::atomic<std::uint64_t> count_{0};
  std::uint64_t sum_ = 0;
  std::uint64_t misplaced_ = 0;
  std::unique_ptr<Histogram> latencies_;
  std::array<std::uint64_t, most_producers> next_{};  // number that each producer has not had yet
};

class Books {
 public:
  // Of so many consumers, and of other threads where a contender's own receive. `ordered`: each of
  // them is to get a producer's messages in their order.
  Books(std::size_t consumers, std::size_t others, bool timed, bool ordered)
      : consumers_(consumers), ordered_(ordered), books_(consumers + others) {
    if (!timed) return;
    for (Book& book : books_) book.latencies_ = std::make_unique<Histogram>();
  }

  Book& operator[](std::size_t receiver) { return books_[receiver]; }
  // Where a contender's own threads receive: the book of this one, for as long as it lives.
  Book& mine() {
    thread_local Book* book = nullptr;
    if (book == nullptr) [[unlikely]]
      book = &books_.at(taken_.fetch_add(1, std::memory_order_relaxed));
    return *book;
  }

  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t count = 0;
    for (const Book& book : books_) count += book.count();
    return count;
  }

  // Before an operation, whose producers count from 0 again. Nothing is under way.
  void begin() {
    before_.clear();
    for (Book& book : books_) {
      book.next_.fill(0);
      before_.push_back(book.count());
    }
  }
  // After it. The first receiver is the burst's second member.
  void end(Burst& burst, std::size_t messages, Answer& answer) {
    answer = {++operations_, messages, 0, 0, 0};
    for (std::size_t i = 0; i < books_.size(); ++i) {
      const Book& book = books_[i];
      answer.received += book.count();
      answer.sum += book.sum_;
      if (ordered_) answer.misplaced += book.misplaced_;
      const std::uint64_t count = book.count() - before_[i];
      if (i < consumers_ || count != 0) burst.executed(1 + i, static_cast<double>(count));
      if (book.latencies_ != nullptr) burst.latencies().merge(*book.latencies_);
    }
    forget_latencies();
  }
  void forget_latencies() {
    for (Book& book : books_) {
      if (book.latencies_ != nullptr) *book.latencies_ = {};
    }
  }

 private:
  const std::size_t consumers_;
  const bool ordered_;
  std::vector<Book> books_;
  std::vector<std::uint64_t> before_;  // the operation
  std::uint64_t operations_ = 0;
  std::atomic<std::size_t> taken_{0};
};

// A consumer that may sleep does so after this time without a message.
inline constexpr std::chrono::microseconds patience{50};

template <class Message, class Queue>
class Receivers : Pinned {
 public:
  // Where the contender calls a handler, perhaps on threads of its own, listen() tells it which.
  static constexpr bool kListens = requires(Queue& queue) { queue.listen(Ignore()); };
  static constexpr bool kOwnThreads = kListens && !requires(Queue& queue) { queue.process(); };
  static constexpr bool kOrdered = !requires { requires Queue::unordered; };

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
