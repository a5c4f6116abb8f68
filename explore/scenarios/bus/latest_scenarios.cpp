// SPDX-License-Identifier: MIT
//
// Latest and LatestByKey: the scenarios of docs/design/broadcast.md.
#include <handoff/bus/latest.hpp>
#include <handoff/bus/latest_by_key.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/pause.hpp>

#include "books/broadcast_books.hpp"
#include "explore/scenario.hpp"
#include "explore/scenarios/queue/ring_scenarios.hpp"
#include "support/started_at.hpp"

namespace latest_scenarios { namespace {

using namespace handoff;
using namespace test;
using Newest = test::Audited<Latest<RingItem>>;
using ByKey = test::Audited<LatestByKey<int, int>>;

constexpr std::chrono::nanoseconds kSleepAtOnce{0};

// One writes twice, two read: each sees whole values that never get older.
const Scenario two_readers("latest/two_readers", [] {
  Newest latest(3, {}, kSleepAtOnce);
  explore::Thread writer([&] {
    for (int i = 1; i <= 2; ++i) {
      explore::check(latest.store(RingItem{i, i}) == Status::ok, "never closed");
    }
  });
  const auto look_twice = [&] {
    int last = 0;
    for (int i = 0; i < 2; ++i) {
      (void)latest.read([&](const RingItem& item) {
        explore::check(item.number == item.producer, "whole");
        explore::check(item.number >= last, "never older");
        last = item.number;
      });
    }
    explore::outcome(static_cast<std::uint64_t>(last));
  };
  explore::Thread reader(look_twice);
  look_twice();
  writer.join();
  reader.join();
  explore::check(latest.version() == 2, "two were stored");
});

// Two write: versions are theirs alone, the last one stays.
void two_write(std::uint64_t start) {
  test::StartedAt<Newest> latest(2, start);
  const auto write = [&](int writer) {
    explore::check(latest.store(RingItem{writer, writer}) == Status::ok, "never closed");
  };
  explore::Thread first([&] { write(1); });
  explore::Thread second([&] { write(2); });
  int seen = 0;
  (void)latest.read([&](const RingItem& item, std::uint64_t version) {
    explore::check(item.number == item.producer, "whole");
    seen = version - start == 1 ? item.number : 0;
  });
  first.join();
  second.join();
  explore::check(latest.version() - start == 2, "two were stored");
  explore::check(latest.overwritten() <= 1, "the newest is there");
  if (seen != 0) explore::check(latest.overwritten() == 0, "the first was read");
  int last = 0;
  (void)latest.read([&](const RingItem& item) { last = item.number; });
  explore::check(last != seen, "the newest is the second");
  explore::outcome(static_cast<std::uint64_t>(last));
}
const Scenario two_writers("latest/two_writers", [] { two_write(0); });
const Scenario version_wrap("latest/wrap", [] { two_write(~std::uint64_t{0} - 1); });

// Two writers replace the same value: the loser releases it and replaces the winner's.
const Scenario two_replace("latest/two_replace", [] {
  Newest latest(2, {}, kSleepAtOnce);
  (void)latest.store(RingItem{1, 1});
  explore::Thread other([&] { (void)latest.store(RingItem{2, 2}); });
  (void)latest.store(RingItem{3, 3});
  other.join();
  explore::check(latest.version() == 3, "three were stored");
  explore::check(latest.overwritten() == 2, "and two of them replaced, which nobody read");
});

// A slot is reused, and its new value is read, right after the slot was given back. It stays known
// whether a value was read.
const Scenario serves_again("latest/a_slot_serves_again", [] {
  Newest latest(1, {}, kSleepAtOnce);
  int seen = 0;
  const auto look = [&](const RingItem& item) { seen = item.number; };
  (void)latest.store(RingItem{1, 1});
  (void)latest.read(look);
  explore::Thread writer([&] { (void)latest.store(RingItem{2, 2}); });
  (void)latest.read(look);
  const bool came = seen == 2;
  if (came) {
    (void)latest.store(RingItem{3, 3});
    (void)latest.read(look);
  }
  writer.join();
  (void)latest.store(RingItem{4, 4});
  explore::check(latest.overwritten() == (came ? 0U : 1U), "the second, if it was not read");
  explore::outcome(came);
});

// A reader stays in its visit while the value is replaced twice.
const Scenario long_visit("latest/long_visit", [] {
  Newest latest(2, {}, kSleepAtOnce);
  (void)latest.store(RingItem{1, 1});
  explore::Thread writer([&] {
    (void)latest.store(RingItem{2, 2});
    (void)latest.store(RingItem{3, 3});
  });
  (void)latest.read([&](const RingItem& item) {
    const int number = item.number;
    sync::pause();
    explore::check(item.number == number && item.producer == number, "it stays as it is");
  });
  writer.join();
  explore::check(latest.overwritten() <= 2, "the newest is there");
});

// A store wakes a reader that waits. No close is needed.
const Scenario store_wakes("latest/a_store_wakes", [] {
  Newest latest(2, {}, kSleepAtOnce);
  explore::Thread writer([&] { (void)latest.store(RingItem{1, 1}); });
  explore::check(latest.wait_newer(0) == Status::ok, "it comes");
});

// A wait for something newer, and the end.
const Scenario waits("latest/waits", [] {
  Newest latest(2, {}, kSleepAtOnce);
  explore::Thread writer([&] {
    (void)latest.store(RingItem{1, 1});
    (void)latest.store(RingItem{2, 2});
    latest.close();
  });
  std::uint64_t seen = 0;
  int last = 0;
  const auto look = [&](const RingItem& item) { last = item.number; };
  while (latest.read_newer(seen, look) == Status::ok) {
  }
  explore::check(last == 2 && seen == 2, "the last one is seen before the end");
});

// A visitor throws while its value is replaced: the slot serves again.
const FailingScenario visitor_throws("latest/visitor_throws", [] {
  Newest latest(1, {}, kSleepAtOnce);
  (void)latest.store(RingItem{1, 1});
  explore::Thread writer([&] { (void)latest.store(RingItem{2, 2}); });
  try {
    (void)latest.read([](const RingItem& item) {
      explore::check(item.number == item.producer, "whole");
      explore::may_throw("a visitor");
    });
  } catch (const explore::Planned&) {
  }
  writer.join();
  explore::check(latest.store(RingItem{3, 3}) == Status::ok, "never closed");
  explore::check(latest.version() == 3, "three were stored");
});

// A store races the end: it is read, or it is the caller's again.
const Scenario close_races("latest/close", [] {
  sync::atomic<int> alive(0);
  test::Audited<Latest<test::OwnedItem>> latest(2, {}, kSleepAtOnce);
  explore::Thread closer([&] { latest.close(); });
  test::OwnedItem item(alive);
  const Status stored = latest.store(std::move(item));
  explore::check(item.is_here() == (stored == Status::closed), "it is here or there");
  std::uint64_t seen = 0;
  const Status read = latest.wait_newer(seen);
  explore::check(read == stored, "what was stored is there for all");
  explore::outcome(stored == Status::ok);
});

// Once a reader is told that it is closed, no store succeeds.
const Scenario closed_is_the_end("latest/closed_is_the_end", [] {
  Newest latest(2, {}, kSleepAtOnce);
  Status stored{};
  explore::Thread closer([&] { latest.close(); });
  explore::Thread writer([&] { stored = latest.store(RingItem{1, 1}); });
  const Status waited = latest.wait_newer(0);
  writer.join();
  explore::check(waited == stored, "what was stored comes before the end");
  explore::outcome(stored == Status::ok);
});

const Scenario closed_is_seen("latest/closed_is_seen", [] {
  Newest latest(1, {}, kSleepAtOnce);
  sync::cell<int> before_close(0);
  explore::Thread closer([&] {
    before_close.write() = 1;
    latest.close();
  });
  if (latest.closed()) explore::check(before_close.read() == 1, "what the closer did");
  if (latest.read([](const RingItem&) {}) == Status::closed) {
    explore::check(before_close.read() == 1, "what the closer did");
  }
});

// Two producers of two keys, one place too few: each key's newest comes, the others are counted.
const Scenario by_key("latest_by_key/two_producers", [] {
  ByKey queue(1, {}, kSleepAtOnce);
  explore::Thread first([&] {
    explore::check(queue.push(1, 1) == Status::ok && queue.push(1, 2) == Status::ok, "open");
  });
  explore::Thread second([&] { explore::check(queue.push(2, 1) == Status::ok, "open"); });
  int newest[3] = {};
  int seen = 0;
  while (newest[1] != 2 || newest[2] != 1) {
    explore::check(queue.wait_and_consume([&](int key, int value) {
      explore::check(value > newest[key], "never older");
      newest[key] = value;
      ++seen;
    }) == Status::ok,
                   "never closed");
  }
  first.join();
  second.join();
  explore::check(seen + static_cast<int>(queue.overwritten()) == 3, "seen or overwritten");
  explore::outcome(static_cast<std::uint64_t>(seen));
});

// Two take: each value goes to one of them, and each learns of the end.
const Scenario by_key_two("latest_by_key/two_consumers", [] {
  ByKey queue(2, {}, kSleepAtOnce);
  int seen[2] = {};
  const auto take = [&](int& mine) {
    while (queue.wait_and_consume([&](int, int) { ++mine; }) == Status::ok) {
    }
  };
  explore::Thread other([&] { take(seen[1]); });
  explore::Thread producer([&] {
    for (int key = 1; key <= 2; ++key) {
      explore::check(queue.push(key, key) == Status::ok, "open");
    }
    queue.close();
  });
  take(seen[0]);
  other.join();
  explore::check(seen[0] + seen[1] == 2, "each goes to one");
  explore::outcome(static_cast<std::uint64_t>(seen[0]));
});

const Scenario by_key_close("latest_by_key/close", [] {
  ByKey queue(1, {}, kSleepAtOnce);
  Status pushed{};
  explore::Thread producer([&] { pushed = queue.push(1, 1); });
  explore::Thread closer([&] { queue.close(); });
  int seen = 0;
  while (queue.wait_and_consume([&](int, int) { ++seen; }) == Status::ok) {
  }
  producer.join();
  explore::check(seen == (pushed == Status::ok ? 1 : 0), "accepted is delivered");
  explore::outcome(static_cast<std::uint64_t>(seen));
});

// close() wakes a push that waits for room, though nobody takes a value.
const Scenario by_key_close_ends("latest_by_key/close_ends_a_push", [] {
  ByKey queue(1, {}, kSleepAtOnce);
  explore::check(queue.try_push(1, 1) == Status::ok, "there is room");
  explore::Thread closer([&] { queue.close(); });
  explore::check(queue.push(2, 2) == Status::closed, "full until the end");
});

// What converts to a value where it is taken: a close that comes meanwhile waits for nobody, and a
// reader is not told closed before the value is there.
struct Pair {
  operator RingItem() && noexcept {  // NOLINT(google-explicit-constructor): it converts
    given = true;
    return {number, number};
  }
  int number;
  bool given = false;
};
void converted_and_closed(int writers) {
  Newest latest(3, {}, kSleepAtOnce);
  sync::atomic<int> accepted(0);
  const auto write = [&](int number) {
    Pair pair{number};
    const Status status = latest.store(std::move(pair));
    explore::check(pair.given == (status == Status::ok), "what is refused is unmoved");
    // order: relaxed, a count
    if (status == Status::ok) accepted.fetch_add(1, sync::order::relaxed);
  };
  explore::Thread first([&] { write(1); });
  explore::Thread other([&] {
    if (writers == 2) write(2);
    latest.close();
  });
  int seen = 0;
  std::uint64_t version = 0;
  while (latest.read_newer(version, [&](const RingItem& item) {
    explore::check(item.number == item.producer, "whole");
    ++seen;
  }) == Status::ok) {
  }
  first.join();
  other.join();
  explore::check(
      latest.version() == static_cast<std::uint64_t>(accepted.load(sync::order::relaxed)),
      "what was told ok was stored");
  explore::check(static_cast<std::uint64_t>(seen) + latest.overwritten() == latest.version(),
                 "and read, or replaced, before closed was said");
  explore::check(latest.store(Pair{3}) == Status::closed, "closed for good");
  explore::outcome(static_cast<std::uint64_t>(seen));
}
const Scenario converted("latest/converted_and_closed", [] { converted_and_closed(1); });
const LargeScenario two_convert("latest/two_convert_and_close", [] { converted_and_closed(2); });

// A reader that looks once, and finds nothing, is not told closed while a value is on its way.
const Scenario looks_once("latest/looks_while_it_is_converted", [] {
  Newest latest(3, {}, kSleepAtOnce);
  bool stored = false;
  explore::Thread writer([&] { stored = latest.store(Pair{1}) == Status::ok; });
  explore::Thread closer([&] { latest.close(); });
  const Status status = latest.read([](const RingItem&) {});
  writer.join();
  closer.join();
  if (status == Status::closed) explore::check(!stored, "there never will be one");
  if (status == Status::ok) explore::check(stored, "there was one");
  explore::outcome(static_cast<std::uint64_t>(status));
});

}}  // namespace latest_scenarios
