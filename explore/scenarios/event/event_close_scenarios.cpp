// SPDX-License-Identifier: MIT
//
// EventQueue: its close against all that may be under way, and what each waiting thread is told:
// the scenarios of docs/design/event_queue.md. A chunk has two places here. A wake-up that is lost
// is a deadlock.
#include <handoff/event/detail/arrivals.hpp>
#include <handoff/event/event_queue.hpp>
#include <handoff/sync/internal/atomic.hpp>

#include "books/event_books.hpp"
#include "explore/scenario.hpp"
#include "support/event_queue_options.hpp"
#include "support/policies.hpp"

namespace event_close_scenarios { namespace {

using namespace handoff;
using namespace test;

struct Plain : EventPolicies {};
// Has room for one, where it has a bound.
template <class Policies>
struct QueueOf : test::Audited<EventQueue<int, void(int), Policies>> {
  using Base = test::Audited<EventQueue<int, void(int), Policies>>;
  QueueOf() : Base(test::room_for<Base>(1, test::full_of<Policies>())) {}
};

// The loop of a thread that serves a queue; how many events it handled.
template <class Queue>
std::uint64_t serve(Queue& queue) {
  std::uint64_t count = 0;
  while (queue.wait() == Status::ok) count += queue.drain([](int, int) {});
  return count;
}

// What was told ok is handled before wait() says closed, and nothing else; a thread that waits for
// room is told closed, with its event unmoved.
template <class Policies>
void closed_by_another(int events) {
  QueueOf<Policies> queue;
  std::uint64_t accepted = 0;
  explore::Thread producer([&] {
    for (int i = 0; i < events; ++i) {
      const Status status = queue.enqueue(0, i);
      explore::check(status == Status::ok || status == Status::closed, "it waits for room");
      if (status == Status::ok) ++accepted;
    }
  });
  explore::Thread closer([&] { queue.shut(); });
  const std::uint64_t handled = serve(queue);
  producer.join();
  closer.join();
  explore::check(handled == accepted, "what was told ok is handled");
  explore::check(queue.tally().done == accepted && queue.tally().pending == 0, "and counted");
  explore::check(queue.enqueue(0, 9) == Status::closed, "closed for good");
  explore::outcome(accepted);
}
const Scenario under_way("event_queue/closed_under_way", [] { closed_by_another<Plain>(3); });
const LargeScenario while_full("event_queue/closed_while_full",
                               [] { closed_by_another<Bounded<OnFull::wait>>(2); });

// The owner closes it and gives what is left its outcome meanwhile.
void closed_with_the_rest(const Closing& how) {
  QueueOf<Plain> queue;
  std::uint64_t accepted = 0;
  explore::Thread producer([&] {
    for (int i = 0; i < 3; ++i) accepted += queue.enqueue(0, i) == Status::ok ? 1 : 0;
  });
  const Tally tally = queue.close(how, [](int, int) {});
  producer.join();
  explore::check(tally.balanced() && tally.accepted == accepted, "what was told ok is accepted");
  explore::check((how.begins_more ? tally.done : tally.cancelled) == accepted, "and over");
  explore::outcome(accepted);
}
const Scenario finished("event_queue/finished", [] { closed_with_the_rest(Closing::finish); });
const Scenario abandoned("event_queue/abandoned", [] { closed_with_the_rest(Closing::abandon); });

// A thread that waits for room is told though nobody makes any.
const Scenario nobody_drains("event_queue/closed_while_nobody_drains", [] {
  QueueOf<Bounded<OnFull::wait>> queue;
  explore::check(queue.enqueue(0, 1) == Status::ok, "there is room");
  explore::Thread producer(
      [&] { explore::check(queue.enqueue(0, 2) == Status::closed, "no room"); });
  queue.shut();
  producer.join();
  explore::check(serve(queue) == 1, "what was told ok is handled");
});

// Two close, and two enqueue, across the end of a chunk.
const LargeScenario twice("event_queue/closed_twice", [] {
  QueueOf<Plain> queue;
  std::uint64_t accepted[2] = {0, 0};
  const auto produce = [&](int self) {
    for (int i = 0; i < 2; ++i) {
      if (queue.enqueue(0, i) == Status::ok) ++accepted[self];
    }
  };
  explore::Thread first([&] { produce(0); });
  explore::Thread second([&] { produce(1); });
  explore::Thread closer([&] { queue.shut(); });
  queue.shut();
  explore::check(queue.enqueue(0, 9) == Status::closed, "closed for the thread that closed it");
  first.join();
  second.join();
  closer.join();
  const std::uint64_t handled = serve(queue);
  explore::check(handled == accepted[0] + accepted[1], "what was told ok is handled");
  explore::outcome(handled);
});

// A thread that goes on without atomic operations is closed too.
const Scenario lone("event_queue/closed_while_alone", [] {
  QueueOf<Plain> queue;
  std::uint64_t accepted = 0;
  for (int i = 0; i < 3; ++i) {
    if (queue.enqueue(0, i) == Status::ok) ++accepted;
  }
  explore::Thread closer([&] { queue.shut(); });
  for (int i = 0; i < 3; ++i) {
    if (queue.enqueue(0, i) == Status::ok) ++accepted;
  }
  closer.join();
  explore::check(serve(queue) == accepted, "what was told ok is handled");
  explore::outcome(accepted);
});

// No memory for the next chunk, while it is closed: what follows is refused, and waits end.
const FailingScenario out_of_memory("event_queue/closed_out_of_memory", [] {
  QueueOf<Plain> queue;
  std::uint64_t accepted = 0;
  explore::Thread producer([&] {
    for (int i = 0; i < 3; ++i) {
      const explore::MayFail may_fail;
      try {
        if (queue.enqueue(0, i) == Status::ok) ++accepted;
      } catch (const std::bad_alloc&) {
      }
    }
  });
  queue.shut();
  const std::uint64_t handled = serve(queue);
  producer.join();
  explore::check(handled == accepted, "what was told ok is handled");
  explore::outcome(accepted);
});

// Two wait until it is closed; one of them takes the last event, which the other one waits for too.
const LargeScenario two_wait("event_queue/closed_while_two_wait", [] {
  QueueOf<Plain> queue;
  std::uint64_t accepted = 0;
  std::uint64_t elsewhere = 0;
  explore::Thread producer([&] {
    if (queue.enqueue(0, 1) == Status::ok) ++accepted;
  });
  explore::Thread closer([&] { queue.shut(); });
  explore::Thread other([&] { elsewhere = serve(queue); });
  const std::uint64_t here = serve(queue);
  producer.join();
  closer.join();
  other.join();
  explore::check(here + elsewhere == accepted, "once");
  explore::outcome(here);
});

// An event that cannot be made, while it is closed: threads that wait for its place are told.
struct Fragile {
  explicit Fragile(bool its_fails) : fails(its_fails) {}
  Fragile(const Fragile& other) : fails(other.fails) {
    if (fails) throw std::invalid_argument("as asked");
  }
  bool fails;
};
using FragileQueue = test::Audited<EventQueue<int, void(Fragile)>>;
bool fails_to_enqueue(FragileQueue& queue, const Fragile& event) {
  try {
    (void)queue.enqueue(0, event);
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}
const LargeScenario never_made("event_queue/closed_while_an_event_fails", [] {
  FragileQueue queue;
  explore::Thread producer([&] { (void)fails_to_enqueue(queue, Fragile(true)); });
  explore::Thread closer([&] { queue.shut(); });
  std::size_t handled = 0;
  while (queue.wait() == Status::ok) handled += queue.drain([](int, Fragile&) {});
  producer.join();
  closer.join();
  explore::check(handled == 0 && queue.tally().accepted == 0, "never enqueued");
});
// The event behind it is held back no more.
const Scenario behind("event_queue/behind_one_that_fails", [] {
  FragileQueue queue;
  explore::Thread fails([&] { explore::check(fails_to_enqueue(queue, Fragile(true)), "thrown"); });
  explore::Thread producer(
      [&] { explore::check(!fails_to_enqueue(queue, Fragile(false)), "accepted"); });
  std::size_t handled = 0;
  while (handled == 0) {
    explore::check(queue.wait() == Status::ok, "it comes");
    handled += queue.drain([](int, Fragile&) {});
  }
});

// ---- Which threads are told ----

// Each of two sleepers takes one of two events that came at once: both are told.
template <class Feed>
void two_share(const Feed& feed) {
  QueueOf<Plain> queue;
  const auto take_one = [&] {
    explore::check(queue.wait() == Status::ok, "there is one for each");
    while (queue.drain([](int, int) {}, 1) == 0) {
      explore::check(queue.wait() == Status::ok, "there is one for each");
    }
  };
  explore::Thread one(take_one);
  explore::Thread other(take_one);
  feed(queue);
  one.join();
  other.join();
  explore::check(queue.tally().done == 2, "each once");
}
const LargeScenario batch("event_queue/batch_wakes_two", [] {
  two_share([](QueueOf<Plain>& queue) {
    using Event = QueueOf<Plain>::Event;
    Event events[]{Event(std::in_place, 0, 1), Event(std::in_place, 0, 2)};
    explore::check(queue.enqueue_batch(events) == 2, "both");
  });
});
const LargeScenario held("event_queue/hold_wakes_two", [] {
  two_share([](QueueOf<Plain>& queue) {
    const QueueOf<Plain>::NotificationHold hold(queue);
    for (int i = 1; i <= 2; ++i) explore::check(queue.enqueue(0, i) == Status::ok, "accepted");
  });
});

// A thread that holds notifications back and waits for room is not let down by another one that
// takes it.
const LargeScenario holds_and_waits("event_queue/holds_and_waits_for_room", [] {
  QueueOf<Bounded<OnFull::wait>> queue;
  const auto put = [&] { explore::check(queue.enqueue(0, 1) == Status::ok, "in the end"); };
  explore::Thread holder([&] {
    const decltype(queue)::NotificationHold hold(queue);
    put();
    put();
  });
  explore::Thread other(put);
  std::size_t handled = 0;
  while (handled < 3) {
    explore::check(queue.wait() == Status::ok, "there is one");
    handled += queue.drain([](int, int) {});
  }
});

// A thread that leaves events behind, though it could have had them, and goes away tells the next
// one.
void leaves_behind(Next answer) {
  QueueOf<Plain> queue;
  sync::atomic<int> taken(0);
  const auto come = [&] {
    explore::check(queue.wait() == Status::ok, "there is something");
    // order: relaxed, a number alone
    if (taken.exchange(1, sync::order::relaxed) == 0) {
      explore::check(queue.drain([&](int, int) { return answer; }) == 0, "left");
      return;
    }
    while (queue.drain([](int, int) {}) == 0) {
      explore::check(queue.wait() == Status::ok, "it was left");
    }
  };
  explore::Thread one(come);
  explore::Thread other(come);
  explore::check(queue.enqueue(0, 1) == Status::ok, "accepted");
  one.join();
  other.join();
  explore::check(queue.tally().done == 1, "by the second one");
}
const LargeScenario stops("event_queue/left_by_who_stops", [] { leaves_behind(Next::stop); });
const LargeScenario refuses("event_queue/left_by_who_refuses", [] { leaves_behind(Next::leave); });

// ---- Coalescing, with a bound ----

// A newer event finds the room of the one that it replaces, unless somebody has just taken that.
const LargeScenario replaces("event_queue/replaces_while_full", [] {
  QueueOf<Bounded<OnFull::reject, Coalesces<>>> queue;
  explore::check(queue.enqueue(1, 1) == Status::ok, "there is room");
  int last = 0;
  std::size_t taken = 0;
  explore::Thread consumer([&] { taken = queue.drain([&](int, int value) { last = value; }); });
  const Status status = queue.enqueue(1, 2);
  consumer.join();
  explore::outcome(static_cast<std::uint64_t>(last));
  if (status == Status::full) explore::check(last == 1, "the older one waits no more");
  taken += queue.drain([&](int, int value) { last = value; });
  const Tally tally = queue.tally();
  explore::check(last == (status == Status::ok ? 2 : 1), "the newest");
  explore::check(taken == tally.done && tally.done + tally.cancelled == tally.accepted,
                 "handled, or replaced");
  explore::check(queue.enqueue(1, 3) == Status::ok, "there is room again");
  explore::check(queue.enqueue(2, 3) == Status::full, "and no more");
});

// Two wait for room with events of one key: once one of them has it, the other one need not wait.
const LargeScenario waits_and_replaces("event_queue/replaces_while_it_waits", [] {
  QueueOf<Bounded<OnFull::wait, Coalesces<>>> queue;
  explore::check(queue.enqueue(1, 1) == Status::ok, "there is room");
  const auto wait = [&] { explore::check(queue.enqueue(2, 2) == Status::ok, "accepted"); };
  explore::Thread one(wait);
  explore::Thread other(wait);
  explore::check(queue.drain([](int, int) {}, 1) == 1, "room for one");
  one.join();
  other.join();
  (void)queue.drain([](int, int) {});
  explore::check(queue.tally().balanced() && queue.tally().pending == 0, "none is left");
});

}}  // namespace event_close_scenarios
