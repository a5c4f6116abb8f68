// SPDX-License-Identifier: MIT
//
// The conformance suite of the tier "deferred": any thread hands over, and nothing happens until
// the owner drains; then each item is handled once, in its producer's order, on the owner's thread.
//
// A typed suite over families. A family is a struct that names the queue:
//
//   struct Process {
//     class Queue {
//      public:
//       explicit Queue(DeferredHandler handler);
//       bool enqueue(DeferredItem item);   // any thread; false: refused
//       void drain();                      // gives what is there to the handler, on this thread;
//                                          // what the handler throws comes out
//       void shut();
//       Tally close(const Closing& how);   // gives what is left its outcome
//       Tally tally();
//       // its destructor destroys what is left
//     };
//   };
#pragma once

#include "support/test.hpp"

namespace handoff::test {

using Alive = std::shared_ptr<std::atomic<std::size_t>>;
inline Alive nobody_alive() { return std::make_shared<std::atomic<std::size_t>>(0); }

// What is handed over: move-only, and counted while it lives.
class DeferredItem {
 public:
  DeferredItem(std::size_t number, const Alive& alive) : number_(number), alive_(alive) {
    ++*alive_;
  }
  DeferredItem(DeferredItem&&) noexcept = default;
  DeferredItem& operator=(DeferredItem&&) = delete;
  ~DeferredItem() {
    if (alive_ != nullptr) --*alive_;
  }
  std::size_t number() const { return number_; }
  bool whole() const { return alive_ != nullptr; }

 private:
  std::size_t number_;
  Alive alive_;
};

using DeferredHandler = std::function<void(const DeferredItem&)>;

// What became of a number of items. All zero is right.
struct DeferredVerdict {
  std::size_t refused = 0;
  std::size_t lost = 0;
  std::size_t repeated = 0;
  std::size_t reordered = 0;  // handled before one that its producer handed over earlier
  std::size_t unseen = 0;  // handled without what was written before it was handed over
  std::size_t elsewhere = 0;  // handled by another thread, or outside of a drain
  std::size_t kept = 0;  // items that did not end when they were handled
  friend bool operator==(const DeferredVerdict&, const DeferredVerdict&) = default;
  friend std::ostream& operator<<(std::ostream& out, const DeferredVerdict& v) {
    return out << v.refused << " refused, " << v.lost << " lost, " << v.repeated << " repeated, "
               << v.reordered << " out of order, " << v.unseen << " did not see what came before, "
               << v.elsewhere << " elsewhere, " << v.kept << " kept";
  }
};

struct DeferredPlan {
  std::size_t producers = 4;
  std::size_t items_each = 1000;
  std::chrono::milliseconds patience{60'000};  // without progress: lost
};

// Several threads hand over, the calling one drains.
template <class Queue>
class DeferredAudit {
 public:
  explicit DeferredAudit(const DeferredPlan& plan)
      : plan_(plan),
        records_(plan.producers * plan.items_each),
        last_(plan.producers),
        queue_([this](const DeferredItem& item) { handle(item); }) {}

  DeferredVerdict run() {
    std::vector<std::thread> producers;
    for (std::size_t p = 0; p < plan_.producers; ++p) {
      producers.emplace_back([this, p] { produce(p); });
    }
    drain_until_all_came();
    for (auto& thread : producers) thread.join();
    drain();
    verdict_.refused = refused_;
    verdict_.elsewhere = elsewhere_;
    for (const Record& record : records_) {
      verdict_.lost += record.times == 0;
      verdict_.repeated += record.times > 1;
    }
    verdict_.lost -= refused_;
    verdict_.kept = *alive_;
    return verdict_;
  }

 private:
  struct Record {
    std::uint64_t written = 0;  // plain: the hand-over has to order it
    unsigned times = 0;
  };

  void produce(std::size_t producer) {
    for (std::size_t i = 0; i < plan_.items_each; ++i) {
      const std::size_t number = producer * plan_.items_each + i;
      records_[number].written = number + 1;
      if (!queue_.enqueue(DeferredItem(number, alive_))) ++refused_;
    }
  }

