// SPDX-License-Identifier: MIT
//
// SegmentQueue: the scenarios of docs/design/channel.md.
#include <handoff/queue/segment_queue.hpp>

#include "books/queue_books.hpp"
#include "explore/scenarios/queue/ring_scenarios.hpp"

namespace segment_queue_scenarios { namespace {

using namespace handoff;
using sync::order;
using namespace test;
using Queue = test::Audited<SegmentQueue<RingItem, 1>>;  // every step crosses a segment

const Scenario fifo("segment_queue/fifo", [] { test::one_to_one<Queue>(); });
const Scenario producers("segment_queue/two_producers", [] { test::two_producers<Queue>(); });
const Scenario close_race("segment_queue/close", [] { test::close_races_push<Queue>(); });
const Scenario batch("segment_queue/batch",
                     [] { test::batches<test::Audited<SegmentQueue<RingItem, 2>>>(); });

// Three items in three segments; a push goes on meanwhile, perhaps into a segment given back.
const Scenario consumers("segment_queue/two_consumers", [] {
  Queue queue;
  test::push_all(queue, 1, 2);
  sync::atomic<int> sum(0);
  const auto pop_one = [&] {
    RingItem item;
    explore::check(queue.try_pop(item) == Status::ok, "`empty` is exact");
    sum.fetch_add(item.number, order::relaxed);
  };
  explore::Thread first(pop_one);
  explore::Thread second(pop_one);
  explore::check(queue.try_push(RingItem{1, 3}) == Status::ok, "there is always room");
  first.join();
  second.join();
  pop_one();
  explore::check(sum.load(order::relaxed) == 6 && queue.empty(), "each item once");
});

// A segment comes back to the producer bare: it writes where the consumer has just read.
const Scenario recycled("segment_queue/recycled", [] {
  Queue queue;
  explore::Thread producer([&] { test::push_all(queue, 1, 4); });
  const auto last = test::pop_all(queue, 4);
  explore::check(last[1] == 4, "each item once");
});

// All there were at the call, and no more.
const Scenario left_behind("segment_queue/ends_what_is_left", [] {
  test::ends_what_is_left([] { return std::make_unique<SegmentQueue<test::OwnedItem, 2>>(); });
});

const Scenario visited("segment_queue/visited", [] {
  test::Audited<SegmentQueue<RingItem, 2>> queue;
  test::push_all(queue, 1, 3);
  explore::Thread producer([&] { test::push_all(queue, 2, 1); });
  int seen = 0;
  int others = 0;
  const std::size_t count = queue.consume([&](RingItem& item) {
    if (item.producer == 2) return void(++others);
    explore::check(item.number == ++seen, "in order");
    if (seen != 1) return;
    explore::check(queue.try_push(RingItem{1, 4}) == Status::ok, "a visitor may push");
  });
  explore::check(seen == 3, "those that were there for sure");
  explore::check(count == static_cast<std::size_t>(seen + others), "as many as it says");
  producer.join();
  std::array<RingItem, 3> out;
  const std::size_t left = queue.try_pop_batch(out);
  explore::check(left + count == 5 && queue.empty(), "the rest");
});

const Scenario replaced("segment_queue/what_is_replaced_pops", [] {
  test::what_is_replaced_pops([] { return std::make_unique<SegmentQueue<test::PopsItem, 1>>(); });
});
const Scenario batch_replaced("segment_queue/what_a_batch_replaces_pops", [] {
  test::what_is_replaced_pops([] { return std::make_unique<SegmentQueue<test::PopsItem, 1>>(); },
                              true);
});

}}  // namespace segment_queue_scenarios
