// SPDX-License-Identifier: MIT
//
// EventCount under real threads: a million races of a wait against a notification, a stop and a
// deadline; fewer on a busy machine. A lost wake-up is a hang, which the watchdog turns into a
// failure. No failure in n races bounds the rate of lost wake-ups below 3/n (95 %).
#include "support/patience.hpp"
#include "support/test.hpp"
#include "support/usage.hpp"

namespace {

namespace sync = handoff::sync;
using namespace handoff::sync;
using namespace std::chrono_literals;
using handoff::test::idle_until;
using handoff::test::in_parts;

constexpr std::size_t kRaces = 1'000'000;

// Spends a moment that differs from call to call, so that the two sides meet in every way.
void dawdle(std::mt19937_64& random) {
  const auto pauses = random() % 64;
  for (std::uint64_t i = 0; i < pauses; ++i) sync::pause();
}

// The second thread of races that the first one posts: for each it dawdles, then calls
// meet(round).
template <class Meet>
std::thread meets_each(const std::atomic<std::size_t>& posted, std::size_t races,
                       std::mt19937_64& random, const Meet& meet) {
  return std::thread([&posted, races, &random, &meet] {
    for (std::size_t round = 0; round < races; ++round) {
      idle_until([&] { return posted.load() == round + 1; });
      dawdle(random);
      meet(round);
    }
  });
}

// Ping and pong by two EventCounts: every notification meets a waiter that is about to wait, is
// waiting, or has just looked.
TEST(EventCountStress, WaitRacesNotify) {
  std::mt19937_64 dice[2]{handoff::test::random(0), handoff::test::random(1)};
  in_parts(handoff::test::rounds(kRaces) / 2, [&](std::size_t races) {
    EventCount events[2];
    alignas(destructive_span) std::atomic<std::size_t> turn{0};
    const auto play = [&](std::size_t me) {
      auto random = dice[me];
      for (std::size_t round = 0; round < races; ++round) {
        // Mostly without spinning, so that the wait itself is what races.
        const Spin spin = random() % 8 == 0 ? Spin::allowed : Spin::never;
        const auto mine = [&] { return turn.load(std::memory_order_acquire) == 2 * round + me; };
        ASSERT_EQ(events[me].await(mine, no_deadline, {}, spin), Wakeup::notified);
        dawdle(random);
        turn.store(2 * round + me + 1, std::memory_order_release);
        events[1 - me].notify_one();
      }
      dice[me] = random;
    };
    std::jthread other(play, 1);
    play(0);
  });
}

// Tokens: every one that is put is taken, whichever thread was stopped or late on the way.
TEST(EventCountStress, TokensAreNeverStranded) {
  const std::size_t tokens = handoff::test::rounds(kRaces);
  EventCount events;
  alignas(destructive_span) std::atomic<std::int64_t> available{0};
  alignas(destructive_span) std::atomic<std::size_t> taken{0};
  std::atomic<std::size_t> timed_out{0};
  const auto take = [&] {
    std::int64_t now = available.load(std::memory_order_relaxed);
    while (now > 0) {
      if (available.compare_exchange_weak(now, now - 1, std::memory_order_acquire)) return true;
    }
    return false;
  };
  std::vector<std::thread> takers;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    takers.emplace_back([&, i] {
      auto random = handoff::test::random(i);
      while (taken.load() < tokens) {
        const auto wait = std::chrono::microseconds(random() % 50);
        const Deadline deadline = random() % 4 == 0 ? deadline_after(wait) : no_deadline;
        const auto done_or_taken = [&] { return taken.load() >= tokens || take(); };
        const Wakeup wakeup = events.await(done_or_taken, deadline, {}, Spin::never);
        if (wakeup == Wakeup::timed_out) {
          timed_out.fetch_add(1);
        } else if (taken.load() < tokens && taken.fetch_add(1) + 1 == tokens) {
          events.notify_all();
        }
      }
    });
  }
  auto random = handoff::test::random(0);
  for (std::size_t i = 0; i < tokens; ++i) {
    if (random() % 4 == 0) dawdle(random);
    available.fetch_add(1, std::memory_order_release);
    events.notify_one();
  }
  for (auto& taker : takers) taker.join();
  EXPECT_EQ(taken, tokens);
  EXPECT_EQ(available, 0);
  EXPECT_EQ(events.was_waiting(), 0U);
  RecordProperty("timed_out", static_cast<int>(timed_out));
}

