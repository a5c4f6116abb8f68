// SPDX-License-Identifier: MIT
//
// EventCount: the scenarios of docs/design/event_count.md.
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>

#include "explore/scenario.hpp"

namespace event_count_scenarios { namespace {

using namespace handoff;
using sync::EventCount;
using sync::no_deadline;
using sync::order;
using sync::Wakeup;
using test::Scenario;

// A flag as a condition: set relaxed, so that nothing but the EventCount's own fences keeps the
// wake-up from being lost.
struct Flag {
  sync::atomic<int> value{0};
  void set() { value.store(1, order::relaxed); }
  bool is_set() const { return value.load(order::relaxed) == 1; }
};

const Scenario notify_one("event_count/notify_one", [] {
  EventCount events;
  Flag flag;
  explore::Thread waiter([&] {
    const Wakeup wakeup = events.await([&] { return flag.is_set(); });
    explore::check(wakeup == Wakeup::notified, "the condition held");
  });
  flag.set();
  events.notify_one();
});

// Tokens for two: each notification is for one of them, and none may be stranded.
struct Tokens {
  sync::atomic<int> left{0};
  void put() { left.fetch_add(1, order::relaxed); }
  bool take() {
    int now = left.load(order::relaxed);
    while (now > 0) {
      if (left.compare_exchange_strong(now, now - 1, order::relaxed, order::relaxed)) return true;
    }
    return false;
  }
};

const Scenario two_waiters("event_count/two_waiters", [] {
  EventCount events;
  Tokens tokens;
  const auto take = [&] { (void)events.await([&] { return tokens.take(); }); };
  explore::Thread first(take);
  explore::Thread second(take);
  for (int i = 0; i < 2; ++i) {
    tokens.put();
    events.notify_one();
  }
  first.join();
  second.join();
  explore::check(tokens.left.load(order::relaxed) == 0, "each token was taken once");
});

const Scenario notify_all("event_count/notify_all", [] {
  EventCount events;
  Flag flag;
  const auto wait = [&] { (void)events.await([&] { return flag.is_set(); }); };
  explore::Thread first(wait);
  explore::Thread second(wait);
  flag.set();
  events.notify_all();
});

// A waiter that finds its token by itself and withdraws must not take a notification along that
// somebody else needs.
const Scenario cancel("event_count/cancel", [] {
  EventCount events;
  Tokens tokens;
  tokens.put();
  explore::Thread sleeper([&] { (void)events.await([&] { return tokens.take(); }); });
  explore::Thread putter([&] {
    tokens.put();
    events.notify_one();
  });
  bool taken = false;
  {
    const EventCount::Waiter withdrawn(events);
    taken = tokens.take();
  }
  if (!taken) (void)events.await([&] { return tokens.take(); });
  sleeper.join();
  putter.join();
  explore::check(tokens.left.load(order::relaxed) == 0, "there is a token for everybody");
  explore::outcome(taken);
});

const Scenario timeout("event_count/timeout", [] {
  EventCount events;
  Tokens tokens;
  bool late = false;
  explore::Thread hasty([&] {
    const auto wakeup = events.await([&] { return tokens.take(); },
                                     sync::deadline_after(std::chrono::milliseconds(1)));
    late = wakeup == Wakeup::timed_out;
  });
  explore::Thread patient([&] { (void)events.await([&] { return tokens.take(); }); });
  tokens.put();
  events.notify_one();
  hasty.join();
  if (!late) {
    tokens.put();
    events.notify_one();
  }
  patient.join();
  explore::check(tokens.left.load(order::relaxed) == 0, "a late waiter takes nothing along");
  explore::outcome(late);
});

const Scenario stop("event_count/stop", [] {
  EventCount events;
  Flag flag;
  sync::StopSource source;
  Wakeup wakeup{};
  explore::Thread waiter(
      [&] { wakeup = events.await([&] { return flag.is_set(); }, no_deadline, source.token()); });
  explore::Thread stopper([&] { source.request_stop(); });
  flag.set();
  events.notify_one();
  waiter.join();
  explore::outcome(wakeup == Wakeup::stopped);
});

// Used step by step the condition may be asked right after the wait: it is true then, although
// nothing but the notification carried the news.
const Scenario step_by_step("event_count/step_by_step", [] {
  EventCount events;
  Flag flag;
  explore::Thread notifier([&] {
    flag.set();
    events.notify_one();
  });
  EventCount::Waiter waiter(events);
  if (flag.is_set()) return;
  explore::check(waiter.wait() == Wakeup::notified, "nothing else could wake it");
  explore::check(flag.is_set(), "what came before the notification is visible");
});

// The EventCount outlives its notifiers, but a Waiter may be gone as soon as it was told.
const Scenario freed_after_wait("event_count/freed_after_wait", [] {
  EventCount events;
  Flag flag;
  explore::Thread waiter([&] {
    std::optional<EventCount::Waiter> mine(std::in_place, events);
    if (!flag.is_set()) (void)mine->wait();
    mine.reset();
    sync::atomic<int> in_its_place(0);
    in_its_place.store(1, order::relaxed);
  });
  flag.set();
  events.notify_one();
});

}}  // namespace event_count_scenarios
