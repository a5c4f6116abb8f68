// SPDX-License-Identifier: MIT
//
// What the scenarios of broadcasts share: the broadcasts, and a consumer that checks what it sees.
#pragma once

#include <handoff/bus/broadcast.hpp>
#include <handoff/sync/internal/pause.hpp>

#include "books/broadcast_books.hpp"
#include "explore/scenario.hpp"
#include "explore/scenarios/queue/ring_scenarios.hpp"
#include "support/policies.hpp"

namespace handoff::test {

using LosesOldest = test::Overwrites<BroadcastPolicies>;
using OneLosesOldest = test::Overwrites<OneProducer>;

using Many = Audited<Broadcast<RingItem>>;
using One = Audited<Broadcast<RingItem, OneProducer>>;
using ManyLossy = Audited<Broadcast<RingItem, LosesOldest>>;
using OneLossy = Audited<Broadcast<RingItem, OneLosesOldest>>;

inline constexpr std::chrono::nanoseconds kSleepAtOnce{0};
inline constexpr std::uint64_t kNearTheEnd =
    (~std::uint64_t{0} >> 2) - 1;  // where tickets run over

// Checks that each producer's messages come in their order, and counts them.
struct Follower {
  std::array<int, 4> last{};
  int seen = 0;
  bool gaps = false;  // lost some

  void operator()(const RingItem& item) {
    auto& before = last[static_cast<std::size_t>(item.producer)];
    explore::check(gaps ? item.number > before : item.number == before + 1,
                   "each producer's messages in their order");
    before = item.number;
    ++seen;
  }
};

// Pushes 1, 2, ..., and waits for room.
template <class TheBroadcast>
void push_waiting(TheBroadcast& broadcast, int producer, int count) {
  for (int i = 1; i <= count; ++i) {
    explore::check(broadcast.push(RingItem{producer, i}) == Status::ok, "never closed before");
  }
}

template <class Consumer>
void follow(Consumer& consumer, Follower& follower, int count) {
  while (follower.seen < count) {
    if (consumer.consume(follower) == 0) sync::pause();
  }
}
template <class Consumer>
void follow_to_the_end(Consumer& consumer, Follower& follower) {
  while (!consumer.closed()) {
    if (consumer.consume(follower) == 0) sync::pause();
  }
}

}  // namespace handoff::test
