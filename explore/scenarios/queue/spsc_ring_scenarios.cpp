// SPDX-License-Identifier: MIT
//
// SpscRing: the scenarios of docs/design/rings.md.
#include <handoff/queue/spsc_ring.hpp>

#include "books/queue_books.hpp"
#include "explore/scenarios/queue/ring_scenarios.hpp"

namespace spsc_ring_scenarios { namespace {

using namespace handoff;
using namespace test;
using Ring = test::Audited<SpscRing<RingItem>>;

const Scenario one_place("spsc_ring/one_place", [] { test::one_to_one<Ring>(1UL); });
const Scenario two_places("spsc_ring/two_places", [] { test::one_to_one<Ring>(2UL); });
const Scenario wrap("spsc_ring/wrap",
                    [] { test::one_to_one<test::StartedAt<Ring>>(2UL, ~std::uint64_t{0} - 1); });
const test::RingScenarios<SpscRing> as_any_other("spsc_ring");

const Scenario close_and_look("spsc_ring/close", [] {
  Ring ring(1);
  explore::Thread producer([&] {
    explore::check(ring.try_push(RingItem{1, 1}) == Status::ok, "there is room");
    ring.close();
    explore::check(ring.try_push(RingItem{1, 2}) == Status::closed, "closed is closed");
  });
  RingItem item;
  const Status first = ring.try_pop(item);
  explore::check(first != Status::closed, "not before the item is out");
  explore::check(ring.size() <= 1, "a size between the bounds");
  producer.join();
  if (first == Status::empty) explore::check(ring.try_pop(item) == Status::ok, "it is there");
  explore::check(ring.try_pop(item) == Status::closed, "drained");
  explore::outcome(first == Status::ok);
});

// A third thread looks on: sizes between the bounds, and closed means that all before is visible.
const Scenario observer("spsc_ring/observer", [] {
  Ring ring(2);
  sync::cell<int> before_close(0);
  explore::Thread producer([&] {
    explore::check(ring.try_push(RingItem{1, 1}) == Status::ok, "there is room");
    before_close.write() = 1;
    ring.close();
  });
  explore::Thread looker([&] {
    const std::size_t size = ring.size();
    explore::check(size <= 1, "never more than were pushed");
    explore::outcome(size);
    if (ring.closed()) explore::check(before_close.read() == 1, "what the closer did is visible");
  });
  RingItem item;
  (void)ring.try_pop(item);
});

}}  // namespace spsc_ring_scenarios
