// SPDX-License-Identifier: MIT
//
// The model of the transfer tier on one thread: what rings, SegmentQueue and Channel promise about
// items, whatever the order of calls, against a std::deque.
#pragma once

#include <handoff/core/status.hpp>
#include <handoff/queue/internal/ring_slots.hpp>

#include "model/item.hpp"
#include "model/model.hpp"
#include "support/started_at.hpp"

namespace handoff::test {

inline const std::vector<Word> transfer_words{
    {"push", 6},      {"push_copy", 3}, {"emplace", 3}, {"push_batch", 3}, {"pop", 8},
    {"pop_batch", 3}, {"consume", 3},   {"close", 1},   {"begin_anew", 1}};

// `Real`: what the Queue is, if it is a canary's.
template <class Queue, class Real = Queue>
class TransferModel : public Model {
  static constexpr bool kBounded = requires(const Queue& queue) { queue.capacity(); };
  static constexpr bool kIsChannel = requires(Queue& queue) { queue.pop(); };

 public:
  TransferModel() { begin_anew(2, 0); }
  ~TransferModel() override = default;

  void step(const Step& step) override {
    switch (step.what) {
      case 0: push(step); break;
      case 1: push_copy(step); break;
      case 2: emplace(step); break;
      case 3: push_batch(step); break;
      case 4: pop(); break;
      case 5: pop_batch(step.a % 6); break;
      case 6: consume(step.a % 6, step.b); break;
      case 7:
        queue_->close();
        closed_ = true;
        break;
      default: begin_anew(step.a, step.b); break;
    }
    compare();
  }

  void end() override {
    queue_.reset();
    plain_.clear();
    agree_on("the number of items alive at the end", Item::alive(), alive_before_);
  }

 private:
  using Made = std::conditional_t<kBounded && !kIsChannel, StartedAt<Queue>, Queue>;

  // A ring's positions begin a little before the end of their type.
  void begin_anew(unsigned capacity, [[maybe_unused]] unsigned before_the_end) {
    queue_.reset();
    plain_.clear();
    closed_ = false;
    if constexpr (kBounded) capacity_ = std::bit_ceil(std::size_t{capacity % 5 + 1});
    if constexpr (kBounded && !kIsChannel) {
      queue_ = std::make_unique<Made>(capacity_, std::uint64_t{0} - before_the_end);
    } else if constexpr (kBounded) {
      queue_ = std::make_unique<Made>(capacity_);
    } else {
      queue_ = std::make_unique<Made>();
    }
  }

  Status room_for_one() const {
    if (closed_) return Status::closed;
    return plain_.size() < capacity_ ? Status::ok : Status::full;
  }

  void settle(const char* what, bool had_memory, Status status, const Item& item, int number) {
    if (had_memory) agree_on(what, static_cast<int>(status), static_cast<int>(room_for_one()));
    if (had_memory && status == Status::ok) {
      plain_.push_back(number);
    } else {
      agree_on("what is left of an item that was not taken", item.number(), number);
    }
  }

  void push(const Step& step) {
    Item item(++last_);
    Status status = Status::full;
    const bool had_memory =
        has_memory_for(step, [&] { status = queue_->try_push(std::move(item)); });
    settle("try_push", had_memory, status, item, last_);
    if (had_memory && status == Status::ok) {
      agree_on("what a push leaves behind", item.number(), Item::kNothing);
    }
  }

  void push_copy(const Step& step) {
    const Item item(++last_);
    Status status = Status::full;
    bool had_memory = false;
    try {
      const Item::FailingCopies failing(step.a < 5);
      had_memory = has_memory_for(step, [&] { status = queue_->try_push(item); });
    } catch (const Item::CopyFailed&) {
    }
    settle("try_push of a copy", had_memory, status, item, last_);
  }

  void emplace(const Step& step) {
    Status status = Status::full;
    const bool had_memory = has_memory_for(step, [&] { status = queue_->try_emplace(last_ + 1); });
    const Item unchanged(++last_);
    settle("try_emplace", had_memory, status, unchanged, last_);
  }

  void push_batch(const Step& step) {
    std::vector<Item> items;
    for (unsigned i = 0; i < step.a % 7; ++i) items.emplace_back(++last_);
    std::size_t pushed = 0;
    const bool had_memory = has_memory_for(step, [&] { pushed = queue_->try_push_batch(items); });
    const std::size_t room = closed_ ? 0 : capacity_ - plain_.size();
    const std::size_t expected = had_memory ? std::min(items.size(), room) : 0;
    agree_on("try_push_batch", pushed, expected);
    const int first = last_ - static_cast<int>(items.size()) + 1;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const int number = first + static_cast<int>(i);
      const bool taken = i < pushed;
      agree_on("an item of the batch", items[i].number(), taken ? Item::kNothing : number);
      if (taken) plain_.push_back(number);
    }
  }

  Status next_status() const {
    if (!plain_.empty()) return Status::ok;
    return closed_ ? Status::closed : Status::empty;
  }

  void pop() {
    Item out;
    const Status expected = next_status();
    agree_on("try_pop", queue_->try_pop(out), expected);
    if (expected == Status::ok) take_front(out.number());
  }

  void take_front(int number) {
    agree_on("the oldest item", number, plain_.front());
    plain_.pop_front();
  }

  void pop_batch(std::size_t most) {
    std::vector<Item> out(most);
    const std::size_t expected = std::min(most, plain_.size());
    agree_on("try_pop_batch", queue_->try_pop_batch(out), expected);
    for (std::size_t i = 0; i < expected; ++i) take_front(out[i].number());
  }

  // A visitor that throws has consumed its item.
  void consume(std::size_t most, std::size_t throws_at) {
    struct Thrown {};
    const std::size_t all = std::min(most, plain_.size());
    std::size_t seen = 0;
    try {
      const std::size_t count = queue_->consume(
          [&](Item& item) {
            take_front(item.number());
            if (++seen == throws_at) throw Thrown();
          },
          most);
      agree_on("consume", count, all);
      agree_on("what the visitor saw", seen, all);
    } catch (const Thrown&) {
      agree_on("where the visitor threw", seen, throws_at);
    }
  }

  void compare() {
    agree_on("size", queue_->size(), plain_.size());
    agree_on("empty", queue_->empty(), plain_.empty());
    agree_on("closed", queue_->closed(), closed_);
    if constexpr (kBounded) agree_on("capacity", queue_->capacity(), capacity_);
    agree_on("the number of items alive", Item::alive() - alive_before_,
             static_cast<int>(plain_.size()));
    agree_with_book<Real>(*queue_);
  }

  const int alive_before_ = Item::alive();
  std::unique_ptr<Made> queue_;
  std::deque<int> plain_;
  std::size_t capacity_ = ~std::size_t{0};
  bool closed_ = false;
  int last_ = 0;
};

}  // namespace handoff::test
