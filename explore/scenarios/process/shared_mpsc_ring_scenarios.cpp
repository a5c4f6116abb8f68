// SPDX-License-Identifier: MIT
//
// SharedMpscRing and its tickets: the scenarios of docs/design/shared_ring.md.
#include <handoff/process/detail/shared_tickets.hpp>
#include <handoff/process/shared_mpsc_ring.hpp>

#include "books/process_books.hpp"
#include "explore/scenarios/process/shared_ring_programs.hpp"
#include "explore/scenarios/process/shared_storage.hpp"

namespace shared_mpsc_ring_scenarios { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using explore::check;
using explore::Process;
using explore::Thread;
using namespace test;
using Ring = SharedMpscRing<SharedItem>;
using Shared = test::Shared<Ring>;

// Which items came, a bit each; none twice.
std::uint32_t pop_all(Ring::Consumer& in) {
  std::uint32_t seen = 0;
  SharedItem item;
  while (in.pop(item) == Status::ok) {
    const std::uint32_t bit = 1U << number_of(item);
    check((seen & bit) == 0, "each item once");
    seen |= bit;
  }
  check(!in.damaged(), "nobody lied");
  return seen;
}

// Two producers that wait for room, and a consumer that waits for items.
void two_to_one(std::size_t capacity) {
  Shared shared(capacity, 2UL);
  Thread first([&] {
    Ring::Producer out(Ring::attach(shared.storage.bytes()), 0);
    check(out.push(shared_item(1)) == Status::ok, "it waits for room");
  });
  Thread second([&] {
    Ring::Producer out(Ring::attach(shared.storage.bytes()), 1);
    check(out.push(shared_item(2)) == Status::ok, "it waits for room");
  });
  Ring::Consumer in(Ring::attach(shared.storage.bytes()));
  SharedItem item;
  std::uint32_t sum = 0;
  for (int i = 0; i < 2; ++i) {
    check(in.pop(item) == Status::ok, "it comes");
    sum += number_of(item);
  }
  check(sum == 3, "each once");
  explore::outcome(item.number);
}
const test::SharedRingScenarios<test::ManyProducers> as_any_other("shared_mpsc_ring");
const Scenario one_place("shared_mpsc_ring/one_place", [] { two_to_one(1); });
const Scenario two_places("shared_mpsc_ring/two_places", [] { two_to_one(2); });

// An alarm's thread sleeps in the place of the consumer, also beside a place that is dropped.
const Scenario watched("shared_mpsc_ring/watched", [] {
  Shared shared(1UL, 1UL);
  Thread producer([&] {
    Ring ring = Ring::attach(shared.storage.bytes());
    Ring::Producer out(ring, 0);
    SharedItem* place = nullptr;
    check(out.try_claim(place) == Status::ok, "there is room");
    out.drop();
    check(out.push(shared_item(1)) == Status::ok, "it waits for room");
    ring.close();
  });
  Ring::Consumer in(shared.ring);
  check(test::take_all_by_watch(in, SharedItem{}) == 1, "each item once");
});

// Two producers wait for the one place, and both get it.
const Scenario two_wait_for_room("shared_mpsc_ring/two_wait_for_room", [] {
  Shared shared(1UL, 2UL);
  Ring::Producer filler(shared.ring, 0);
  check(filler.try_push(shared_item(1)) == Status::ok, "there is room");
  Thread first([&] { check(filler.push(shared_item(2)) == Status::ok, "it waits for room"); });
  Thread second([&] {
    Ring::Producer out(shared.ring, 1);
    check(out.push(shared_item(3)) == Status::ok, "it waits for room");
  });
  Ring::Consumer in(shared.ring);
  SharedItem item;
  std::uint32_t sum = 0;
  for (int i = 0; i < 3; ++i) {
    check(in.pop(item) == Status::ok, "it comes");
    sum += number_of(item);
  }
  check(sum == 6, "each once");
});

const Scenario in_place("shared_mpsc_ring/in_place", [] {
  Shared shared(2UL, 2UL);
  Thread dropper([&] {
    Ring::Producer out(shared.ring, 0);
    SharedItem* place = nullptr;
    check(out.claim(place) == Status::ok, "there is room");
    place->number = 7;
    out.drop();
  });
  Thread producer([&] {
    Ring::Producer out(shared.ring, 1);
    for (std::uint32_t i = 1; i <= 2; ++i) claim_and_publish(out, i);
  });
  Ring::Consumer in(shared.ring);
  for (std::uint32_t i = 1; i <= 2; ++i) peek_and_release(in, i);
});

// A close at any moment: what was accepted comes out.
const Scenario close_beside("shared_mpsc_ring/close_beside", [] {
  Shared shared(2UL, 2UL);
  std::uint32_t accepted[2] = {};
  Thread first([&] {
    Ring::Producer out(shared.ring, 0);
    if (out.push(shared_item(1)) == Status::ok) accepted[0] = 2;
  });
  Thread second([&] {
    Ring::Producer out(shared.ring, 1);
    if (out.push(shared_item(2)) == Status::ok) accepted[1] = 4;
    shared.ring.close();
  });
  Ring::Consumer in(shared.ring);
  const std::uint32_t delivered = pop_all(in);
  first.join();
  second.join();
  check(delivered == accepted[0] + accepted[1], "accepted is delivered, and nothing else");
  explore::outcome(delivered);
});

// A batch beside one that pushes alone: each of its claims comes out in one piece.
void batch_beside(std::size_t capacity) {
  Shared shared(capacity, 2UL);
  std::uint32_t pushed = 0;
  Thread first([&] {
    Ring::Producer out(Ring::attach(shared.storage.bytes()), 0);
    const SharedItem items[] = {shared_item(1), shared_item(2)};
    pushed = static_cast<std::uint32_t>(out.try_push_batch(items));
  });
  Thread second([&] {
    Ring::Producer out(shared.ring, 1);
    check(out.push(shared_item(3)) == Status::ok, "it waits for room");
  });
  Ring::Consumer in(shared.ring);
  SharedItem item;
  check(in.pop(item) == Status::ok, "it comes");
  std::uint32_t seen = 1U << number_of(item);
  first.join();
  second.join();
  SharedItem rest[3];
  const std::size_t count = in.try_pop_batch(rest);
  check(count == pushed, "all have come");
  for (std::size_t i = 0; i < count; ++i) {
    check(number_of(rest[i]) != 2 || (seen & 2) != 0, "in order");
    seen |= 1U << number_of(rest[i]);
  }
  const std::uint32_t wanted[] = {8, 8 | 2, 8 | 2 | 4};
  check(seen == wanted[pushed], "each once");
  test::audit(shared.ring);
  explore::outcome(pushed);
}
const Scenario batch_of_two("shared_mpsc_ring/batch", [] { batch_beside(2); });
const Scenario batch_and_more("shared_mpsc_ring/batch_and_more", [] { batch_beside(4); });

// Two batches, over laps of two places, and what takes them in one go.
const Scenario batches("shared_mpsc_ring/batches", [] {
  Shared shared(2UL, 2UL);
  std::uint32_t pushed = 0;
  Thread first([&] {
    Ring::Producer out(shared.ring, 0);
    const SharedItem items[] = {shared_item(1), shared_item(2)};
    pushed += static_cast<std::uint32_t>(out.try_push_batch(items));
    pushed += static_cast<std::uint32_t>(out.try_push_batch(items));
  });
  Ring::Consumer in(shared.ring);
  SharedItem found[2];
  std::size_t count = 0;
  for (int i = 0; i < 2; ++i) {
    const std::size_t now = in.try_pop_batch(found);
    for (std::size_t k = 0; k < now; ++k) (void)number_of(found[k]);
    count += now;
  }
  first.join();
  for (SharedItem item; in.try_pop(item) == Status::ok; ++count) (void)number_of(item);
  check(count == pushed, "each once");
  test::audit(shared.ring);
  explore::outcome(pushed);
});

// --- Deaths. ---

// Dies anywhere amid a batch. All of it comes out, or nothing, and what was pushed behind it.
const MortalScenario<> batch_dies("shared_mpsc_ring/batch_dies", [] {
  Shared shared(4UL, 2UL);
  bool is_dead = false;
  Thread parent([&] {
    {
      Process process([&] {
        Ring::Producer out(shared.ring, 0);
        const SharedItem items[] = {shared_item(1), shared_item(2)};
        check(out.try_push_batch(items) == 2, "there is room");
      });
      is_dead = process.wait();
    }
    if (is_dead) (void)shared.ring.producer_died(0);
    Ring::Producer successor(shared.ring, 0);
    check(successor.push(shared_item(3)) == Status::ok, "there is room");
    shared.ring.close();
  });
  Ring::Consumer in(shared.ring);
  const std::uint32_t seen = pop_all(in);
  parent.join();
  check(seen == 8 || seen == (2 | 4 | 8), "all of the batch or nothing, and the successor's");
  check(is_dead || seen != 8, "nothing is lost of one that lives");
  test::audit(shared.ring);
  explore::outcome(seen);
});

// Dies anywhere, with a place claimed or not, `tail` moved on or not, its consumer asleep or not.
// What another one has pushed behind it comes out once its death is known.
const MortalScenario<1, Size::large> producer_dies("shared_mpsc_ring/producer_dies", [] {
  Shared shared(2UL, 2UL);
  bool is_dead = false;
  Thread parent([&] {
    {
      Process process([&] {
        Ring::Producer out(shared.ring, 0);
        check(out.push(shared_item(1)) == Status::ok, "it waits for room");
      });
      is_dead = process.wait();
    }
    if (is_dead) (void)shared.ring.producer_died(0);
    Ring::Producer successor(shared.ring, 0);
    check(successor.push(shared_item(3)) == Status::ok, "it waits for room");
    shared.ring.close();
  });
  Thread living([&] {
    Ring::Producer out(shared.ring, 1);
    const Status said = out.push(shared_item(2));
    check(said == Status::ok || said == Status::closed, "nothing else ends it");
    explore::outcome(said == Status::ok);
  });
  Ring::Consumer in(shared.ring);
  const std::uint32_t seen = pop_all(in);
  parent.join();
  check((seen & 8) != 0, "the successor's came");
  check(is_dead || (seen & 2) != 0, "nothing is lost of one that lives");
});

// One that has ended with a place claimed and half written. Another one writes there next.
const Scenario buried("shared_mpsc_ring/buried", [] {
  Shared shared(1UL, 2UL);
  Thread parent([&] {
    Thread ended([&] {
      auto* const out = new Ring::Producer(shared.ring, 0);  // the end of a process ends nothing
      SharedItem* place = nullptr;
      check(out->claim(place) == Status::ok, "it waits for room");
      place->number = 9;
    });
    ended.join();
    check(shared.ring.producer_died(0) == 1, "its place is found");
  });
  Thread living([&] {
    Ring::Producer out(shared.ring, 1);
    check(out.push(shared_item(2)) == Status::ok, "it waits for room");
  });
  Ring::Consumer in(shared.ring);
  SharedItem item;
  check(in.pop(item) == Status::ok, "it comes");
  check(number_of(item) == 2, "and nothing that was not published");
});

}}  // namespace shared_mpsc_ring_scenarios
