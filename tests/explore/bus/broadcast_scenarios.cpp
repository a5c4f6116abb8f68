// SPDX-License-Identifier: MIT
//
// Broadcast: the scenarios of docs/design/broadcast.md. A wake-up that is lost is a deadlock here,
// and a place that is used too early a race.
#include <array>
#include <chrono>
#include <cstdint>
#include <handoff/bus/broadcast.hpp>
#include <handoff/bus/detail/broadcast_places.hpp>
#include <handoff/bus/detail/broadcast_readers.hpp>
#include <handoff/bus/detail/parked.hpp>
#include <handoff/core/detail/rare_sleepers.hpp>
#include <handoff/sync/detail/atomic.hpp>
#include <handoff/sync/detail/cell.hpp>
#include <handoff/sync/detail/pause.hpp>
#include <optional>
#include <span>

#include "books/broadcast_books.hpp"
#include "explore/queue/ring_scenarios.hpp"
#include "explore/scenario.hpp"
#include "support/started_at.hpp"

namespace {

using namespace handoff;
using sync::order;
using test::RingItem;
using test::Scenario;
using test::Size;

struct LosesOldest : BroadcastPolicies {
  static constexpr OnFull on_full = OnFull::overwrite_oldest;
};
struct OneLosesOldest : LosesOldest {
  static constexpr bool many_producers = false;
};

using Many = test::Audited<Broadcast<RingItem>>;
using One = test::Audited<Broadcast<RingItem, OneProducer>>;
using ManyLossy = test::Audited<Broadcast<RingItem, LosesOldest>>;
using OneLossy = test::Audited<Broadcast<RingItem, OneLosesOldest>>;

constexpr std::chrono::nanoseconds kSleepAtOnce{0};
constexpr std::uint64_t kNearTheEnd = (~std::uint64_t{0} >> 2) - 1;  // where tickets run over

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

template <class Consumer>
void follow_to_the_end(Consumer& consumer, Follower& follower) {
  while (!consumer.closed()) {
    if (consumer.consume(follower) == 0) sync::pause();
  }
}

// Every consumer sees all, in order, and then the end.
template <class TheBroadcast>
void all_see_all(std::size_t capacity, std::uint64_t position = 0) {
  test::StartedAt<TheBroadcast> broadcast(capacity, position);
  auto mine = broadcast.consumer();
  auto other = broadcast.consumer();
  explore::Thread producer([&] {
    test::push_all(broadcast, 1, 3);
    broadcast.close();
    explore::check(broadcast.try_push(RingItem{1, 4}) == Status::closed, "closed is closed");
  });
  explore::Thread second([&] {
    Follower follower;
    follow_to_the_end(other, follower);
    explore::check(follower.seen == 3, "each consumer sees all");
  });
  Follower follower;
  follow_to_the_end(mine, follower);
  explore::check(follower.seen == 3, "each consumer sees all");
}
const Scenario one_place("broadcast/one_place", [] { all_see_all<One>(1); });
const Scenario two_places("broadcast/two_places", [] { all_see_all<One>(2); });
const Scenario one_wrap("broadcast/wrap", [] { all_see_all<One>(2, kNearTheEnd); });
const Scenario many_place("broadcast/many_one_place", [] { all_see_all<Many>(1); });
const Scenario many_wrap("broadcast/many_wrap", [] { all_see_all<Many>(2, kNearTheEnd); });

// Two producers and two consumers, of which this thread is one.
void two_and_two(std::size_t capacity) {
  Many broadcast(capacity);
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
const Scenario two_by_two("broadcast/two_and_two", [] { two_and_two(2); });
const Scenario two_by_two_tight("broadcast/two_and_two_one_place", [] { two_and_two(1); });

// One producer finds out that there is room, and another one relies on it.
const Scenario gate("broadcast/gate", [] {
  Many broadcast(2);
  auto consumer = broadcast.consumer();
  test::push_all(broadcast, 3, 2);
  explore::Thread first([&] { test::push_all(broadcast, 1, 1); });
  explore::Thread second([&] { test::push_all(broadcast, 2, 1); });
  Follower follower;
  while (follower.seen < 4) {
    if (consumer.consume(follower) == 0) sync::pause();
  }
});

// Nobody listens: producers lap each other, and no message is made where another one is.
const Scenario nobody("broadcast/nobody", [] {
  Many broadcast(1);
  explore::Thread first([&] { test::push_all(broadcast, 1, 2); });
  explore::Thread second([&] {
    for (int i = 1; i <= 2; ++i) {
      explore::check(broadcast.push(RingItem{2, i}) == Status::ok, "never closed");
    }
  });
});

// B comes after A, which writes into the message: no race, and always what A wrote.
template <class TheBroadcast>
void one_after_another(std::size_t capacity) {
  TheBroadcast broadcast(capacity);
  auto a = broadcast.consumer();
  auto b = broadcast.consumer({.after = {a}, .spin_for = kSleepAtOnce});
  explore::Thread producer([&] {
    test::push_all(broadcast, 1, 2);
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
  explore::check(seen == 2, "all");
}
const Scenario after_one("broadcast/after", [] { one_after_another<One>(2); });
const Scenario after_tight("broadcast/after_one_place", [] { one_after_another<One>(1); });
const Scenario after_many("broadcast/after_many", [] { one_after_another<Many>(1); });

// A leaves in the midst: B goes on without it.
template <class TheBroadcast>
void first_leaves() {
  TheBroadcast broadcast(2);
  auto a = broadcast.consumer();
  auto b = broadcast.consumer({.after = {a}, .spin_for = kSleepAtOnce});
  explore::Thread producer([&] {
    for (int i = 1; i <= 3; ++i) {
      explore::check(broadcast.push(RingItem{1, i}) == Status::ok, "never closed before");
    }
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
const Scenario leaves("broadcast/first_leaves", [] { first_leaves<One>(); });
const Scenario leaves_many("broadcast/first_leaves_many", [] { first_leaves<Many>(); });

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

// A producer sleeps for want of room; the only consumer leaves, whatever it has read, and another
// one joins with its record.
template <class TheBroadcast>
void leaves_and_joins() {
  TheBroadcast broadcast(1);
  std::optional consumer(broadcast.consumer());
  explore::Thread producer([&] {
    for (int i = 1; i <= 3; ++i) {
      explore::check(broadcast.push(RingItem{1, i}) == Status::ok, "never closed before");
    }
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
    for (int i = 1; i <= 3; ++i) {
      explore::check(broadcast.push(RingItem{1, i}) == Status::ok, "never closed before");
    }
    broadcast.close();
  });
  Follower follower;
  while (consumer.wait_and_consume(follower) == Status::ok) {
  }
  explore::check(follower.seen == 3, "all");
}
const Scenario sleep_one("broadcast/both_sleep", [] { both_sleep<One>(); });
const Scenario sleep_many("broadcast/both_sleep_many", [] { both_sleep<Many>(); });

// Close under load: accepted is delivered to all, and those who wait learn of the end.
const Scenario close_races("broadcast/close", [] {
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

const Scenario closed_is_seen("broadcast/closed_is_seen", [] {
  Many broadcast(1);
  sync::cell<int> before_close(0);
  explore::Thread closer([&] {
    before_close.write() = 1;
    broadcast.close();
  });
  if (broadcast.closed()) explore::check(before_close.read() == 1, "what the closer did");
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
  while (follower.seen < 2) {
    if (consumer.consume(follower) == 0) sync::pause();
  }
  dropper.join();
  producer.join();
  (void)consumer.consume([](const RingItem&) { explore::check(false, "nothing was published"); });
  explore::check(consumer.was_behind() == 0, "none is left");
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
  while (follower.seen < 3) {
    if (consumer.consume(follower) == 0) sync::pause();
  }
});

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
  follow_to_the_end(consumer, follower);
  explore::check(follower.last[1] == 3 && follower.seen >= 1, "the newest is never lost");
  explore::check(follower.seen + static_cast<int>(consumer.lost()) == 3, "it is told how many");
  explore::outcome(static_cast<std::uint64_t>(follower.seen));
}
const Scenario loses_one("broadcast/loses_one_place", [] { loses<OneLossy>(1); });
const Scenario loses_two("broadcast/loses_two_places", [] { loses<OneLossy>(2); });
const Scenario loses_wrap("broadcast/loses_wrap", [] { loses<OneLossy>(2, kNearTheEnd); });
const Scenario loses_many("broadcast/loses_many", [] { loses<ManyLossy>(1); });

// Two producers, each of which may move the consumer up; the consumer may sleep.
const Scenario lossy_producers("broadcast/loses_two_producers", [] {
  ManyLossy broadcast(1);
  auto consumer = broadcast.consumer({.spin_for = kSleepAtOnce});
  explore::Thread first(
      [&] { explore::check(broadcast.push(RingItem{1, 1}) == Status::ok, "never closed before"); });
  explore::Thread second(
      [&] { explore::check(broadcast.push(RingItem{2, 1}) == Status::ok, "never closed before"); });
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
  follow_to_the_end(consumer, follower);
  explore::check(follower.seen == 0 || follower.last[1] == 3, "up to the last");
  explore::check(follower.seen + static_cast<int>(consumer.lost()) <= 3, "no more than there were");
  explore::outcome(static_cast<std::uint64_t>(follower.seen));
});

}  // namespace
