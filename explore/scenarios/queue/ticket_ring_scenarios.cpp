// SPDX-License-Identifier: MIT
//
// MpscRing and MpmcRing: the scenarios of docs/design/rings.md.
#include <handoff/queue/mpmc_ring.hpp>
#include <handoff/queue/mpsc_ring.hpp>

#include "books/queue_books.hpp"
#include "explore/scenarios/queue/ring_scenarios.hpp"

namespace ticket_ring_scenarios { namespace {

using namespace handoff;
using sync::order;
using namespace test;
using Mpsc = test::Audited<MpscRing<RingItem>>;
using Mpmc = test::Audited<MpmcRing<RingItem>>;

const Scenario mpsc_one_place("mpsc_ring/one_place", [] { test::two_producers<Mpsc>(1UL); });
const Scenario mpsc_producers("mpsc_ring/two_producers", [] { test::two_producers<Mpsc>(2UL); });
const Scenario mpsc_wrap("mpsc_ring/wrap", [] {
  test::two_producers<test::StartedAt<Mpsc>>(1UL, ~std::uint64_t{0} >> 1);
});
const test::RingScenarios<MpscRing> mpsc_as_any_other("mpsc_ring");

const Scenario mpsc_close("mpsc_ring/close", [] { test::close_races_push<Mpsc>(2UL); });
const Scenario mpmc_close("mpmc_ring/close", [] { test::close_races_push<Mpmc>(2UL); });

const Scenario mpsc_closed("mpsc_ring/closed_is_seen", [] {
  Mpsc ring(1);
  sync::cell<int> before_close(0);
  explore::Thread closer([&] {
    before_close.write() = 1;
    ring.close();
  });
  if (ring.closed()) explore::check(before_close.read() == 1, "what the closer did is visible");
  explore::check(ring.size() == 0, "nothing is in there");
});

// Two consumers race for items.
void two_consumers(std::size_t capacity) {
  Mpmc ring(capacity);
  sync::atomic<int> sum(0);
  const auto pop_one = [&] {
    RingItem item;
    while (ring.try_pop(item) != Status::ok) sync::pause();
    sum.fetch_add(item.number, order::relaxed);
  };
  explore::Thread first(pop_one);
  explore::Thread second(pop_one);
  test::push_all(ring, 1, 2);
  first.join();
  second.join();
  explore::check(sum.load(order::relaxed) == 3 && ring.empty(), "each item once");
}

const Scenario mpmc_one_place("mpmc_ring/one_place", [] { two_consumers(1); });
const Scenario mpmc_consumers("mpmc_ring/two_consumers", [] { two_consumers(2); });
const Scenario mpmc_producers("mpmc_ring/two_producers", [] { test::two_producers<Mpmc>(2UL); });
const test::RingScenarios<MpmcRing> mpmc_as_any_other("mpmc_ring");

// An item that cannot be made: what is behind it comes out, and its place is used again.
struct Fragile {
  Fragile() = default;
  explicit Fragile(int number) : value{1, number} {
    if (number < 0) throw std::invalid_argument("a negative one");
  }
  RingItem value;
};
template <class Ring>
bool emplace(Ring& ring, int number) {
  try {
    while (ring.try_emplace(number) == Status::full) sync::pause();
  } catch (const std::invalid_argument&) {
    return false;
  }
  return true;
}
template <class Ring>
void fails_between(std::size_t capacity, std::uint64_t position = 0) {
  test::StartedAt<Ring> ring(capacity, position);
  explore::Thread producer([&] {
    explore::check(emplace(ring, 1) && !emplace(ring, -1) && emplace(ring, 2), "one is not made");
  });
  explore::Thread closer([&] { explore::check(!emplace(ring, -1), "nor this one"); });
  for (int expected = 1; expected <= 2;) {
    Fragile item;
    if (ring.try_pop(item) == Status::ok) {
      explore::check(item.value.number == expected++, "in order");
    } else {
      sync::pause();
    }
  }
  producer.join();
  closer.join();
  ring.close();
  Fragile item;
  explore::check(ring.try_pop(item) == Status::closed, "no other");
}
using FragileMpsc = test::Audited<MpscRing<Fragile>>;
using FragileMpmc = test::Audited<MpmcRing<Fragile>>;
const Scenario mpsc_fails("mpsc_ring/item_fails", [] { fails_between<FragileMpsc>(2); });
const Scenario mpmc_fails("mpmc_ring/item_fails", [] { fails_between<FragileMpmc>(1); });
const Scenario mpmc_fails_wrap("mpmc_ring/item_fails_at_the_wrap",
                               [] { fails_between<FragileMpmc>(2, ~std::uint64_t{0} >> 2); });

// Two consumers come to a place that is to be passed over.
const Scenario passed_over("mpmc_ring/passed_over_by_two", [] {
  FragileMpmc ring(2);
  explore::check(!emplace(ring, -1) && emplace(ring, 1), "one is not made");
  int taken[2] = {0, 0};
  const auto pop = [&](int self) {
    Fragile item;
    if (ring.try_pop(item) == Status::ok) taken[self] = item.value.number;
  };
  explore::Thread other([&] { pop(1); });
  pop(0);
  other.join();
  explore::check(taken[0] + taken[1] == 1 && ring.empty(), "the item once");
  explore::check(emplace(ring, 1) && emplace(ring, 2), "both places are free");
});

}}  // namespace ticket_ring_scenarios
