// SPDX-License-Identifier: MIT
//
// Queues with an order of their own, with events that are replaced, late or refused, and with an
// end: exact sequences, while another thread looks at the queue or adds to it. Keys and events own
// memory of the model's, so one that is not destroyed, or twice, is a fault. A chunk has two places
// here.
#include <chrono>
#include <cstdint>
#include <handoff/event/event_queue.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/detail/allocate.hpp>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "books/event_books.hpp"
#include "explore/scenario.hpp"
#include "support/event_queue_options.hpp"
#include "support/next.hpp"
#include "support/policies.hpp"

namespace event_store_scenarios { namespace {

using namespace handoff;
using test::Scenario;
using test::show_if;
using test::show_until;
using test::Size;
using test::take_if;
using test::take_until;
using Values = std::vector<int>;

// A number in memory of its own. A negative one cannot be made.
class Thing {
 public:
  Thing(int number) : number_(made(number)) {}  // NOLINT(google-explicit-constructor)
  Thing(const Thing& other) : Thing(other.number()) {}
  Thing(Thing&& other) noexcept : number_(std::exchange(other.number_, nullptr)) {}
  Thing& operator=(const Thing&) = delete;
  ~Thing() {
    if (number_ != nullptr) sync::deallocate(number_, sizeof(int), alignof(int));
  }
  int number() const {
    explore::check(number_ != nullptr, "not what was moved from");
    return *number_;
  }
  bool is_there() const { return number_ != nullptr; }
  friend bool operator==(const Thing& a, const Thing& b) { return a.number() == b.number(); }

 private:
  static int* made(int number) {
    if (number < 0) throw std::invalid_argument("a negative one");
    return ::new (sync::allocate(sizeof(int), alignof(int))) int(number);
  }