// A waiter that is stopped while it is notified: it says one of the two, and the stop is heard.
TEST(EventCountStress, WaitRacesStop) {
  EventCount events;
  std::size_t stopped = 0;
  std::vector<StopSource> sources(1024);
  const auto source_of = [&](std::size_t round) -> StopSource& {
    return sources[round % sources.size()];
  };
  auto random = handoff::test::random(0);
  auto stoppers_random = handoff::test::random(1);
  in_parts(handoff::test::rounds(kRaces) / 4, [&](std::size_t races) {
    alignas(destructive_span) std::atomic<std::size_t> posted{0};
    alignas(destructive_span) std::atomic<std::size_t> answered{0};
    const auto stop = [&](std::size_t round) {
      if (stoppers_random() % 2 == 0) events.notify_one();
      source_of(round).request_stop();
      idle_until([&] { return answered.load() == round + 1; });
    };
    std::thread stopper = meets_each(posted, races, stoppers_random, stop);
    for (std::size_t round = 0; round < races; ++round) {
      source_of(round) = StopSource();
      const StopToken token = source_of(round).token();
      posted.store(round + 1);
      dawdle(random);
      EventCount::Waiter waiter(events);
      // Only the stop is sure to come: with the right outcome this never hangs.
      stopped += waiter.wait(no_deadline, token) == Wakeup::stopped;
      answered.store(round + 1);
    }
    stopper.join();
  });
  EXPECT_GT(stopped, 0U);
  EXPECT_EQ(events.was_waiting(), 0U);
}

// The deadline passes in the moment of the notification. What a waiter answers must fit what the
// notifier saw: one that said `timed_out` took no notification with it.
TEST(EventCountStress, WaitRacesDeadline) {
  EventCount events;
  std::size_t late = 0;
  auto random = handoff::test::random(0);
  auto notifiers_random = handoff::test::random(1);
  in_parts(handoff::test::rounds(kRaces) / 4, [&](std::size_t races) {
    alignas(destructive_span) std::atomic<std::size_t> posted{0};
    alignas(destructive_span) std::atomic<std::size_t> told{0};
    const auto notify = [&](std::size_t round) {
      events.notify_one();
      told.store(round + 1);
    };
    std::thread notifier = meets_each(posted, races, notifiers_random, notify);
    for (std::size_t round = 0; round < races; ++round) {
      EventCount::Waiter waiter(events);
      posted.store(round + 1);
      const auto wait = std::chrono::nanoseconds(random() % 4000);
      if (waiter.wait(deadline_after(wait)) == Wakeup::timed_out) ++late;
      idle_until([&] { return told.load() == round + 1; });
      EXPECT_EQ(events.was_waiting(), 0U);
    }
    notifier.join();
  });
  RecordProperty("late", static_cast<int>(late));
}

// Sixty-four waiters with nothing to wait for sleep: not one CPU tick in a hundred is theirs.
TEST(EventCountStress, IdleWaitersCostNothing) {
  EventCount events;
  std::atomic<bool> quit{false};
  const handoff::test::ThreadsSince threads;
  std::vector<std::thread> waiters;
  for (int i = 0; i < 64; ++i) {
    waiters.emplace_back([&] { (void)events.await([&] { return quit.load(); }); });
  }
  while (events.was_waiting() != 64) std::this_thread::yield();
  long sleeps_before = -1;
  while (sleeps_before != threads.sleeps()) {  // until all have fallen asleep
    sleeps_before = threads.sleeps();
    std::this_thread::sleep_for(50ms);
  }
  const auto cpu_before = threads.cpu_time();
  std::this_thread::sleep_for(10s);
  EXPECT_EQ(threads.made().size(), 64U);
  // 10 ms of CPU is the promise; what counts without noise is that none of them woke up at all.
  EXPECT_LE(threads.cpu_time() - cpu_before, 10ms);
  EXPECT_EQ(threads.sleeps(), sleeps_before);
  quit = true;
  events.notify_all();
  for (auto& waiter : waiters) waiter.join();
}

// The same measure must see a waiter that looks now and then, and one that looks all the time.
TEST(EventCountStressCanary, WaitersThatPollAreSeen) {
  std::atomic<bool> quit{false};
  const handoff::test::ThreadsSince threads;
  std::jthread now_and_then([&] {
    while (!quit) std::this_thread::sleep_for(1ms);
  });
  std::jthread always([&] {
    while (!quit) sync::pause();
  });
  while (threads.cpu_time() <= 10ms || threads.sleeps() < 5) std::this_thread::sleep_for(1ms);
  quit = true;
}

}  // namespace
