// SPDX-License-Identifier: MIT
//
// Close against everything: a close comes while other calls are under way, and what was told `ok`
// is handled once or counted, what waits returns, and nothing is accepted any more.
//
// A subject is a type with close(), and how its users call it:
//
//   struct Subject {
//     static constexpr unsigned producers = 2, consumers = 2;    // at most; consumers 0: its own
//     static constexpr CloseBy by = CloseBy::anybody;            // which thread may close it
//     static constexpr unsigned ways_in = 3, ways_out = 2;       // kinds of calls
//     Subject(const ClosePlan& plan, CloseLog& log);
//     std::uint64_t offer(unsigned producer, unsigned way, std::span<CloseItem> items);
//     void serve(unsigned consumer, unsigned way);               // until it is told closed
//     void close();
//     std::uint64_t dropped();     // at last: how many were accepted, and counted, not handled
//   };
//
// offer() returns how many of the items were accepted, the first ones; fewer than all only if it
// was told closed. The handler of an item tells the log. Items are slow to copy and to move, now
// and then, so that a close comes in the midst of that too. A wait that is not woken ends by the
// watchdog of the tests.
#pragma once

#include "support/test.hpp"

namespace handoff::test {

enum class CloseBy { anybody, others, producer };  // others: not inside a handler

struct ClosePlan {
  std::uint64_t seed = 0;
  unsigned producers = 1;
  unsigned consumers = 1;
  std::size_t capacity = 1;
  unsigned calls_each = 1;
  unsigned closers = 1;  // threads besides
  unsigned pauses = 0;  // of a closer before it closes
  std::uint64_t closes_at = 0;  // the handled item, or the offer, in which it is closed; 0: in none

  std::mt19937_64 random(std::uint64_t stream) const {
    std::seed_seq mix{seed, stream};
    return std::mt19937_64(mix);
  }
};

// Takes its time now and then, and knows its number.
struct CloseItem {
  CloseItem() noexcept = default;
  explicit CloseItem(std::uint32_t its_number) noexcept : number(its_number) {}
  CloseItem(const CloseItem& other) noexcept : number(other.number) { pause(); }
  CloseItem(CloseItem&& other) noexcept : number(other.number) { pause(); }
  CloseItem& operator=(const CloseItem& other) noexcept = default;
  CloseItem& operator=(CloseItem&& other) noexcept = default;
  ~CloseItem() = default;

  static void pause() noexcept {
    thread_local std::minstd_rand random(std::random_device{}());
    for (auto left = random() % 4 == 0 ? random() % 4 : 0; left != 0; --left) {
      std::this_thread::yield();
    }
  }

  std::uint32_t number = 0;
};

// Calls once(item) for each until it is accepted or closed; how many were.
template <class Once>
std::uint64_t one_by_one(std::span<CloseItem> items, const Once& once) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (;;) {
      const Status status = once(items[i]);
      if (status == Status::ok) break;
      if (status == Status::closed) return i;
      std::this_thread::yield();  // full, timed_out
    }
  }
  return items.size();
}

// Calls some(rest) until all are accepted, or none is and the queue was closed before that call.
template <class Queue, class Some>
std::uint64_t in_batches(std::span<CloseItem> items, const Queue& queue, const Some& some) {
  std::size_t done = 0;
  while (done < items.size()) {
    const bool was_closed = queue.closed();
    const std::size_t count = some(items.subspan(done));
    done += count;
    if (count == 0 && was_closed) break;
    if (count == 0) std::this_thread::yield();
  }
  return done;
}

// Whatever was handled, how often.
class CloseLog {
 public:
  static constexpr std::size_t kMost = 1024;

  void handled(const CloseItem& item) {
    CloseItem::pause();
    // order: relaxed, read once the threads have ended
    times_.at(item.number).fetch_add(1, std::memory_order_relaxed);
    // order: relaxed, a count
    if (count_.fetch_add(1, std::memory_order_relaxed) + 1 == closes_at) close();
  }
  unsigned times(std::size_t number) const {
    return times_.at(number).load(std::memory_order_relaxed);  // order: relaxed, as above
  }

  std::uint64_t closes_at = 0;
  std::function<void()> close;

 private:
  std::array<std::atomic<std::uint8_t>, kMost> times_{};
  std::atomic<std::uint64_t> count_{0};
};

// What subjects that serve themselves have in common.
struct ServesItself {
  static constexpr unsigned producers = 3, consumers = 0;
  static constexpr CloseBy by = CloseBy::others;
  static constexpr unsigned ways_out = 1;
  void serve(unsigned, unsigned) {}
};

// ... and those whose close finishes what is there, or drops it.
template <class Engine>
class OfEngine : public ServesItself {
 public:
  template <class... Args>
  OfEngine(bool finishes, CloseLog& log, Args&&... args)
      : finishes_(finishes), log_(log), engine_(std::forward<Args>(args)...) {}

  void close() { (void)engine_.close(finishes_ ? Closing::finish : Closing::abandon); }
  std::uint64_t dropped() {
    EXPECT_TRUE(engine_.tally().balanced());
    return engine_.tally().cancelled;
  }

 protected:
  const bool finishes_;
  CloseLog& log_;
  Engine engine_;
};

