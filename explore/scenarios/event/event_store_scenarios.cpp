// SPDX-License-Identifier: MIT
//
// Queues with an order of their own, with events that are replaced or refused, and with an end:
// sequences that the models do not draw, while another thread looks at the queue or adds to it.
// Keys and events own memory of the model's, so one that is not destroyed, or twice, is a fault. A
// chunk has two places here.
#include <handoff/event/event_queue.hpp>
#include <handoff/sync/internal/allocate.hpp>

#include "books/event_books.hpp"
#include "explore/scenario.hpp"
#include "support/event_queue_options.hpp"
#include "support/next.hpp"
#include "support/policies.hpp"

namespace event_store_scenarios { namespace {

using namespace handoff;
using namespace test;
using Values = std::vector<int>;

// A number in memory of its own.
class Thing {
 public:
  Thing(int number)  // NOLINT(google-explicit-constructor)
      : number_(::new(sync::allocate(sizeof(int), alignof(int))) int(number)) {}
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
}

// ---- In their order, and back into it ----

// What came during a call is not for it, not even if another call has given it back meanwhile.
const LargeScenario back_meanwhile("event_store/came_back_meanwhile", [] {
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
});

// Two produce and one refuses: each event is taken once, higher ones first in each call.
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

// ---- Newer ones of the same key ----

// Keys that share a hash; a newer event takes the place of one that waits.
const LargeScenario replaced("event_store/replaced", [] {
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
});

// While a call has an event a newer one comes: given back, the older one is replaced.
const LargeScenario while_taken("event_store/replaced_while_taken", [] {
  QueueOf<Coalescing<Plain>> queue;
  put(queue, 1, 1);
  put(queue, 2, 2);
  beside_a_look(queue, [&] {
    int asked = 0;
    const std::size_t count = queue.drain_if(take_if([&](const Thing& key, const Thing&) {
      if (++asked == 1) {
        put(queue, 1, 11);
        // Gathers the newer one while this call has the older one.
        explore::check(queue.drain_if(take_until([](const Thing&) { return true; })) == 0, "none");
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
});

// By priority as well: the newer one stands where its own priority says.
const LargeScenario ordered_and_replaced("event_store/replaced_by_priority", [] {
  QueueOf<Ordered<Coalescing<Plain>>> queue;
  beside_a_look(queue, [&] {
    for (const int value : {31, 12, 23, 11, 33}) put(queue, value % 10, value);
    explore::check(drain(queue) == Values{33, 12, 11}, "of the newest, higher ones first");
  });
  check_books(queue, 5, 3, 2);
});

// In a bounded queue one that is replaced gives its room back at once: it has room for keys.
const LargeScenario room_of_replaced("event_store/room_of_what_is_replaced", [] {
  QueueOf<Bounded<OnFull::reject, Coalescing<Plain>>> queue({.capacity = 3});
  for (int round = 0; round < 3; ++round) {
    for (const int value : {1, 2, 11, 3, 13, 21}) put(queue, value % 10, value);
    explore::check(queue.enqueue(5, 5) == Status::full, "three keys wait");
    explore::check(queue.drain_if(take_if([](const Thing&) { return false; })) == 0, "refused");
    beside_a_look(queue, [&] { explore::check(drain(queue) == Values{2, 13, 21}, "the newest"); });
  }
  check_books(queue, 18, 9, 9);
});

// The oldest key goes if there is no room for another one, and only then.
const LargeScenario overwrites_a_key("event_store/overwrites_a_key", [] {
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
});

// ---- Room ----

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
const LargeScenario both_wait("event_store/both_wait_for_room", [] {
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
});

// A producer waits for room, but not for ever: its event is there, or it still has it.
const LargeScenario waits_so_long("event_store/waits_for_room_so_long", [] {
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
});

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
const FailingScenario memory_in_line("event_store/memory_fails",
                                     [] { memory_fails<Bounded<OnFull::reject>>(); });
const FailingScenario memory_in_order("event_store/memory_fails_by_priority", [] {
  memory_fails<Bounded<OnFull::reject, Ordered<Plain>>>();
});
const FailingScenario memory_by_key("event_store/memory_fails_by_key", [] {
  memory_fails<Bounded<OnFull::reject, Coalescing<Plain>>>();
});

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
const FailingScenario trim_in_line("event_store/trimmed_meanwhile",
                                   [] { trimmed_meanwhile<Plain>(false); });
const FailingScenario trim_in_heap("event_store/trimmed_once_they_came_back",
                                   [] { trimmed_meanwhile<Plain>(true); });
const FailingScenario trim_in_order("event_store/trimmed_meanwhile_by_priority",
                                    [] { trimmed_meanwhile<Ordered<Plain>>(false); });

}}  // namespace event_store_scenarios
