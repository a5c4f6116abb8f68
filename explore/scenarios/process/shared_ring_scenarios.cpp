// SPDX-License-Identifier: MIT
//
// SharedRing and its ends: the scenarios of docs/design/shared_ring.md.
#include <handoff/process/detail/shared_bell.hpp>
#include <handoff/process/detail/shared_ends.hpp>
#include <handoff/process/detail/shared_ring_head.hpp>
#include <handoff/process/shared_ring.hpp>
#include <handoff/sync/stop_token.hpp>

#include "explore/scenarios/process/shared_ring_programs.hpp"
#include "explore/scenarios/process/shared_storage.hpp"

namespace shared_ring_scenarios { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using explore::check;
using explore::Process;
using explore::Thread;
using namespace test;
using Ring = SharedRing<SharedItem>;
using Shared = test::Shared<Ring>;

// Pops until the ring is closed; how many came, in order from `first` on.
std::uint32_t pop_all(Ring::Consumer& in, std::uint32_t first = 1) {
  std::uint32_t count = 0;
  SharedItem item;
  while (in.pop(item) == Status::ok) check(number_of(item) == first + count++, "in order");
  check(!in.damaged(), "nobody lied");
  return count;
}

// A producer that attaches by itself.
void push_two(Shared& shared) {
  Ring ring = Ring::attach(shared.storage.bytes());
  Ring::Producer out(ring);
  test::push_numbers(out, 1, 2);
  ring.close();
}

const test::SharedRingScenarios<test::OneProducer> as_any_other("shared_ring");

// An alarm's thread sleeps in the place of the consumer.
const Scenario watched("shared_ring/watched", [] {
  Shared shared(1UL);
  Thread producer([&] { push_two(shared); });
  Ring::Consumer in(shared.ring);
  check(test::take_all_by_watch(in, SharedItem{}) == 2, "each item once");
});

// Calls that do not wait, over a whole lap.
const Scenario tries("shared_ring/tries", [] {
  Shared shared(1UL);
  Thread producer([&] {
    Ring::Producer out(shared.ring);
    std::uint32_t pushed = 0;
    for (int i = 0; i < 3; ++i) {
      const Status said = out.try_push(shared_item(pushed + 1));
      check(said == Status::ok || said == Status::full, "not closed");
      pushed += said == Status::ok;
    }
    check(pushed >= 1, "there was room for the first");
  });
  Ring::Consumer in(shared.ring);
  SharedItem item;
  std::uint32_t popped = 0;
  for (int i = 0; i < 3; ++i) {
    const Status said = in.try_pop(item);
    check(said == Status::ok || said == Status::empty, "not closed");
    if (said == Status::ok) check(number_of(item) == ++popped, "in order");
    check(shared.ring.size() <= 1, "a size between the bounds");
  }
  explore::outcome(popped);
});

// What lies in a place is written and read there.
const Scenario in_place("shared_ring/in_place", [] {
  Shared shared(1UL);
  Thread producer([&] {
    Ring::Producer out(shared.ring);
    for (std::uint32_t i = 1; i <= 2; ++i) claim_and_publish(out, i);
  });
  Ring::Consumer in(shared.ring);
  for (std::uint32_t i = 1; i <= 2; ++i) peek_and_release(in, i);
});

const Scenario batches("shared_ring/batches", [] {
  Shared shared(2UL);
  Thread producer([&] {
    Ring::Producer out(shared.ring);
    const SharedItem items[] = {shared_item(1), shared_item(2), shared_item(3)};
    std::size_t count = out.try_push_batch(items);
    check(count == 2, "as many as have room");
    count += out.try_push_batch(std::span(items).subspan(count));
    shared.ring.close();
    explore::outcome(count);
  });
  Ring::Consumer in(shared.ring);
  std::uint32_t next = 1;
  (void)in.consume([&](const SharedItem& item) { check(number_of(item) == next++, "in order"); });
  SharedItem two[2];
  for (std::size_t count = in.try_pop_batch(two), i = 0; i < count; ++i) {
    check(number_of(two[i]) == next++, "in order");
  }
  next += pop_all(in, next);
  check(next == 3 || next == 4, "what was pushed");
});

// Somebody else closes at any moment: what was accepted comes out, and what was not does not.
const Scenario close_beside("shared_ring/close_beside", [] {
  Shared shared(2UL);
  std::uint32_t accepted = 0;
  Thread producer([&] {
    Ring::Producer out(shared.ring);
    accepted += out.push(shared_item(1)) == Status::ok;
    accepted += out.push(shared_item(2)) == Status::ok;
  });
  Thread closer([&] { shared.ring.close(); });
  Ring::Consumer in(shared.ring);
  const std::uint32_t delivered = pop_all(in);
  producer.join();
  check(delivered == accepted, "accepted is delivered, refused is not");
  Ring::Consumer successor(shared.ring);
  check(pop_all(successor) == 0, "what was refused is not there for a successor either");
  explore::outcome(delivered);
});

// The consumer gives up while the producer waits for room.
const Scenario close_while_full("shared_ring/close_while_full", [] {
  Shared shared(1UL);
  std::uint32_t accepted = 0;
  Thread producer([&] {
    Ring::Producer out(shared.ring);
    accepted += out.push(shared_item(1)) == Status::ok;
    accepted += out.push(shared_item(2)) == Status::ok;
  });
  Ring::Consumer in(shared.ring);
  shared.ring.close();
  const std::uint32_t delivered = pop_all(in);
  producer.join();
  check(delivered == accepted, "accepted is delivered");
});

// A third one looks on.
const Scenario observer("shared_ring/observer", [] {
  Shared shared(2UL);
  Thread producer([&] {
    Ring::Producer out(shared.ring);
    check(out.push(shared_item(1)) == Status::ok, "there is room");
  });
  Thread looker([&] {
    const std::size_t size = shared.ring.size();
    check(size <= 1, "never more than were pushed");
    explore::outcome(size);
  });
  Ring::Consumer in(shared.ring);
  SharedItem item;
  (void)in.try_pop(item);
});

// A close tells what came before it.
const Scenario close_tells("shared_ring/close_tells", [] {
  Shared shared(1UL);
  int before = 0;
  Thread closer([&] {
    before = 1;
    shared.ring.close();
  });
  if (shared.ring.closed()) check(before == 1, "what the closer did is visible");
});

const Scenario stop("shared_ring/stop", [] {
  Shared shared(1UL);
  sync::StopSource source;
  Thread stopper([&] { source.request_stop(); });
  Ring::Consumer in(shared.ring);
  SharedItem item;
  check(in.pop(item, source.token()) == Status::stopped, "nothing else ends it");
});

const Scenario time_out("shared_ring/time_out", [] {
  Shared shared(1UL);
  Thread producer([&] {
    Ring::Producer out(shared.ring);
    check(out.push(shared_item(1)) == Status::ok, "there is room");
    const Status said = out.push(shared_item(2), 1ms);
    check(said == Status::ok || said == Status::timed_out, "no more than that");
    shared.ring.close();
  });
  Ring::Consumer in(shared.ring);
  SharedItem item;
  const Status said = in.pop(item, 1ms);
  check(said == Status::ok || said == Status::timed_out, "no more than that");
  const std::uint32_t first = said == Status::ok ? 2 : 1;
  explore::outcome(first + pop_all(in, first));
});

// --- Deaths. ---

// Dies anywhere. The consumer may sleep meanwhile, and the dead one may have been about to wake it.
const MortalScenario<> producer_dies("shared_ring/producer_dies", [] {
  Shared shared(2UL);
  bool is_dead = false;
  Thread parent([&] {
    Process process([&] {
      Ring::Producer out(shared.ring);
      SharedItem* place = nullptr;
      check(out.claim(place) == Status::ok, "there is room");
      *place = shared_item(1);
      check(out.publish() == Status::ok, "not closed");
      check(out.push(shared_item(2)) == Status::ok, "there is room");
      shared.ring.close();
    });
    is_dead = process.wait();
    if (is_dead) shared.ring.producer_died();
  });
  Ring::Consumer in(shared.ring);
  const std::uint32_t count = pop_all(in);
  parent.join();
  check(is_dead || count == 2, "nothing is lost of one that lives");
  explore::outcome(count);
});

// The maker dies, or is slow: a process that comes too early is refused.
const MortalScenario<> half_made("shared_ring/half_made", [] {
  const test::SharedStorage storage(Ring::bytes_for(1));
  Process maker([&] { (void)Ring::create(storage.bytes(), 1); });
  bool attached = false;
  try {
    Ring::Consumer in(Ring::attach(storage.bytes()));
    SharedItem item;
    check(in.try_pop(item) == Status::empty, "whole");
    attached = true;
  } catch (const std::system_error&) {
  }
  explore::outcome(attached);
});

}}  // namespace shared_ring_scenarios
