// SPDX-License-Identifier: MIT
//
// MessageRing, by itself: the scenarios of docs/design/message_bus.md that need no bus around it.
#include <handoff/bus/bus_policies.hpp>
#include <handoff/bus/detail/message_ring.hpp>
#include <handoff/bus/detail/message_slot.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/fence.hpp>
#include <handoff/sync/internal/pause.hpp>

#include "books/bus_books.hpp"
#include "explore/scenario.hpp"

namespace message_ring_scenarios { namespace {

using namespace handoff;
using test::Scenario;

struct Item {
  int producer = 0;
  int number = 0;
};
using Slot = detail::MessageSlot<BusPolicies, Item>;
using Ring = detail::MessageRing<Slot>;

// The ring and its places.
class Rung {
 public:
  explicit Rung(std::int64_t capacity, std::uint64_t start = 0)
      : Rung(capacity, {{capacity, capacity, capacity}}, start) {}
  Rung(std::int64_t capacity, const detail::AdmissionLimits& limits, std::uint64_t start = 0)
      : ring(places_.data(), static_cast<std::size_t>(capacity), limits, false, start) {}
  ~Rung() noexcept(false) { test::audit(ring); }

 private:
  alignas(Slot) std::array<std::byte, 4 * sizeof(Slot)> places_;

