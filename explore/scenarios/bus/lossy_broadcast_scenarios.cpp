// SPDX-License-Identifier: MIT
//
// Broadcasts whose slow consumers lose the oldest messages: the scenarios of
// docs/design/broadcast.md. What is read while it is written over is a race.
#include <handoff/bus/broadcast.hpp>
#include <handoff/sync/internal/pause.hpp>

#include "explore/scenario.hpp"
#include "explore/scenarios/bus/broadcast_followers.hpp"
#include "explore/scenarios/queue/ring_scenarios.hpp"
#include "support/started_at.hpp"

namespace lossy_broadcast_scenarios { namespace {

using namespace handoff;
using namespace test;

// The oldest are lost: what comes is in order, and what came and what was lost is all there was.
template <class TheBroadcast>
void loses(std::size_t capacity, std::uint64_t position = 0) {
  test::StartedAt<TheBroadcast> broadcast(capacity, position);
  auto consumer = broadcast.consumer();
  explore::Thread producer([&] {
    test::push_all(broadcast, 1, 3);
    broadcast.close();
  });
  Follower follower{.gaps = true};
  test::follow_to_the_end(consumer, follower);
  explore::check(follower.last[1] == 3 && follower.seen >= 1, "the newest is never lost");
  explore::check(follower.seen + static_cast<int>(consumer.lost()) == 3, "it is told how many");
  explore::outcome(static_cast<std::uint64_t>(follower.seen));
}
const Scenario loses_one("broadcast/loses_one_place", [] { loses<OneLossy>(1); });
const Scenario loses_two("broadcast/loses_two_places", [] { loses<OneLossy>(2); });
const Scenario loses_wrap("broadcast/loses_wrap", [] { loses<OneLossy>(2, kNearTheEnd); });
const Scenario loses_many("broadcast/loses_many", [] { loses<ManyLossy>(1); });
const Scenario loses_many_two("broadcast/loses_many_two_places", [] { loses<ManyLossy>(2); });
const Scenario loses_many_wrap("broadcast/loses_many_wrap",
                               [] { loses<ManyLossy>(1, kNearTheEnd); });

// Claims of which some places are given up, where the oldest are lost; and nothing comes in a call
// after what was said to be its end.
const Scenario lossy_claims("broadcast/loses_claims", [] {
  ManyLossy broadcast(2);
  auto consumer = broadcast.consumer();
  explore::Thread producer([&] {
    auto claim = broadcast.claim(2);
    claim.emplace(RingItem{1, 1});
    claim.publish();
    for (int i = 2; i <= 3; ++i) {
      explore::check(broadcast.push(RingItem{1, i}) == Status::ok, "never closed before");
    }
    broadcast.close();
  });
  int last = 0;
  int seen = 0;
  while (!consumer.closed()) {
    bool ended = false;
    if (consumer.consume([&](const RingItem& item, std::uint64_t, bool end_of_batch) {
          explore::check(item.number > last, "in order");
          explore::check(!ended, "nothing after the end");
          ended = end_of_batch;
          last = item.number;
          ++seen;
        }) == 0) {
      sync::pause();
    }
  }
  explore::check(last == 3, "the newest is never lost");
  const int lost = static_cast<int>(consumer.lost());
  explore::check(seen + lost == 3 || seen + lost == 4, "three, and perhaps the dropped one");
  explore::outcome(static_cast<std::uint64_t>(8 * seen + lost));
});

// A visitor leaves, which has a copy.
const Scenario inside_lossy("broadcast/leaves_inside_lossy", [] {
  OneLossy broadcast(1);
  auto consumer = broadcast.consumer();
  explore::Thread producer([&] { test::push_all(broadcast, 1, 3); });
  int seen = 0;
  while (!consumer.closed()) {
    if (consumer.consume([&](const RingItem& item) {
          explore::check(item.number > 0, "whole");
          consumer.leave();
          ++seen;
        }) == 0) {
      sync::pause();
    }
  }
  explore::check(seen == 1, "no more after that");
});

// One leaves that producers move up, and another one joins with its record: its place in the ring
// is its own, and it lost nothing of the other's.
template <class TheBroadcast>
void loses_and_rejoins() {
  TheBroadcast broadcast(1);
  std::optional consumer(broadcast.consumer());
  explore::Thread producer([&] {
    test::push_all(broadcast, 1, 3);
    broadcast.close();
  });
  Follower before{.gaps = true};
  (void)consumer->consume(before);
  consumer.reset();
  auto next = broadcast.consumer();
  Follower follower{.gaps = true};
  test::follow_to_the_end(next, follower);
  explore::check(follower.seen == 0 || follower.last[1] == 3, "up to the last");
  explore::check(before.seen + follower.seen + static_cast<int>(next.lost()) <= 3,
                 "no more than there were");
  explore::outcome(static_cast<std::uint64_t>(4 * before.seen + follower.seen));
}
const Scenario lossy_rejoin("broadcast/loses_and_rejoins", [] { loses_and_rejoins<OneLossy>(); });
const Scenario lossy_rejoin_many("broadcast/loses_and_rejoins_many",
                                 [] { loses_and_rejoins<ManyLossy>(); });

// Two producers, each of which may move the consumer up; the consumer may sleep.
const LargeScenario lossy_producers("broadcast/loses_two_producers", [] {
  ManyLossy broadcast(1);
  auto consumer = broadcast.consumer({.spin_for = kSleepAtOnce});
  explore::Thread first([&] { test::push_waiting(broadcast, 1, 1); });
  explore::Thread second([&] { test::push_waiting(broadcast, 2, 1); });
  explore::Thread closer([&] {
    first.join();
    second.join();
    broadcast.close();
  });
  Follower follower{.gaps = true};
  while (consumer.wait_and_consume(follower) == Status::ok) {
  }
  explore::check(follower.seen + static_cast<int>(consumer.lost()) == 2, "it is told how many");
  explore::check(follower.seen >= 1, "the newest is never lost");
  explore::outcome(static_cast<std::uint64_t>(follower.seen));
});

// A consumer joins where producers move others up.
const Scenario lossy_join("broadcast/loses_joins", [] {
  OneLossy broadcast(1);
  explore::Thread producer([&] {
    test::push_all(broadcast, 1, 3);
    broadcast.close();
  });
  auto consumer = broadcast.consumer();
  Follower follower{.gaps = true};
  test::follow_to_the_end(consumer, follower);
  explore::check(follower.seen == 0 || follower.last[1] == 3, "up to the last");
  explore::check(follower.seen + static_cast<int>(consumer.lost()) <= 3, "no more than there were");
  explore::outcome(static_cast<std::uint64_t>(follower.seen));
});

}}  // namespace lossy_broadcast_scenarios