  void handle(const DeferredItem& item) {
    if (std::this_thread::get_id() != owner_ || !draining_) {
      ++elsewhere_;
      return;  // the records are the owner's
    }
    ++handled_;
    Record& record = records_[item.number()];
    if (record.written != item.number() + 1 || !item.whole()) ++verdict_.unseen;
    if (++record.times != 1) return;
    std::size_t& last = last_[item.number() / plan_.items_each];
    if (item.number() + 1 < last) ++verdict_.reordered;
    last = item.number() + 1;
  }

  void drain() {
    draining_ = true;
    queue_.drain();
    draining_ = false;
  }

  // Or nothing has come for too long.
  void drain_until_all_came() {
    using Clock = std::chrono::steady_clock;
    auto moved = Clock::now();
    while (handled_ + refused_ + elsewhere_ < records_.size()) {
      const std::size_t before = handled_;
      drain();
      if (handled_ != before) {
        moved = Clock::now();
      } else if (Clock::now() - moved > plan_.patience) {
        return;
      } else {
        std::this_thread::yield();
      }
    }
  }

  const DeferredPlan plan_;
  const std::thread::id owner_ = std::this_thread::get_id();
  std::vector<Record> records_;
  std::vector<std::size_t> last_;  // of each producer, the number after the one handled last
  bool draining_ = false;
  std::size_t handled_ = 0;
  std::atomic<std::size_t> refused_{0};
  std::atomic<std::size_t> elsewhere_{0};
  DeferredVerdict verdict_;
  const Alive alive_ = nobody_alive();
  Queue queue_;
};

template <class Family>
class DeferredSuite : public testing::Test {
 protected:
  using Queue = typename Family::Queue;
};
TYPED_TEST_SUITE_P(DeferredSuite);

TYPED_TEST_P(DeferredSuite, EachOnceInOrderByTheOwner) {
  for (const std::size_t producers : {1U, 4U}) {
    const DeferredPlan plan{.producers = producers, .items_each = rounds(2000)};
    EXPECT_EQ(DeferredAudit<typename TestFixture::Queue>(plan).run(), DeferredVerdict{})
        << producers << " producers";
  }
}

// What a handler hands over waits for its turn: it is not handled inside the handler.
TYPED_TEST_P(DeferredSuite, WhatAHandlerHandsOverComesLater) {
  const Alive alive = nobody_alive();
  typename TestFixture::Queue* self = nullptr;
  std::size_t inside = 0;
  std::vector<std::size_t> handled;
  typename TestFixture::Queue queue([&](const DeferredItem& item) {
    EXPECT_EQ(++inside, 1U);
    handled.push_back(item.number());
    const bool more = item.number() < 50;
    EXPECT_TRUE(!more || self->enqueue(DeferredItem(item.number() + 1, alive)));
    --inside;
  });
  self = &queue;
  EXPECT_TRUE(queue.enqueue(DeferredItem(0, alive)));
  while (queue.tally().pending != 0) queue.drain();
  ASSERT_EQ(handled.size(), 51U);
  for (std::size_t i = 0; i <= 50; ++i) EXPECT_EQ(handled[i], i);
  EXPECT_EQ(*alive, 0U);
}

// At every position: the others are all handled, in order, and the books count the failure.
TYPED_TEST_P(DeferredSuite, AThrowLosesNothing) {
  constexpr std::size_t items = 12;
  for (std::size_t bad = 0; bad < items; ++bad) {
    const Alive alive = nobody_alive();
    std::vector<std::size_t> handled;
    typename TestFixture::Queue queue([&](const DeferredItem& item) {
      if (item.number() == bad) throw std::runtime_error("bad");
      handled.push_back(item.number());
    });
    for (std::size_t i = 0; i < items; ++i) EXPECT_TRUE(queue.enqueue(DeferredItem(i, alive)));
    EXPECT_THROW(queue.drain(), std::runtime_error) << bad;
    EXPECT_EQ(handled.size(), bad);
    queue.drain();
    ASSERT_EQ(handled.size(), items - 1);
    for (std::size_t i = 0; i < items - 1; ++i) EXPECT_EQ(handled[i], i < bad ? i : i + 1);
    const Tally tally = queue.tally();
    EXPECT_TRUE(tally.balanced());
    EXPECT_EQ(tally.done, items - 1);
    EXPECT_EQ(tally.failed, 1U);
    EXPECT_EQ(*alive, 0U);
  }
}

TYPED_TEST_P(DeferredSuite, ClosedTakesNoMoreAndKeepsWhatItHas) {
  const Alive alive = nobody_alive();
  std::size_t handled = 0;
  typename TestFixture::Queue queue([&](const DeferredItem&) { ++handled; });
  for (std::size_t i = 0; i < 7; ++i) EXPECT_TRUE(queue.enqueue(DeferredItem(i, alive)));
  queue.shut();
  const Tally closed = queue.tally();
  EXPECT_EQ(closed.accepted, 7U);
  EXPECT_EQ(closed.pending, 7U);
  EXPECT_FALSE(queue.enqueue(DeferredItem(7, alive)));
  EXPECT_EQ(*alive, 7U) << "what is refused is the caller's";
  EXPECT_EQ(handled, 0U);
  queue.drain();
  EXPECT_EQ(handled, 7U);
  queue.shut();
  EXPECT_EQ(queue.tally().done, 7U) << "shut twice";
  EXPECT_TRUE(queue.tally().balanced());
  EXPECT_EQ(*alive, 0U);
}

TYPED_TEST_P(DeferredSuite, ItsEndDestroysWhatIsLeftAndCallsNobody) {
  for (const bool closed : {false, true}) {
    const Alive alive = nobody_alive();
    std::size_t handled = 0;
    {
      typename TestFixture::Queue queue([&](const DeferredItem&) { ++handled; });
      for (std::size_t i = 0; i < 5; ++i) EXPECT_TRUE(queue.enqueue(DeferredItem(i, alive)));
      queue.drain();
      for (std::size_t i = 5; i < 2000; ++i) EXPECT_TRUE(queue.enqueue(DeferredItem(i, alive)));
      if (closed) queue.shut();
    }
    EXPECT_EQ(handled, 5U);
    EXPECT_EQ(*alive, 0U);
  }
}

// In each strength: all that was accepted has its outcome, and the first failure is told.
TYPED_TEST_P(DeferredSuite, ACloseGivesWhatIsLeftItsOutcome) {
  using namespace std::chrono_literals;
  for (const Closing& how :
       {Closing::finish, Closing::abandon, Closing::finish_until(0s), Closing::finish_until(1h)}) {
    const Alive alive = nobody_alive();
    std::size_t calls = 0;
    typename TestFixture::Queue queue([&](const DeferredItem& item) {
      ++calls;
      if (item.number() % 400 == 399) throw std::runtime_error(std::to_string(item.number()));
    });
    for (std::size_t i = 0; i < 1000; ++i) EXPECT_TRUE(queue.enqueue(DeferredItem(i, alive)));
    const Tally tally = queue.close(how);
    const bool runs = how.begins_more && how.deadline > sync::clock::now();
    EXPECT_TRUE(tally.balanced());
    EXPECT_EQ(tally.accepted, 1000U);
    EXPECT_EQ(tally.pending, 0U);
    EXPECT_EQ(calls, runs ? 1000U : 0U);
    EXPECT_EQ(tally.done, runs ? 998U : 0U);
    EXPECT_EQ(tally.failed, runs ? 2U : 0U);
    EXPECT_EQ(tally.cancelled, how.begins_more ? 0U : 1000U);
    EXPECT_EQ(tally.expired, how.begins_more && !runs ? 1000U : 0U);
    EXPECT_EQ(*alive, 0U);
    EXPECT_FALSE(queue.enqueue(DeferredItem(0, alive)));
    EXPECT_EQ(queue.close(Closing::abandon).accepted, 1000U) << "closed twice";
    try {
      if (tally.first_failure != nullptr) std::rethrow_exception(tally.first_failure);
      EXPECT_FALSE(runs) << "it has no first failure";
    } catch (const std::runtime_error& error) {
      EXPECT_TRUE(runs);
      EXPECT_STREQ(error.what(), "399");
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(DeferredSuite, EachOnceInOrderByTheOwner,
                            WhatAHandlerHandsOverComesLater, AThrowLosesNothing,
                            ClosedTakesNoMoreAndKeepsWhatItHas,
                            ItsEndDestroysWhatIsLeftAndCallsNobody,
                            ACloseGivesWhatIsLeftItsOutcome);

}  // namespace handoff::test