  int* number_;
};

// Two of them have the same hash if both are odd, or even.
struct Plain : EventPolicies {
  struct Hash {
    std::size_t operator()(const Thing& key) const {
      return static_cast<std::size_t>(key.number() % 2);
    }
  };
};
template <class Base>
struct Ordered : Base {  // by the tens
  static int priority(const Thing&, const Thing& event) { return event.number() / 10; }
};
template <class Base>
struct Coalescing : Base {
  static constexpr bool coalesce = true;
};
struct Expiring : Plain {
  static constexpr bool expires = true;
};
template <OnFull kOnFull, class Base = Plain>
using Bounded = test::Bounded<kOnFull, Base>;

template <class Policies>
using PlainQueueOf = EventQueue<Thing, void(const Thing&), Policies>;
template <class Policies>
using QueueOf = test::Audited<PlainQueueOf<Policies>>;

template <class Queue>
void put(Queue& queue, int key, int value) {
  explore::check(queue.enqueue(key, value) == Status::ok, "accepted");
}

// Not accepted: it cannot be made.
template <class Queue>
void put_fails(Queue& queue, int key) {
  bool thrown = false;
  try {
    (void)queue.enqueue(key, -1);
  } catch (const std::invalid_argument&) {
    thrown = true;
  }
  explore::check(thrown, "it cannot be made");
}

// The numbers of the events in the order of their coming.
template <class Queue>
Values drain(Queue& queue) {
  Values seen;
  const std::size_t count =
      queue.drain([&](const Thing&, const Thing& event) { seen.push_back(event.number()); });
  explore::check(count == seen.size(), "it says how many");
  return seen;
}

template <class Queue>
void check_books(Queue& queue, std::uint64_t accepted, std::uint64_t done,
                 std::uint64_t cancelled = 0, std::uint64_t expired = 0) {
  const Tally tally = queue.tally();
  explore::check(tally.balanced() && tally.accepted == accepted, "as many as were accepted");
  explore::check(tally.done == done && tally.cancelled == cancelled, "done or cancelled");
  explore::check(tally.expired == expired && tally.failed == 0, "expired");
  explore::check(queue.empty() == (tally.pending == 0), "empty or not");
}

// Runs it while another thread looks at the queue, which makes no difference to the sequence.
template <class Queue, class Script>
void beside_a_look(Queue& queue, Script&& script) {
  explore::Thread other([&] { explore::outcome(queue.empty() ? 1 : 0); });
  script();
  other.join();
}

// ---- In their order, and back into it ----

// What is refused, or behind what ends the call, comes back to its place: in a queue without and in
// one with an order of its own.
template <class Policies>
void comes_back(const Values& in_order, const Values& until, const Values& refused) {
  QueueOf<Policies> queue;
  beside_a_look(queue, [&] {
    for (const int value : {21, 10, 22, 11, 30}) put(queue, 0, value);
    Values seen;
    const auto see = [&](const Thing&, const Thing& event) { seen.push_back(event.number()); };
    explore::check(queue.drain(show_until([](const Thing& event) { return event.number() == 22; },
                                          see)) == until.size() &&
                       seen == until,
                   "up to that one");
    seen.clear();
    const auto odd = [](const Thing& event) { return event.number() % 2 != 0; };
    explore::check(queue.drain(show_if(odd, see)) == 5 - until.size() - refused.size(),
                   "those that it is true for");
    explore::check(drain(queue) == refused, "the others stay in their order");
  });
  for (const int value : {21, 10, 22, 11, 30}) put(queue, 0, value);
  explore::check(drain(queue) == in_order, "in order");
  check_books(queue, 10, 10);
}

const Scenario back_in_line(
    "event_store/back_in_line", [] { comes_back<Plain>({21, 10, 22, 11, 30}, {21, 10}, {22, 30}); },
    Size::large);
const Scenario back_in_order(
    "event_store/back_in_order",
    [] { comes_back<Ordered<Plain>>({30, 21, 22, 10, 11}, {30, 21}, {22, 10}); }, Size::large);

// What was refused comes before what came later, and a call takes nothing that came during it.
template <class Policies>
void ends_although_more_come(const Values& first, const Values& second) {
  QueueOf<Policies> queue;
  for (int i = 1; i <= 5; ++i) put(queue, i, i);
  explore::check(
      queue.drain_if(take_if([](const Thing& event) { return event.number() == 1; })) == 1,
      "one goes");
  Values seen;
  queue.drain([&](const Thing&, const Thing& event) {
    if (seen.size() == 3) return Next::stop;
    seen.push_back(event.number());
    put(queue, event.number() + 10, event.number() + 10);
    return Next::take;
  });
  explore::check(seen == first, "no more than it is told to");
  explore::check(queue.tally().pending == 4, "the others are still there");
  beside_a_look(queue, [&] {
    seen.clear();
    const std::size_t count = queue.drain([&](const Thing&, const Thing& event) {
      seen.push_back(event.number());
      if (event.number() < 20) put(queue, event.number() + 20, event.number() + 20);
    });
    explore::check(count == second.size() && seen == second, "what was there at the beginning");
  });
  explore::check(queue.clear() == 4, "what came meanwhile");
  check_books(queue, 12, 8, 4);
}

const Scenario ends_in_line(
    "event_store/ends_although_more_come",
    [] { ends_although_more_come<Plain>({2, 3, 4}, {5, 12, 13, 14}); }, Size::large);
const Scenario ends_in_order(
    "event_store/ends_although_more_come_first",
    [] {
      // Those of 10 and more would be the first.
      ends_although_more_come<Ordered<Plain>>({2, 3, 4}, {12, 13, 14, 5});
    },
    Size::large);
const Scenario ends_by_key(
    "event_store/ends_although_more_keys_come",
    [] { ends_although_more_come<Coalescing<Plain>>({2, 3, 4}, {5, 12, 13, 14}); }, Size::large);

// What came during a call is not for it, not even if another call has given it back meanwhile.
const Scenario back_meanwhile(
    "event_store/came_back_meanwhile",
    [] {
      QueueOf<Plain> queue;
      for (int i = 1; i <= 3; ++i) put(queue, i, i);
      Values seen;
      beside_a_look(queue, [&] {
        explore::check(queue.drain([&](const Thing&, const Thing& event) {
          seen.push_back(event.number());
          if (event.number() != 1) return;
          put(queue, 4, 4);
          explore::check(queue.drain_if(take_if([](const Thing&) { return false; })) == 0,
                         "all refused");
        }) == 3,
                       "what was there at the beginning");
      });
      explore::check(seen == Values{1, 2, 3}, "in order");
      explore::check(drain(queue) == Values{4}, "the other one is for the next call");
      check_books(queue, 4, 4);
    },
    Size::large);

// Of two producers and one that refuses, each event is taken once, higher ones first in each call.
const Scenario by_priority("event_store/by_priority", [] {
  QueueOf<Ordered<Plain>> queue;
  put(queue, 0, 10);
  explore::Thread producer([&] {
    put(queue, 0, 20);
    put(queue, 0, 11);
  });
  (void)queue.drain_if(take_if([](const Thing& event) { return event.number() / 10 != 1; }));
  put(queue, 0, 30);
  const Values first = drain(queue);
  for (std::size_t i = 1; i < first.size(); ++i) {
    explore::check(first[i - 1] / 10 >= first[i] / 10, "higher ones first");
    explore::check(first[i - 1] / 10 != first[i] / 10 || first[i - 1] < first[i], "then in order");
  }
  explore::check(!first.empty(), "what came back, at least");
  producer.join();
  const Values rest = drain(queue);
  explore::check(queue.tally().done == 4 && queue.tally().pending == 0, "each once");
  explore::outcome(first.size() * 10 + rest.size());
});

// Two take from one queue with an order of its own.
const Scenario two_by_priority("event_store/two_consumers_by_priority", [] {
  QueueOf<Ordered<Plain>> queue;
  for (const int value : {10, 30, 20}) put(queue, 0, value);
  Values elsewhere;
  explore::Thread other([&] {
    queue.drain([&](const Thing&, const Thing& e) { elsewhere.push_back(e.number()); }, 1);
  });
  const Values here = drain(queue);
  other.join();
  explore::check(here.size() + elsewhere.size() == 3, "each once");
  for (std::size_t i = 1; i < here.size(); ++i) {
    explore::check(here[i - 1] > here[i], "higher ones first");
  }
  explore::check(elsewhere.size() <= 1, "one at most");
  explore::outcome(here.size());
  check_books(queue, 3, 3);
});

// ---- Events that cannot be made ----

// They are passed over: by a call that takes one, by one that gathers, and by the end.
template <class Policies>
void passes_over() {
  QueueOf<Policies> queue;
  for (int round = 0; round < 2; ++round) {
    put_fails(queue, 1);
    put_fails(queue, 2);
    put(queue, 3, 1);
    put_fails(queue, 1);
    put(queue, 4, 2);
    explore::check(queue.tally().accepted == 2 * static_cast<unsigned>(round) + 2,
                   "never enqueued");
    beside_a_look(queue, [&] {
      int seen = 0;
      explore::check(
          queue.drain([&](const Thing&, const Thing& event) { seen = event.number(); }, 1) == 1 &&
              seen == 1,
          "the first that was made");
    });
    explore::check(drain(queue) == Values{2}, "and the next");
  }
  put_fails(queue, 1);
  explore::check(queue.drain(1) == 0, "none");
  check_books(queue, 4, 4);
}

const Scenario voids("event_store/passed_over", [] { passes_over<Plain>(); }, Size::large);
const Scenario voids_gathered(
    "event_store/passed_over_by_who_gathers", [] { passes_over<Ordered<Plain>>(); }, Size::large);
const Scenario voids_with_room(
    "event_store/passed_over_with_its_room",
    [] {
      QueueOf<Bounded<OnFull::reject, Ordered<Plain>>> queue({.capacity = 2});
      for (int round = 0; round < 3; ++round) {
        put_fails(queue, 1);
        put(queue, 1, 1);
        explore::check(queue.enqueue(1, 2) == Status::full, "the place is taken");
        beside_a_look(queue, [&] { explore::check(drain(queue) == Values{1}, "that one"); });
      }
      check_books(queue, 3, 3);
    },
    Size::large);

// ---- Newer ones of the same key ----

// Keys that share a hash; a newer event takes the place of one that waits.
const Scenario replaced(
    "event_store/replaced",
    [] {
      QueueOf<Coalescing<Plain>> queue;
      beside_a_look(queue, [&] {
        for (const int value : {1, 2, 3, 11, 13, 21}) put(queue, value % 10, value);
        explore::check(queue.drain(1) == 1, "one of them");
        explore::check(drain(queue) == Values{13, 21}, "the newest of each");
      });
      check_books(queue, 6, 3, 3);
      for (const int value : {3, 1, 13}) put(queue, value % 10, value);
      explore::check(drain(queue) == Values{1, 13}, "the newest of each again");
      check_books(queue, 9, 5, 4);
    },
    Size::large);

// What came back is not replaced by what came after; then there are two of a key.
const Scenario not_replaced(
    "event_store/came_back",
    [] {
      QueueOf<Coalescing<Plain>> queue;
      put(queue, 1, 1);
      put(queue, 3, 3);
      explore::check(queue.drain_if(take_if([](const Thing&) { return false; })) == 0,
                     "all are refused");
      put(queue, 1, 11);
      put(queue, 3, 13);
      put(queue, 1, 21);
      beside_a_look(queue, [&] {
        explore::check(drain(queue) == Values{1, 3, 13, 21},
                       "those that came back, and the newest");
      });
      put(queue, 1, 31);
      put(queue, 3, 33);
      explore::check(drain(queue) == Values{31, 33}, "as if for the first time");
      check_books(queue, 7, 6, 1);
    },
    Size::large);

// While a call has an event a newer one comes: given back, the older one is replaced.
const Scenario while_taken(
    "event_store/replaced_while_taken",
    [] {
      QueueOf<Coalescing<Plain>> queue;
      put(queue, 1, 1);
      put(queue, 2, 2);
      beside_a_look(queue, [&] {
        int asked = 0;
        const std::size_t count = queue.drain_if(take_if([&](const Thing& key, const Thing&) {
          if (++asked == 1) {
            put(queue, 1, 11);
            // Gathers the newer one while this call has the older one.
            explore::check(queue.drain_if(take_until([](const Thing&) { return true; })) == 0,
                           "none");
          }
          return key.number() != 1;
        }));
        explore::check(count == 1 && asked == 2, "the other one");
      });
      check_books(queue, 3, 1, 1);
      explore::check(drain(queue) == Values{11}, "the newer one");
      put(queue, 1, 21);
      explore::check(drain(queue) == Values{21}, "its key is known no more");
      check_books(queue, 4, 3, 1);
    },
    Size::large);

// By priority as well: the newer one stands where its own priority says.
const Scenario ordered_and_replaced(
    "event_store/replaced_by_priority",
    [] {
      QueueOf<Ordered<Coalescing<Plain>>> queue;
      beside_a_look(queue, [&] {
        for (const int value : {31, 12, 23, 11, 33}) put(queue, value % 10, value);
        explore::check(drain(queue) == Values{33, 12, 11}, "of the newest, higher ones first");
      });
      check_books(queue, 5, 3, 2);
    },
    Size::large);

// In a bounded queue one that is replaced gives its room back at once: it has room for keys.
const Scenario room_of_replaced(
    "event_store/room_of_what_is_replaced",
    [] {
      QueueOf<Bounded<OnFull::reject, Coalescing<Plain>>> queue({.capacity = 3});
      for (int round = 0; round < 3; ++round) {
        for (const int value : {1, 2, 11, 3, 13, 21}) put(queue, value % 10, value);
        explore::check(queue.enqueue(5, 5) == Status::full, "three keys wait");
        explore::check(queue.drain_if(take_if([](const Thing&) { return false; })) == 0, "refused");
        beside_a_look(queue,
                      [&] { explore::check(drain(queue) == Values{2, 13, 21}, "the newest"); });
      }
      check_books(queue, 18, 9, 9);
    },
    Size::large);

// The oldest key goes if there is no room for another one, and only then.
const Scenario overwrites_a_key(
    "event_store/overwrites_a_key",
    [] {
      QueueOf<Bounded<OnFull::overwrite_oldest, Coalescing<Plain>>> queue(
          {.capacity = 2, .on_full = OnFull::overwrite_oldest});
      beside_a_look(queue, [&] {
        for (const int value : {2, 1, 11, 21}) put(queue, value % 10, value);
        explore::check(queue.tally().expired == 0, "a newer one takes no other's room");
        put(queue, 3, 3);
        explore::check(queue.tally().expired == 1, "another key does");
      });
      explore::check(drain(queue) == Values{21, 3}, "the newest");
      check_books(queue, 5, 2, 2, 1);
    },
    Size::large);

// ---- Late ones ----

const Scenario late(
    "event_store/late",
    [] {
      QueueOf<Expiring> queue;
      const auto now = sync::clock::now();
      const auto until = [&](sync::Deadline deadline, int value) {
        explore::check(queue.enqueue_expiring(deadline, 0, value) == Status::ok, "accepted");
      };
      beside_a_look(queue, [&] {
        until(now, 1);
        until(now + std::chrono::hours(1), 2);
        until(now - std::chrono::nanoseconds(1), 3);
        until(sync::no_deadline, 4);
        put(queue, 0, 5);
        until(now, 6);
        int seen = 0;
        explore::check(
            queue.drain([&](const Thing&, const Thing& event) { seen = event.number(); }, 1) == 1 &&
                seen == 2,
            "the first that is not late");
        explore::check(drain(queue) == Values{4, 5}, "nor those");
      });
      check_books(queue, 6, 3, 0, 3);
    },
    Size::large);

// ---- Room ----

const Scenario rejects(
    "event_store/rejects",
    [] {
      QueueOf<Bounded<OnFull::reject>> queue({.capacity = 2});
      Thing third(3);
      beside_a_look(queue, [&] {
        put(queue, 0, 1);
        put(queue, 0, 2);
        explore::check(queue.enqueue(0, std::move(third)) == Status::full, "no room");
        explore::check(third.is_there(), "what is refused is still the caller's");
        explore::check(queue.drain(1) == 1 && queue.enqueue(0, std::move(third)) == Status::ok,
                       "room for one");
        explore::check(queue.enqueue(0, 4) == Status::full, "and for no more");
      });
      explore::check(drain(queue) == Values{2, 3}, "in order");
      check_books(queue, 3, 3);
    },
    Size::large);

const Scenario overwrites(
    "event_store/overwrites",
    [] {
      QueueOf<Bounded<OnFull::overwrite_oldest>> queue(
          {.capacity = 2, .on_full = OnFull::overwrite_oldest});
      beside_a_look(queue, [&] {
        for (int i = 1; i <= 3; ++i) put(queue, 0, i);
        explore::check(queue.drain_if(take_if([](const Thing&) { return false; })) == 0,
                       "they come back");
        put(queue, 0, 4);
      });
      explore::check(drain(queue) == Values{3, 4}, "the oldest are gone");
      put(queue, 0, 5);
      explore::check(drain(queue) == Values{5}, "no more than there must");
      check_books(queue, 5, 3, 0, 2);
    },
    Size::large);

// Where all that is there is being processed nothing can be overwritten, nor waited for.
template <OnFull kOnFull>
void full_in_a_listener() {
  QueueOf<Bounded<kOnFull>> queue({.capacity = 1, .on_full = kOnFull});
  int calls = 0;
  const auto handle = queue.append_listener(0, [&](const Thing&) {
    ++calls;
    explore::check(queue.enqueue(0, 2) == Status::full, "all of them are being processed");
  });
  beside_a_look(queue, [&] {
    put(queue, 0, 1);
    explore::check(queue.drain() == 1 && calls == 1, "once");
    put(queue, 0, 3);
  });
  explore::check(drain(queue) == Values{3}, "there is room again");
  check_books(queue, 2, 2);
}
const Scenario overwrites_none("event_store/overwrites_none",
                               [] { full_in_a_listener<OnFull::overwrite_oldest>(); });
const Scenario waits_for_none("event_store/waits_for_none",
                              [] { full_in_a_listener<OnFull::wait>(); });

// Two producers wait for room: both continue, one after the other.
const Scenario both_wait(
    "event_store/both_wait_for_room",
    [] {
      QueueOf<Bounded<OnFull::wait>> queue(
          {.capacity = 1, .on_full = OnFull::wait, .spin_for = std::chrono::nanoseconds(0)});
      put(queue, 0, 1);
      explore::Thread one([&] { put(queue, 0, 2); });
      explore::Thread two([&] { put(queue, 0, 3); });
      Values seen;
      while (seen.size() < 3) {
        explore::check(queue.wait() == Status::ok, "there is one");
        for (const int value : drain(queue)) seen.push_back(value);
      }
      one.join();
      two.join();
      explore::outcome(static_cast<std::uint64_t>(seen[1]));
      check_books(queue, 3, 3);
    },
    Size::large);

// A producer waits for room, but not for ever: its event is there, or it still has it.
const Scenario waits_so_long(
    "event_store/waits_for_room_so_long",
    [] {
      QueueOf<Bounded<OnFull::wait>> queue(
          {.capacity = 1, .on_full = OnFull::wait, .spin_for = std::chrono::nanoseconds(0)});
      put(queue, 0, 1);
      Thing second(2);
      Status status = Status::ok;
      explore::Thread producer(
          [&] { status = queue.enqueue(std::chrono::milliseconds(1), 0, std::move(second)); });
      const Values seen = drain(queue);
      producer.join();
      explore::check(!seen.empty() && seen[0] == 1, "the first");
      explore::check(status == Status::ok || status == Status::timed_out, "one of the two");
      explore::check(second.is_there() == (status == Status::timed_out), "taken, or its own");
      const std::size_t rest = drain(queue).size();
      explore::check(seen.size() + rest == (status == Status::ok ? 2U : 1U), "as it was told");
      explore::outcome(static_cast<std::uint64_t>(status) * 10 + seen.size());
    },
    Size::large);

// ---- The end, and memory ----

// A listener ends the queue: what is left is destroyed and nobody is called, whatever it held.
template <class Policies>
void ends_in_a_listener() {
  auto queue = std::make_optional<PlainQueueOf<Policies>>();
  for (int i = 1; i <= 3; ++i) put(*queue, i, i);
  (void)queue->drain_if(take_if([](const Thing& event) { return event.number() == 3; }));
  put(*queue, 4, 4);
  put(*queue, 1, 5);
  int calls = 0;
  const auto end = [&](const Thing& event) {
    ++calls;
    queue.reset();
    explore::check(event.number() == 1, "it lives as long as its listener runs");
  };
  for (const int key : {1, 2}) queue->append_listener(key, end);
  explore::Thread other([kept = queue->append_listener(4, [](const Thing&) {})] { kept.remove(); });
  explore::check(queue->drain() == 1, "no more after the end");
  explore::check(calls == 1, "nobody is called");
  other.join();
}
const Scenario end_in_line("event_store/end_in_a_listener", [] { ends_in_a_listener<Plain>(); });
const Scenario end_in_order("event_store/end_in_a_listener_by_priority",
                            [] { ends_in_a_listener<Ordered<Plain>>(); });
const Scenario end_by_key("event_store/end_in_a_listener_by_key",
                          [] { ends_in_a_listener<Coalescing<Plain>>(); });

// Memory fails once while a queue is made, filled, drained and trimmed: nothing is lost or left.
template <class Policies>
void memory_fails() {
  bool failed = false;
  std::uint64_t accepted = 0;
  const auto attempt = [&](auto&& call) {
    try {
      const explore::MayFail may_fail;
      call();
    } catch (const std::bad_alloc&) {
      failed = true;
    }
  };
  std::optional<QueueOf<Policies>> queue;
  attempt([&] { queue.emplace(test::room_for<QueueOf<Policies>>(3, test::full_of<Policies>())); });
  if (!queue.has_value()) return;
  const auto fill = [&](int key) {
    attempt([&] {
      if (queue->enqueue(key, key) == Status::ok) ++accepted;
    });
  };
  for (int i = 1; i <= 3; ++i) fill(i);
  attempt([&] { (void)queue->drain_if(take_if([](const Thing& e) { return e.number() == 1; })); });
  fill(2);
  attempt([&] { queue->trim(); });
  attempt([&] { (void)queue->drain(1); });
  explore::outcome(failed ? 1 : 0);
  const std::uint64_t before = queue->tally().done;
  const std::uint64_t rest = drain(*queue).size();
  const Tally tally = queue->tally();
  explore::check(tally.accepted == accepted && tally.pending == 0, "each is accounted for");
  explore::check(tally.done == before + rest && tally.failed == 0, "done");
  for (int i = 1; i <= 3; ++i) put(*queue, i, i);
  explore::check(drain(*queue).size() == 3, "there is room for as many as ever");
}
const Scenario memory_in_line(
    "event_store/memory_fails", [] { memory_fails<Bounded<OnFull::reject>>(); }, Size::small, 0, 1);
const Scenario memory_in_order(
    "event_store/memory_fails_by_priority",
    [] { memory_fails<Bounded<OnFull::reject, Ordered<Plain>>>(); }, Size::small, 0, 1);
const Scenario memory_by_key(
    "event_store/memory_fails_by_key",
    [] { memory_fails<Bounded<OnFull::reject, Coalescing<Plain>>>(); }, Size::small, 0, 1);

// What a call has taken comes back without an allocation, even if memory was trimmed meanwhile:
// what it has refused, and what it has just come to.
template <class Policies>
void trimmed_meanwhile(bool came_back_before) {
  QueueOf<Policies> queue;
  for (int i = 1; i <= 4; ++i) put(queue, i, i);
  if (came_back_before) (void)queue.drain_if(take_if([](const Thing&) { return false; }));
  explore::Thread other([&] { (void)queue.empty(); });
  std::optional<explore::MayFail> may_fail;
  bool thrown = false;
  try {
    (void)queue.drain_if(take_if([&](const Thing& event) {
      if (event.number() == 1) return false;
      queue.trim();
      may_fail.emplace();
      throw explore::Planned{"by the predicate"};
    }));
  } catch (const explore::Planned&) {
    thrown = true;
  }
  may_fail.reset();
  other.join();
  explore::check(thrown, "by the predicate");
  queue.trim();
  explore::check(drain(queue) == Values{1, 2, 3, 4}, "all of them came back");
  check_books(queue, 4, 4);
}
const Scenario trim_in_line(
    "event_store/trimmed_meanwhile", [] { trimmed_meanwhile<Plain>(false); }, Size::small, 0, 1);
const Scenario trim_in_heap(
    "event_store/trimmed_once_they_came_back", [] { trimmed_meanwhile<Plain>(true); }, Size::small,
    0, 1);
const Scenario trim_in_order(
    "event_store/trimmed_meanwhile_by_priority", [] { trimmed_meanwhile<Ordered<Plain>>(false); },
    Size::small, 0, 1);

}}  // namespace event_store_scenarios