 public:
  Ring ring;
};

void fill(Ring& ring, Ring::Ticket ticket, Item item) {
  detail::MessageBox<Item, false> box;
  ring.slot(ticket).construct<Item>(box, item);
  ring.publish(ticket, Ring::mark_of(0));
}

template <bool kAlone>
Ring::Claim claim(Ring& ring, std::size_t most) {
  if constexpr (kAlone) return ring.claim_alone(most, Admission::normal);
  return ring.claim_among(most, Admission::normal);
}

template <bool kAlone>
void push_all(Ring& ring, int producer, int count) {
  for (int number = 1; number <= count; ++number) {
    Ring::Claim got = claim<kAlone>(ring, 1);
    for (; got.count == 0; got = claim<kAlone>(ring, 1)) sync::pause();
    fill(ring, got.first, {producer, number});
  }
}

// Takes so many; the last of each producer.
std::array<int, 4> take_all(Ring& ring, int count) {
  std::array<int, 4> last{};
  for (int taken = 0; taken < count;) {
    const Ring::Ticket head = ring.head();
    if (ring.mark_at(head) == Ring::kNothing) {
      sync::pause();
      continue;
    }
    const Item item = ring.slot(head).value<Item>();
    int& before = last.at(static_cast<std::size_t>(item.producer));
    explore::check(item.number == before + 1, "each producer's come in order");
    before = item.number;
    ring.slot(head).destroy<Item>();
    ring.give_back(head + 2);
    ++taken;
  }
  return last;
}

void two_producers(std::int64_t capacity, std::uint64_t start = 0) {
  Rung rung(capacity, start);
  explore::Thread first([&] { push_all<false>(rung.ring, 1, 2); });
  explore::Thread second([&] { push_all<false>(rung.ring, 2, 1); });
  const auto last = take_all(rung.ring, 3);
  first.join();
  second.join();
  explore::check(last[1] == 2 && last[2] == 1, "each once");
}
const Scenario one_place("message_ring/one_place", [] { two_producers(1); });
const Scenario two_places("message_ring/two_producers", [] { two_producers(2); });
const Scenario wrap_low("message_ring/wrap_32",
                        [] { two_producers(1, (std::uint64_t{1} << 32) - 2); });
const Scenario wrap_state("message_ring/wrap_48",
                          [] { two_producers(2, (std::uint64_t{1} << 48) - 2); });
const Scenario wrap_high("message_ring/wrap_64", [] { two_producers(1, ~std::uint64_t{0} - 1); });

const Scenario three(
    "message_ring/three_producers",
    [] {
      Rung rung(2);
      explore::Thread first([&] { push_all<false>(rung.ring, 1, 1); });
      explore::Thread second([&] { push_all<false>(rung.ring, 2, 1); });
      explore::Thread third([&] { push_all<false>(rung.ring, 3, 1); });
      const auto last = take_all(rung.ring, 3);
      explore::check(last[1] == 1 && last[2] == 1 && last[3] == 1, "each once");
    },
    test::Size::large);

void one_producer(std::int64_t capacity, std::uint64_t start = 0) {
  Rung rung(capacity, start);
  explore::Thread producer([&] { push_all<true>(rung.ring, 1, 3); });
  explore::check(take_all(rung.ring, 3)[1] == 3, "each once");
}
const Scenario lane_one("message_ring/lane_of_one", [] { one_producer(1); });
const Scenario lane_two("message_ring/lane_of_two", [] { one_producer(2); });
const Scenario lane_wrap("message_ring/lane_wrap", [] { one_producer(1, ~std::uint64_t{0}); });

// A batch is claimed as far as there is room, and comes in a row.
template <bool kAlone>
void batches() {
  Rung rung(2);
  explore::Thread producer([&] {
    for (int number = 1; number <= 3;) {
      const Ring::Claim got = claim<kAlone>(rung.ring, static_cast<std::size_t>(4 - number));
      for (std::size_t i = 0; i < got.count; ++i) fill(rung.ring, got.first + 2 * i, {1, number++});
      if (got.count == 0) sync::pause();
    }
  });
  explore::check(take_all(rung.ring, 3)[1] == 3, "each once");
}
const Scenario batch("message_ring/batch", [] { batches<false>(); });
const Scenario lane_batch("message_ring/lane_batch", [] { batches<true>(); });

// Room that a producer has been told of is never denied, whatever it has seen before.
template <bool kAlone>
void told_of_room() {
  Rung rung(1);
  sync::atomic<bool> told(false);
  push_all<kAlone>(rung.ring, 1, 1);
  explore::check(claim<kAlone>(rung.ring, 1).refused == Status::full, "it is full");
  explore::Thread consumer([&] {
    (void)take_all(rung.ring, 1);
    told.store(true, sync::order::release);  // order: release pairs with the acquire below
  });
  // order: acquire pairs with the release above.
  const bool knows = told.load(sync::order::acquire);
  const Ring::Claim got = claim<kAlone>(rung.ring, 1);
  explore::check(got.count == 1 || !knows, "there is room");
  explore::outcome(2U * (knows ? 1U : 0U) + got.count);
  consumer.join();
  if (got.count == 0) return;
  fill(rung.ring, got.first, {1, 2});
  explore::check(rung.ring.mark_at(rung.ring.head()) == Ring::mark_of(0), "it is there");
}
const Scenario room("message_ring/room", [] { told_of_room<false>(); });
const Scenario lane_room("message_ring/lane_room", [] { told_of_room<true>(); });

// Two producers, the second of which knows the room only from the first one's look at the head.
const Scenario passed_on("message_ring/room_passed_on", [] {
  Rung rung(2);
  push_all<false>(rung.ring, 1, 2);
  explore::Thread first([&] { push_all<false>(rung.ring, 2, 1); });
  explore::Thread second([&] { push_all<false>(rung.ring, 3, 1); });
  const auto last = take_all(rung.ring, 4);
  explore::check(last[1] == 2 && last[2] == 1 && last[3] == 1, "each once");
});

// Nor is room denied that others have used again: a thread that sees their claims sees what they
// saw.
const Scenario of_others("message_ring/room_of_others", [] {
  Rung rung(2);
  explore::Thread other([&] {
    push_all<false>(rung.ring, 1, 1);
    (void)take_all(rung.ring, 1);
    const Ring::Claim again = claim<false>(rung.ring, 1);
    explore::check(again.count == 1, "each has one at most");
    fill(rung.ring, again.first, {1, 2});
  });
  const Ring::Claim got = claim<false>(rung.ring, 1);
  explore::check(got.count == 1, "each has one at most");
  fill(rung.ring, got.first, {2, 1});
  other.join();
  explore::check(rung.ring.depth() == 2, "two are there");
});

// Two classes: the one with less room comes first, or is refused.
const Scenario admission("message_ring/admission", [] {
  Rung rung(2, {{2, 2, 1}});
  const auto put = [&](Admission admission, Item item) {
    const Ring::Claim got = rung.ring.claim_among(1, admission);
    if (got.count != 0) fill(rung.ring, got.first, item);
    return got;
  };
  Ring::Claim low;
  explore::Thread other([&] { low = put(Admission::low, {1, 1}); });
  const Ring::Claim first = put(Admission::urgent, {2, 1});
  const Ring::Claim second = put(Admission::urgent, {2, 2});
  other.join();
  explore::check(first.count == 1, "there is room for one of each");
  explore::check((low.count == 1) == (low.first == 0), "it gets in where nothing waits");
  explore::check(second.count != low.count, "all places are used, and none twice");
  explore::outcome(low.count);
});

// A close beside claims: what was claimed before is the last there is.
const Scenario closed_among("message_ring/close", [] {
  Rung rung(2);
  bool claimed = false;
  explore::Thread producer([&] {
    const Ring::Claim got = rung.ring.claim_among(1, Admission::normal);
    explore::check((got.count != 0) != (got.refused == Status::closed), "there is room");
    if (got.count == 0) return;
    claimed = true;
    fill(rung.ring, got.first, {1, 1});
  });
  rung.ring.close_among();
  const std::uint64_t there = rung.ring.claimed();
  producer.join();
  explore::check(rung.ring.claimed() == there, "none is claimed after the close");
  explore::check(there == (claimed ? 1U : 0U), "what was claimed is counted");
  if (claimed) (void)take_all(rung.ring, 1);
  explore::outcome(claimed);
});

// In a lane the close is a flag and a heavy fence: a claim that it does not see is taken back.
const Scenario closed_alone("message_ring/lane_close", [] {
  Rung rung(2);
  bool claimed = false;
  explore::Thread producer([&] {
    const Ring::Claim got = rung.ring.claim_alone(1, Admission::normal);
    if (got.count == 0) return;
    claimed = true;
    fill(rung.ring, got.first, {1, 1});
  });
  rung.ring.close_alone();
  sync::asymmetric_fence_heavy();
  const bool drained = rung.ring.drained();
  producer.join();
  explore::check(!drained || !claimed, "drained once closed is drained for good");
  explore::check(rung.ring.claimed() == (claimed ? 1U : 0U), "what was taken back was none");
  if (claimed) (void)take_all(rung.ring, 1);
  explore::outcome(2U * (drained ? 1U : 0U) + (claimed ? 1U : 0U));
});

}}  // namespace message_ring_scenarios
