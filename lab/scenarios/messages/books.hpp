// SPDX-License-Identifier: MIT
// What the receivers of messages write down: how many came, what they come to, whether a producer's
// came in its order, and how long they took.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "harness/contender.hpp"
#include "peers/apart.hpp"
#include "peers/clock.hpp"
#include "scenarios/messages/work.hpp"

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

}  // namespace handoff::lab::messages