struct CloseVerdict {
  std::uint64_t lost = 0;  // accepted, neither handled nor counted; or counted, and not accepted
  std::uint64_t unexpected = 0;  // handled twice, or never accepted
  std::uint64_t late = 0;  // accepted though close() had returned before

  friend bool operator==(const CloseVerdict&, const CloseVerdict&) = default;
  friend std::ostream& operator<<(std::ostream& out, const CloseVerdict& v) {
    return out << v.lost << " lost, " << v.unexpected << " unexpected, " << v.late << " late";
  }
};

template <class Subject>
class CloseRound {
 public:
  explicit CloseRound(const ClosePlan& plan) : plan_(plan), accepted_(CloseLog::kMost) {}

  CloseVerdict run() {
    log_.close = [this] { close(); };
    if constexpr (Subject::by == CloseBy::anybody) log_.closes_at = plan_.closes_at;
    Subject subject(plan_, log_);
    subject_ = &subject;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < plan_.consumers; ++i) {
      const auto way = static_cast<unsigned>(plan_.random(i)() % Subject::ways_out);
      threads.emplace_back([=, this] { subject_->serve(i, way); });
    }
    for (unsigned i = 0; i < plan_.producers; ++i) threads.emplace_back([=, this] { produce(i); });
    for (unsigned i = 0; i < closers(); ++i) {
      threads.emplace_back([this] {
        for (unsigned left = plan_.pauses; left != 0; --left) std::this_thread::yield();
        close();
      });
    }
    for (std::thread& thread : threads) thread.join();
    return judge(subject);
  }

 private:
  static constexpr unsigned kBatchMost = 4;

  // One at least, but where a producer is the one to close.
  unsigned closers() const { return Subject::by == CloseBy::producer ? 0 : plan_.closers; }

  void produce(unsigned self) {
    auto random = plan_.random(100 + self);
    auto number = static_cast<std::uint32_t>(self * (CloseLog::kMost / plan_.producers));
    for (unsigned call = 1; call <= plan_.calls_each; ++call) {
      std::vector<CloseItem> items;
      const std::size_t count = 1 + random() % kBatchMost;
      for (std::size_t i = 0; i < count; ++i) items.emplace_back(number++);
      // order: acquire pairs with the release in close()
      const bool was_closed = closed_.load(std::memory_order_acquire);
      const std::uint64_t taken =
          subject_->offer(self, static_cast<unsigned>(random() % Subject::ways_in), items);
      for (std::uint64_t i = 0; i < taken; ++i) accepted_[number - count + i] = 1;
      if (was_closed) late_ += taken;
      if (taken < count) break;
      if constexpr (Subject::by == CloseBy::producer) {
        if (call == plan_.closes_at) close();
      }
    }
    if constexpr (Subject::by == CloseBy::producer) close();
  }

  void close() {
    subject_->close();
    closed_.store(true, std::memory_order_release);  // order: release pairs with produce()
  }

  CloseVerdict judge(Subject& subject) const {
    CloseVerdict verdict{.late = late_};
    const std::uint64_t dropped = subject.dropped();
    std::uint64_t missing = 0;
    for (std::size_t i = 0; i < CloseLog::kMost; ++i) {
      if (log_.times(i) > accepted_[i]) ++verdict.unexpected;
      if (log_.times(i) < accepted_[i]) ++missing;
    }
    verdict.lost = missing > dropped ? missing - dropped : dropped - missing;
    return verdict;
  }

  const ClosePlan plan_;
  CloseLog log_;
  std::vector<std::uint8_t> accepted_;  // each written by its producer alone
  std::atomic<std::uint64_t> late_{0};
  std::atomic<bool> closed_{false};
  Subject* subject_ = nullptr;
};

template <class Subject>
ClosePlan draw_close_plan(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto upto = [&](unsigned most) { return most == 0 ? 0 : 1 + unsigned(random() % most); };
  ClosePlan plan{.seed = seed};
  plan.producers = upto(Subject::producers);
  plan.consumers = upto(Subject::consumers);
  plan.capacity = upto(3);
  plan.calls_each = upto(12);
  plan.closers = upto(2);
  plan.pauses = static_cast<unsigned>(random() % 40);
  if (random() % 2 == 0) plan.closes_at = upto(8);
  return plan;
}

template <class Subject>
class CloseSuite : public testing::Test {};
TYPED_TEST_SUITE_P(CloseSuite);

TYPED_TEST_P(CloseSuite, what_was_told_ok_is_handled_or_counted_and_all_waits_end) {
  const std::size_t count = deep() ? 10'000 : 200;
  for (std::size_t round = 0; round < count; ++round) {
    const std::uint64_t seed = random(round)();
    const ClosePlan plan = draw_close_plan<TypeParam>(seed);
    ASSERT_EQ(CloseRound<TypeParam>(plan).run(), CloseVerdict{})
        << "round " << round << ": " << plan.producers << " producers, " << plan.consumers
        << " consumers, capacity " << plan.capacity << ", closed at " << plan.closes_at;
  }
}

REGISTER_TYPED_TEST_SUITE_P(CloseSuite, what_was_told_ok_is_handled_or_counted_and_all_waits_end);

}  // namespace handoff::test
