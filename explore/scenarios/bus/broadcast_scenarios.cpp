// SPDX-License-Identifier: MIT
//
// Broadcast: the scenarios of docs/design/broadcast.md. A wake-up that is lost is a deadlock here,
// and a place that is used too early a race.
#include <handoff/bus/broadcast.hpp>
#include <handoff/bus/detail/broadcast_places.hpp>
#include <handoff/bus/detail/broadcast_readers.hpp>
#include <handoff/bus/detail/parked.hpp>
#include <handoff/core/internal/rare_sleepers.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/pause.hpp>

#include "explore/scenario.hpp"
#include "explore/scenarios/bus/broadcast_followers.hpp"
#include "explore/scenarios/queue/ring_scenarios.hpp"
#include "support/started_at.hpp"

namespace broadcast_scenarios { namespace {

using namespace handoff;
using namespace test;

// Every consumer sees all, in order, and then the end.
template <class TheBroadcast>
void all_see_all(std::size_t capacity, int count, std::uint64_t position = 0) {
  test::StartedAt<TheBroadcast> broadcast(capacity, position);
  auto mine = broadcast.consumer();
  auto other = broadcast.consumer();
  explore::Thread producer([&] {
    test::push_all(broadcast, 1, count);
    broadcast.close();
    explore::check(broadcast.try_push(RingItem{1, 4}) == Status::closed, "closed is closed");
  });
  explore::Thread second([&] {
    Follower follower;
    test::follow_to_the_end(other, follower);
    explore::check(follower.seen == count, "each consumer sees all");
  });
  Follower follower;
  test::follow_to_the_end(mine, follower);
  explore::check(follower.seen == count, "each consumer sees all");
}
const Scenario one_place("broadcast/one_place", [] { all_see_all<One>(1, 2); });
const LargeScenario two_places("broadcast/two_places", [] { all_see_all<One>(2, 3); });
const Scenario one_wrap("broadcast/wrap", [] { all_see_all<One>(1, 2, kNearTheEnd + 1); });
const LargeScenario many_place("broadcast/many_one_place", [] { all_see_all<Many>(1, 2); });
const LargeScenario many_wrap("broadcast/many_wrap",
                              [] { all_see_all<Many>(1, 2, kNearTheEnd + 1); });

// Two producers and two consumers, of which this thread is one.
void two_and_two(std::size_t capacity, std::uint64_t position = 0) {
  test::StartedAt<Many> broadcast(capacity, position);
  auto mine = broadcast.consumer();
  auto other = broadcast.consumer();
  explore::Thread first([&] { test::push_all(broadcast, 1, 1); });
  explore::Thread second([&] { test::push_all(broadcast, 2, 1); });
  const auto see_two = [](auto& consumer) {
    Follower follower;
    int first_of_two = 0;
    while (follower.seen < 2) {
      if (consumer.consume([&](const RingItem& item) {
            follower(item);
            if (follower.seen == 1) first_of_two = item.producer;
          }) == 0) {
        sync::pause();
      }
    }
    return first_of_two;
  };
  int theirs = 0;
  explore::Thread reader([&] { theirs = see_two(other); });
  const int ours = see_two(mine);
  reader.join();
  explore::check(ours == theirs, "one order for all");
  explore::outcome(static_cast<std::uint64_t>(ours));
}
const LargeScenario two_by_two("broadcast/two_and_two", [] { two_and_two(2); });
const HugeScenario two_by_two_tight("broadcast/two_and_two_one_place", [] { two_and_two(1); });
const LargeScenario two_by_two_wrap("broadcast/two_and_two_wrap",
                                    [] { two_and_two(2, kNearTheEnd + 1); });

// One producer finds out that there is room, and another one relies on it.
const Scenario gate("broadcast/gate", [] {
  Many broadcast(2);
  auto consumer = broadcast.consumer();
  test::push_all(broadcast, 3, 2);
  explore::Thread first([&] { test::push_all(broadcast, 1, 1); });
  explore::Thread second([&] { test::push_all(broadcast, 2, 1); });
  Follower follower;
  test::follow(consumer, follower, 4);
});

// Nobody listens: producers lap each other, and no message is made where another one is.
const Scenario nobody("broadcast/nobody", [] {
  Many broadcast(1);
  explore::Thread first([&] { test::push_all(broadcast, 1, 2); });
  explore::Thread second([&] { test::push_waiting(broadcast, 2, 2); });
});

// B comes after A, which writes into the message: no race, and always what A wrote.
template <class TheBroadcast>
void one_after_another(std::size_t capacity, int count) {
  TheBroadcast broadcast(capacity);
  auto a = broadcast.consumer();
  auto b = broadcast.consumer({.after = {a}, .spin_for = kSleepAtOnce});
  explore::Thread producer([&] {
    test::push_all(broadcast, 1, count);
    broadcast.close();
  });
  explore::Thread first([&] {
    while (!a.closed()) {
      if (a.consume([](RingItem& item) { item.number += 10; }) == 0) sync::pause();
    }
  });
  int seen = 0;
  while (b.wait_and_consume([&](const RingItem& item) {
    explore::check(item.number == 11 + seen++, "after A");
  }) == Status::ok) {
  }
  explore::check(seen == count, "all");
}
const Scenario after_one("broadcast/after", [] { one_after_another<One>(2, 2); });
const Scenario after_many("broadcast/after_many", [] { one_after_another<Many>(1, 1); });

// The same with one place, which B makes free; A's thread is the producer.
template <class TheBroadcast>
void after_a_producer() {
  TheBroadcast broadcast(1);
  auto a = broadcast.consumer();
  auto b = broadcast.consumer({.after = {a}, .spin_for = kSleepAtOnce});
  explore::Thread first([&] {
    for (int i = 1; i <= 2; ++i) {
      explore::check(broadcast.push(RingItem{1, i}) == Status::ok, "never closed before");
      explore::check(a.consume([](RingItem& item) { item.number += 10; }) == 1, "A sees it");
    }
    broadcast.close();
  });
  int seen = 0;
  while (b.wait_and_consume([&](const RingItem& item) {
    explore::check(item.number == 11 + seen++, "after A");
  }) == Status::ok) {
  }
  explore::check(seen == 2, "all");
}
const Scenario after_tight("broadcast/after_one_place", [] { after_a_producer<One>(); });
const Scenario after_tight_many("broadcast/after_many_one_place", [] { after_a_producer<Many>(); });

// C comes after both.
const Scenario after_two("broadcast/after_two", [] {
  One broadcast(1);
  auto a = broadcast.consumer();
  auto b = broadcast.consumer();
  auto c = broadcast.consumer({.after = {a, b}, .spin_for = kSleepAtOnce});
  sync::cell<int> by_a(0);
  sync::cell<int> by_b(0);
  explore::Thread first([&] {
    while (a.consume([&](const RingItem& item) { by_a.write() = item.number; }) == 0) sync::pause();
  });
  explore::Thread second([&] {
    while (b.consume([&](const RingItem& item) { by_b.write() = item.number; }) == 0) sync::pause();
  });
  test::push_all(broadcast, 1, 1);
  const Status seen = c.wait_and_consume([&](const RingItem& item) {
    explore::check(by_a.read() == item.number && by_b.read() == item.number, "after both");
  });
  explore::check(seen == Status::ok, "it comes");
});

// B joins after A while it runs: what B sees A has written.
template <class TheBroadcast>
void joins_after() {
  TheBroadcast broadcast(2);
  auto a = broadcast.consumer();
  explore::Thread producer([&] {
    test::push_all(broadcast, 1, 3);
    broadcast.close();
  });
  const auto write = [](RingItem& item) { item.number += 10; };
  (void)a.consume(write, 1);
  auto b = broadcast.consumer({.after = {a}});
  int last = 0;
  while (!b.closed()) {
    const std::size_t written = a.consume(write);
    const std::size_t seen = b.consume([&](const RingItem& item) {
      explore::check(item.number > 10, "after A");
      explore::check(last == 0 || item.number == last + 1, "no gap");
      last = item.number;
    });
    if (written + seen == 0) sync::pause();
  }
  explore::check(last == 0 || last == 13, "up to the last");
  explore::outcome(static_cast<std::uint64_t>(last));
}
const Scenario join_after("broadcast/joins_after", [] { joins_after<One>(); });
const Scenario join_after_many("broadcast/joins_after_many", [] { joins_after<Many>(); });

// A leaves in the midst: B goes on without it.
template <class TheBroadcast>
void first_leaves() {
  TheBroadcast broadcast(2);
  auto a = broadcast.consumer();
  auto b = broadcast.consumer({.after = {a}, .spin_for = kSleepAtOnce});
  explore::Thread producer([&] {
    test::push_waiting(broadcast, 1, 3);
    broadcast.close();
  });
  explore::Thread first([&] {
    (void)a.consume([](const RingItem&) {}, 1);
    a.leave();
  });
  Follower follower;
  while (b.wait_and_consume(follower) == Status::ok) {
  }
  explore::check(follower.seen == 3, "B sees all");
}
const LargeScenario leaves("broadcast/first_leaves", [] { first_leaves<One>(); });
const LargeScenario leaves_many("broadcast/first_leaves_many", [] { first_leaves<Many>(); });

// A consumer joins beside a producer: what it sees has no gap, and ends with the last message; what
// is pushed after it joined it sees.
template <class TheBroadcast>
void joins(std::uint64_t position = 0) {
  test::StartedAt<TheBroadcast> broadcast(1, position);
  explore::Thread producer([&] {
    test::push_all(broadcast, 1, 3);
    broadcast.close();
  });
  auto consumer = broadcast.consumer();
  int last = 0;
  int seen = 0;
  while (!consumer.closed()) {
    if (consumer.consume([&](const RingItem& item) {
          explore::check(last == 0 || item.number == last + 1, "no gap");
          last = item.number;
          ++seen;
        }) == 0) {
      sync::pause();
    }
  }
  explore::check(seen == 0 || last == 3, "up to the last");
  explore::outcome(static_cast<std::uint64_t>(seen));
}
const Scenario join_one("broadcast/joins", [] { joins<One>(); });
const Scenario join_many("broadcast/joins_many", [] { joins<Many>(); });
const Scenario join_wrap("broadcast/joins_wrap", [] { joins<One>(kNearTheEnd); });
const Scenario join_many_wrap("broadcast/joins_many_wrap", [] { joins<Many>(kNearTheEnd); });

// A consumer joins where one producer relies on the room that another one found before.
const HugeScenario join_two("broadcast/joins_two_producers", [] {
  Many broadcast(1);
  explore::Thread first([&] { test::push_all(broadcast, 1, 2); });
  explore::Thread second([&] {
    test::push_all(broadcast, 2, 2);
    broadcast.close();
  });
  auto consumer = broadcast.consumer();
  std::array<int, 4> last{};
  while (!consumer.closed()) {
    if (consumer.consume([&](const RingItem& item) {
          auto& before = last[static_cast<std::size_t>(item.producer)];
          explore::check(before == 0 || item.number == before + 1, "no gap");
          before = item.number;
        }) == 0) {
      sync::pause();
    }
  }
  explore::check(last[2] == 0 || last[2] == 2, "up to the last");
  explore::outcome(static_cast<std::uint64_t>(4 * last[1] + last[2]));
});

// The only consumer leaves in its visitor: the message stays until that is over, and the producer,
// which may sleep for its place, goes on.
template <class TheBroadcast>
void leaves_inside() {
  TheBroadcast broadcast(1);
  auto consumer = broadcast.consumer({.spin_for = kSleepAtOnce});
  explore::Thread producer([&] { test::push_waiting(broadcast, 1, 3); });
  int seen = 0;
  while (consumer.wait_and_consume([&](const RingItem& item) {
    consumer.leave();
    sync::pause();
    explore::check(item.number == ++seen, "it stays as it is");
  }) == Status::ok) {
  }
  explore::check(seen == 1, "no more after that");
}
const Scenario inside("broadcast/leaves_inside", [] { leaves_inside<One>(); });
const Scenario inside_many("broadcast/leaves_inside_many", [] { leaves_inside<Many>(); });

// A visitor throws: its message counts as consumed, and nobody waits for it.
template <class TheBroadcast>
void visitor_throws() {
  TheBroadcast broadcast(1);
  auto consumer = broadcast.consumer({.spin_for = kSleepAtOnce});
  explore::Thread producer([&] {
    test::push_waiting(broadcast, 1, 2);
    broadcast.close();
  });
  int last = 0;
  for (Status status = Status::ok; status == Status::ok;) {
    try {
      status = consumer.wait_and_consume([&](const RingItem& item) {
        explore::check(item.number > last, "in order, each once");
        last = item.number;
        explore::may_throw("a visitor");
      });
    } catch (const explore::Planned&) {
    }
  }
  explore::check(last == 2, "up to the last");
}
const FailingScenario throws_one("broadcast/visitor_throws", [] { visitor_throws<One>(); });
const FailingScenario throws_many("broadcast/visitor_throws_many", [] { visitor_throws<Many>(); });
const FailingScenario throws_lossy("broadcast/visitor_throws_lossy",
                                   [] { visitor_throws<OneLossy>(); });

// A producer sleeps for want of room; the only consumer leaves, whatever it has read, and another
// one joins with its record.
template <class TheBroadcast>
void leaves_and_joins() {
  TheBroadcast broadcast(1);
  std::optional consumer(broadcast.consumer());
  explore::Thread producer([&] {
    test::push_waiting(broadcast, 1, 3);
    broadcast.close();
  });
  (void)consumer->consume([](const RingItem& item) { explore::check(item.number > 0, "whole"); });
  consumer.reset();
  auto next = broadcast.consumer();
  int last = 0;
  while (next.wait_and_consume([&](const RingItem& item) {
    explore::check(last == 0 || item.number == last + 1, "no gap");
    last = item.number;
  }) == Status::ok) {
  }
  explore::check(last == 0 || last == 3, "up to the last");
  explore::outcome(static_cast<std::uint64_t>(last));
}
const Scenario rejoin("broadcast/leaves_and_joins", [] { leaves_and_joins<One>(); });
const Scenario rejoin_many("broadcast/leaves_and_joins_many", [] { leaves_and_joins<Many>(); });

// Both sides sleep at once for each other.
template <class TheBroadcast>
void both_sleep() {
  TheBroadcast broadcast(1);
  auto consumer = broadcast.consumer({.spin_for = kSleepAtOnce});
  explore::Thread producer([&] {
    test::push_waiting(broadcast, 1, 3);
    broadcast.close();
  });
  Follower follower;
  while (consumer.wait_and_consume(follower) == Status::ok) {
  }
  explore::check(follower.seen == 3, "all");
}
const Scenario sleep_one("broadcast/both_sleep", [] { both_sleep<One>(); });
const Scenario sleep_many("broadcast/both_sleep_many", [] { both_sleep<Many>(); });

// Close under load: accepted is delivered to all, and waiting threads learn of the end.
const LargeScenario close_races("broadcast/close", [] {
  Many broadcast(1);
  auto consumer = broadcast.consumer({.spin_for = kSleepAtOnce});
  Status pushed[2] = {};
  explore::Thread first([&] { pushed[0] = broadcast.push(RingItem{1, 1}); });
  explore::Thread second([&] { pushed[1] = broadcast.push(RingItem{2, 1}); });
  explore::Thread closer([&] { broadcast.close(); });
  Follower follower;
  while (consumer.wait_and_consume(follower) == Status::ok) {
  }
  first.join();
  second.join();
  const int accepted = (pushed[0] == Status::ok ? 1 : 0) + (pushed[1] == Status::ok ? 1 : 0);
  explore::check(follower.seen == accepted, "accepted is delivered");
  explore::outcome(static_cast<std::uint64_t>(accepted));
});

// close() wakes a producer that waits for room, though no consumer makes any.
const Scenario close_ends("broadcast/close_ends_a_push", [] {
  Many broadcast(1);
  const auto consumer = broadcast.consumer();
  explore::check(broadcast.try_push(RingItem{1, 1}) == Status::ok, "there is room");
  explore::Thread closer([&] { broadcast.close(); });
  explore::check(broadcast.push(RingItem{1, 2}) == Status::closed, "full until the end");
});

const Scenario closed_is_seen("broadcast/closed_is_seen", [] {
  Many broadcast(1);
  sync::cell<int> before_close(0);
  explore::Thread closer([&] {
    before_close.write() = 1;
    broadcast.close();
  });
  if (broadcast.closed()) explore::check(before_close.read() == 1, "what the closer did");
});

// A claim that was given before the end is published, or given up, after it: a waiting consumer
// learns of the end then, and not before.
const Scenario claim_and_close("broadcast/claim_outlives_close", [] {
  Many broadcast(1);
  auto consumer = broadcast.consumer({.spin_for = kSleepAtOnce});
  const bool is_published = explore::any_of(2) == 1;
  int published = 0;
  explore::Thread claimer([&] {
    auto claim = broadcast.claim();
    explore::check(claim.status() == (claim ? Status::ok : Status::closed), "it says why");
    if (!claim) return;
    claim.emplace(RingItem{1, 1});
    if (!is_published) return;
    ++published;
    claim.publish();
  });
  explore::Thread closer([&] { broadcast.close(); });
  Follower follower;
  while (consumer.wait_and_consume(follower) == Status::ok) {
  }
  claimer.join();
  explore::check(follower.seen == published, "accepted is delivered");
  explore::outcome(static_cast<std::uint64_t>(published));
});

// Nobody listens, and a producer waits for a claim of one lap before, which is given up.
const Scenario dropped_wakes("broadcast/claim_dropped_before_a_sleeper", [] {
  Many broadcast(1);
  explore::Thread dropper([&] {
    auto claim = broadcast.try_claim();
    if (claim) claim.emplace(RingItem{2, 1});
  });
  test::push_waiting(broadcast, 1, 2);
});

// A claim that is given up is skipped by all, and its place serves again.
const Scenario dropped("broadcast/claim_dropped", [] {
  Many broadcast(2);
  auto consumer = broadcast.consumer();
  explore::Thread dropper([&] {
    auto claim = broadcast.claim(2);
    claim.emplace(RingItem{3, 1});
    claim.drop();
  });
  explore::Thread producer([&] { test::push_all(broadcast, 1, 2); });
  Follower follower;
  test::follow(consumer, follower, 2);
  dropper.join();
  producer.join();
  (void)consumer.consume([](const RingItem&) { explore::check(false, "nothing was published"); });
  explore::check(consumer.behind() == 0, "none is left");
});

// A claim of two of which one is filled; a batch beside it.
const Scenario batches("broadcast/batches", [] {
  Many broadcast(2);
  auto consumer = broadcast.consumer();
  explore::Thread claimer([&] {
    auto claim = broadcast.claim(2);
    claim.emplace(RingItem{1, 1});
    claim.publish();
  });
  explore::Thread producer([&] {
    std::array<RingItem, 2> items{RingItem{2, 1}, RingItem{2, 2}};
    for (std::span<RingItem> rest = items; !rest.empty();) {
      const std::size_t pushed = broadcast.try_push_batch(rest);
      rest = rest.subspan(pushed);
      if (pushed == 0) sync::pause();
    }
  });
  Follower follower;
  test::follow(consumer, follower, 3);
});

}}  // namespace broadcast_scenarios
