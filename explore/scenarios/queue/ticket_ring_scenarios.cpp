// SPDX-License-Identifier: MIT
//
// MpscRing and MpmcRing: the scenarios of docs/design/rings.md.
#include <handoff/queue/mpmc_ring.hpp>
#include <handoff/queue/mpsc_ring.hpp>
#include <stdexcept>

#include "books/queue_books.hpp"
#include "explore/scenarios/queue/ring_scenarios.hpp"

namespace ticket_ring_scenarios { namespace {

using namespace handoff;
using sync::order;
using test::RingItem;
using test::Scenario;
using Mpsc = test::Audited<MpscRing<RingItem>>;
using Mpmc = test::Audited<MpmcRing<RingItem>>;

// Two producers race for places; the consumer sees each one's items in order.
template <class Ring>
void two_producers(std::size_t capacity, std::uint64_t position = 0) {
  test::StartedAt<Ring> ring(capacity, position);
  explore::Thread first([&] { test::push_all(ring, 1, 2); });
  explore::Thread second([&] { test::push_all(ring, 2, 1); });
  const auto last = test::pop_all(ring, 3);
  explore::check(last[1] == 2 && last[2] == 1, "each item once");
}

const Scenario mpsc_one_place("mpsc_ring/one_place", [] { two_producers<Mpsc>(1); });
const Scenario mpsc_producers("mpsc_ring/two_producers", [] { two_producers<Mpsc>(2); });
const Scenario mpsc_wrap("mpsc_ring/wrap", [] { two_producers<Mpsc>(1, ~std::uint64_t{0} >> 1); });
const Scenario mpsc_batch("mpsc_ring/batch", [] { test::batches<Mpsc>(); });
const Scenario mpsc_visitor("mpsc_ring/visitor", [] { test::visitor<Mpsc>(); });

// A close comes between two claims: what was accepted comes out, nothing comes after.
template <class Ring>
void close_races_push() {
  Ring ring(2);
  Status pushed{};
  explore::Thread producer([&] { pushed = ring.try_push(RingItem{1, 1}); });
  explore::Thread closer([&] { ring.close(); });
  const auto last = test::pop_all(ring, -1);
  explore::check(ring.closed(), "closed was said");
  producer.join();
  closer.join();
  explore::check(last[1] == (pushed == Status::ok ? 1 : 0), "accepted is delivered");
  explore::check(pushed == Status::ok || pushed == Status::closed, "there was room");
  explore::outcome(pushed == Status::ok);
}

const Scenario mpsc_close("mpsc_ring/close", [] { close_races_push<Mpsc>(); });
const Scenario mpmc_close("mpmc_ring/close", [] { close_races_push<Mpmc>(); });

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
const Scenario mpmc_producers("mpmc_ring/two_producers", [] { two_producers<Mpmc>(2); });
const Scenario mpmc_batch("mpmc_ring/batch", [] { test::batches<Mpmc>(); });
const Scenario mpmc_visitor("mpmc_ring/visitor", [] { test::visitor<Mpmc>(); });

const Scenario mpsc_left("mpsc_ring/ends_what_is_left", [] {
  test::ends_what_is_left([] { return std::make_unique<MpscRing<test::OwnedItem>>(4); });
});
const Scenario mpmc_left("mpmc_ring/ends_what_is_left", [] {
  test::ends_what_is_left([] { return std::make_unique<MpmcRing<test::OwnedItem>>(4); });
});

const Scenario mpsc_replaced("mpsc_ring/what_is_replaced_pops", [] {
  test::what_is_replaced_pops([] { return std::make_unique<MpscRing<test::PopsItem>>(2); });
});
const Scenario mpmc_replaced("mpmc_ring/what_is_replaced_pops", [] {
  test::what_is_replaced_pops([] { return std::make_unique<MpmcRing<test::PopsItem>>(2); });
});
const Scenario replaced_pushes(
    "mpmc_ring/what_is_replaced_pushes",
    [] {
      test::what_is_replaced_pushes([] { return std::make_unique<MpmcRing<test::PopsItem>>(2); });
    },
    test::Size::single);

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
