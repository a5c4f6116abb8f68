// SPDX-License-Identifier: MIT
//
// Queues that are wrong on purpose: the stress that passes the rings must find each of them.
#include "conformance/transfer_stress.hpp"
#include "support/test.hpp"

namespace {

using handoff::Status;
using handoff::test::stress;
using handoff::test::StressItem;
using handoff::test::Verdict;

constexpr handoff::test::StressPlan kPlan{.items_each = 1000};
constexpr std::uint64_t kFaultAt = 500;  // the call that goes wrong

// A right queue, between whose calls the wrong ones below step in. It has neither batches nor
// visitors, so that each item passes where the fault is.
class Base {
 public:
  Status try_push(StressItem item) { return ring_.try_push(std::move(item)); }
  Status try_pop(StressItem& out) { return ring_.try_pop(out); }
  void close() { ring_.close(); }

 protected:
  handoff::SpscRing<StressItem> ring_{4};
  std::uint64_t calls_ = 0;
};

struct Loses : Base {
  Status try_push(StressItem item) {
    return ++calls_ == kFaultAt ? Status::ok : ring_.try_push(std::move(item));
  }
};

struct Repeats : Base {
  Status try_pop(StressItem& out) {
    if (++calls_ == kFaultAt) {
      out = last_;
      return Status::ok;
    }
    const Status status = ring_.try_pop(out);
    if (status == Status::ok) last_ = out;
    return status;
  }
  StressItem last_ = StressItem::make(0, 0);
};

struct Tears : Base {
  Status try_pop(StressItem& out) {
    const Status status = ring_.try_pop(out);
    if (status == Status::ok && ++calls_ == kFaultAt) out.number ^= 1;
    return status;
  }
};

struct Swaps : Base {
  Status try_pop(StressItem& out) {
    if (held_) {
      out = *std::exchange(held_, std::nullopt);
      return Status::ok;
    }
    const Status status = ring_.try_pop(out);
    if (status != Status::ok || ++calls_ != kFaultAt) return status;
    held_ = out;
    Status next = ring_.try_pop(out);
    while (next == Status::empty) next = ring_.try_pop(out);
    return next;
  }
  std::optional<StressItem> held_;
};

// Has to be told twice, as the stress does at last.
class ClosesLate {
 public:
  Status try_push(StressItem item) { return ring_.try_push(std::move(item)); }
  Status try_pop(StressItem& out) { return ring_.try_pop(out); }
  void close() {
    if (told_.exchange(true)) ring_.close();
  }

 private:
  handoff::MpscRing<StressItem> ring_{4};
  std::atomic<bool> told_{false};
};

TEST(Canary, the_queue_below_them_is_good) {
  Base queue;
  const Verdict verdict = stress(queue, kPlan);
  EXPECT_TRUE(verdict.good()) << verdict;
  EXPECT_EQ(verdict.accepted, kPlan.items_each);
}

TEST(Canary, a_lost_item_is_found) {
  Loses queue;
  EXPECT_EQ(stress(queue, kPlan).lost, 1U);
}

TEST(Canary, a_repeated_item_is_found) {
  Repeats queue;
  EXPECT_EQ(stress(queue, kPlan).unexpected, 1U);
}

TEST(Canary, a_torn_item_is_found) {
  Tears queue;
  EXPECT_EQ(stress(queue, kPlan).torn, 1U);
}

TEST(Canary, items_that_changed_places_are_found) {
  Swaps queue;
  EXPECT_EQ(stress(queue, kPlan).out_of_order, 1U);
}

TEST(Canary, items_accepted_after_close_are_found) {
  std::uint64_t late = 0;
  // In a single round the producer may be done before the closer comes.
  for (std::uint64_t round = 0; round < 1000 && late == 0; ++round) {
    ClosesLate queue;
    late = stress(queue, {.items_each = 1000, .seed = round, .close_early = true}).late;
  }
  EXPECT_GT(late, 0U);
}

}  // namespace
