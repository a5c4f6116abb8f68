// SPDX-License-Identifier: MIT
//
// EventQueue call by call: every way in and every way out, filters, batches, waits that end, what
// throws. Another thread comes and goes beside each. A chunk has two places here.
#include <handoff/event/event_queue.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/stop_token.hpp>

#include "books/event_books.hpp"
#include "explore/scenario.hpp"
#include "support/next.hpp"

namespace event_calls_scenarios { namespace {

using namespace handoff;
using namespace test;
using Values = std::vector<int>;
using PlainQueue = EventQueue<int, void(int)>;
using Queue = test::Audited<PlainQueue>;

constexpr std::chrono::nanoseconds kNoSpin(0);

template <class Q>
void put(Q& queue, int key, int value) {
  explore::check(queue.enqueue(key, value) == Status::ok, "accepted");
}
template <class Q>
void fill(Q& queue, int count) {
  for (int i = 1; i <= count; ++i) put(queue, i % 2, i);
}
template <class Q>
Values drain(Q& queue) {
  Values seen;
  queue.drain([&](int, int value) { seen.push_back(value); });
  return seen;
}
template <class Q>
void check_pending(Q& queue, std::uint64_t pending, std::uint64_t failed = 0) {
  const Tally tally = queue.tally();
  explore::check(tally.balanced(), "the books are right");
  explore::check(tally.pending == pending && tally.failed == failed, "as many as are left");
}

// Runs it while another thread listens to a key of its own for a moment.
template <class Q, class Script>
void beside_a_listener(Q& queue, Script&& script) {
  explore::Thread other([&] { queue.append_listener(9, [](int) {}).remove(); });
  script();
}

// ---- Ways out ----

const LargeScenario predicates("event_calls/predicates", [] {
  Queue queue;
  Values seen;
  for (const int key : {0, 1}) {
    queue.append_listener(key, [&](int value) { seen.push_back(value); });
  }
  fill(queue, 5);
  beside_a_listener(queue, [&] {
    explore::check(
        queue.drain_if(take_if([](int key, int value) { return key == 1 && value > 1; })) == 2,
        "by key and arguments");
    explore::check(queue.drain_if(take_if([](int value) { return value == 2; })) == 1,
                   "by arguments");
    explore::check(queue.drain_if(take_if([] { return false; })) == 0, "by nothing");
    explore::check(queue.drain_if(take_until([](int value) { return value == 4; })) == 1,
                   "until then");
  });
  explore::check(seen == Values{3, 5, 2, 1}, "those that were asked for");
  explore::check(queue.drain_if(take_until([] { return false; })) == 1 && seen.back() == 4,
                 "the last");
  check_pending(queue, 0);
});

const LargeScenario visitors("event_calls/visitors", [] {
  Queue queue;
  fill(queue, 6);
  Values seen;
  const auto see = [&](int key, int& value) {
    explore::check(key == value % 2, "its own key");
    seen.push_back(value);
  };
  beside_a_listener(queue, [&] {
    explore::check(queue.drain(see, 1) == 1 && seen == Values{1}, "one");
    explore::check(queue.drain(show_if([](int value) { return value % 2 == 0; }, see)) == 3,
                   "those");
    explore::check(queue.drain(show_until([](int value) { return value == 5; }, see)) == 1,
                   "up to there");
  });
  explore::check(seen == Values{1, 2, 4, 6, 3}, "those that were asked for");
  const auto last_is = [](int last) {
    return [=](int, int value) { return value <= last ? Next::take : Next::stop; };
  };
  explore::check(queue.drain(last_is(4)) == 0, "none");
  explore::check(queue.drain(last_is(5)) == 1, "the last");
  fill(queue, 3);
  explore::check(queue.drain(last_is(2)) == 2, "to a stop");
  fill(queue, 3);
  const auto twos = [](int, int value) { return value == 2 ? Next::take : Next::leave; };
  explore::check(queue.drain(twos) == 1, "it leaves the others");
  explore::check(queue.drain([](int, int) {}, 1) == 1, "one");
  explore::check(drain(queue) == Values{1, 3}, "the rest");
});

const LargeScenario one_by_one("event_calls/peek_take_dispatch", [] {
  Queue queue;
  int sum = 0;
  queue.append_listener(1, [&](int value) { sum += value; });
  beside_a_listener(queue, [&] {
    explore::check(!queue.peek().has_value() && !queue.take().has_value(), "nothing");
    fill(queue, 3);
    const auto first = queue.peek();
    explore::check(first.has_value() && first->key == 1, "the first");
    explore::check(std::get<0>(first->arguments) == 1, "as it was made");
    auto taken = queue.take();
    explore::check(taken.has_value() && std::get<0>(taken->arguments) == 1, "the same");
    explore::check(sum == 0, "nobody was called");
    queue.dispatch(*taken);
    explore::check(sum == 1, "now");
    queue.dispatch(*queue.take());
    explore::check(sum == 1, "nobody listens to that");
    queue.dispatch(*queue.take());
    explore::check(sum == 4, "the last");
  });
  explore::check(queue.drain(1) == 0 && queue.clear() == 0, "none is left");
  fill(queue, 3);
  explore::check(queue.drain(1) == 1 && sum == 5, "one");
  explore::check(queue.clear() == 2 && queue.tally().cancelled == 2, "the others");
  queue.trim();
  check_pending(queue, 0);
});

// ---- To the listeners ----

// A listener is added or goes between two events of one call.
const LargeScenario changes("event_calls/listeners_change_meanwhile", [] {
  Queue queue;
  Values seen;
  ListenerHandle second;
  queue.append_listener(1, [&](int value) {
    seen.push_back(value);
    if (value == 1) second = queue.append_listener(1, [&](int late) { seen.push_back(10 + late); });
    if (value == 5) second.remove();
  });
  beside_a_listener(queue, [&] {
    for (int i = 1; i <= 5; ++i) put(queue, 1, i);
    explore::check(queue.drain() == 5, "all of them");
  });
  explore::check(seen == Values{1, 2, 12, 3, 13, 4, 14, 5}, "from the next event on, until then");
});

// Keys whose low bits are the same, and one to which nobody listens.
const LargeScenario alike("event_calls/keys_alike", [] {
  Queue queue;
  Values seen;
  queue.append_listener(0, [&](int value) { seen.push_back(value); });
  queue.append_listener(16, [&](int value) { seen.push_back(100 + value); });
  beside_a_listener(queue, [&] {
    int value = 0;
    for (const int key : {16, 0, 16, 32, 0}) put(queue, key, ++value);
    explore::check(queue.drain() == 5, "heard or not");
  });
  explore::check(seen == Values{101, 2, 103, 5}, "each by its own listeners");
});

// Another thread makes the table of keys grow, while a call goes from key to key.
template <class Q>
void table_grows_meanwhile() {
  Q queue;
  int calls = 0;
  queue.append_listener(0, [&](int) { ++calls; });
  for (int key = 1; key <= 5; ++key) queue.append_listener(key, [](int) {}).remove();
  for (const int key : {0, 5, 0}) put(queue, key, 1);
  explore::Thread other([&] { queue.append_listener(6, [](int) {}); });
  explore::check(queue.drain() == 3 && calls == 2, "each by its own listeners");
}
const LargeScenario table_grows("event_calls/table_grows_meanwhile",
                                [] { table_grows_meanwhile<PlainQueue>(); });

// A filter that comes in the midst of a call is asked from the next event on.
const LargeScenario filters("event_calls/filters", [] {
  Queue queue;
  Values seen;
  ListenerHandle filter;
  queue.append_listener(1, [&](int value) {
    seen.push_back(value);
    if (value == 2) {
      filter = queue.append_filter([](int& asked) {
        asked += 10;
        return asked != 13;
      });
    }
    if (value == 14) filter.remove();
  });
  beside_a_listener(queue, [&] {
    for (int i = 1; i <= 5; ++i) put(queue, 1, i);
    explore::check(queue.drain() == 5, "asked or not");
  });
  explore::check(seen == Values{1, 2, 14, 5}, "as long as it was there");
  queue.append_filter([](int& asked) { return ++asked != 8; });
  put(queue, 1, 6);
  put(queue, 1, 7);
  explore::check(drain(queue) == Values{7}, "before visitors too");
  check_pending(queue, 0);
});

// What a filter or a listener throws ends the call; its event has failed, the rest stays.
const SizedScenario<Size::large, 1> throws("event_calls/throws", [] {
  Queue queue;
  Values seen;
  queue.append_filter([](int&) {
    explore::may_throw("a filter");
    return true;
  });
  queue.append_listener(1, [&](int value) {
    explore::may_throw("a listener");
    seen.push_back(value);
  });
  for (int i = 1; i <= 4; ++i) put(queue, 1, i);
  explore::Thread other([&] { (void)queue.empty(); });
  std::uint64_t failed = 0;
  for (bool again = true; again;) {
    again = false;
    try {
      (void)queue.drain();
    } catch (const explore::Planned&) {
      ++failed;
      again = true;
      explore::check(queue.tally().pending == 3 - seen.size(), "those behind it");
    }
  }
  other.join();
  explore::check(seen.size() + failed == 4, "each once");
  for (std::size_t i = 1; i < seen.size(); ++i) {
    explore::check(seen[i - 1] < seen[i], "in order");
  }
  check_pending(queue, 0, failed);
  explore::check((queue.tally().first_failure != nullptr) == (failed != 0), "and why");
  explore::outcome(seen.empty() ? 0 : static_cast<std::uint64_t>(seen.front()));
});

// A predicate that throws has not begun the event.
const FailingScenario predicate_throws("event_calls/predicate_throws", [] {
  Queue queue;
  fill(queue, 4);
  explore::Thread other([&] { (void)queue.empty(); });
  std::size_t done = 0;
  try {
    done = queue.drain_if(take_if([](int value) {
      explore::may_throw("a predicate");
      return value % 2 == 0;
    }));
    explore::check(done == 2, "half of them");
  } catch (const explore::Planned&) {
  }
  other.join();
  const std::uint64_t before = queue.tally().done;
  const Values rest = drain(queue);
  explore::check(before + rest.size() == 4 && rest.front() == 1, "none has failed");
  for (std::size_t i = 1; i < rest.size(); ++i) {
    explore::check(rest[i - 1] < rest[i], "back in their places");
  }
  check_pending(queue, 0);
});

// ---- Keys that the queue does not remember ----

struct Word {
  Word(int its_number) : number(its_number) {}  // NOLINT(google-explicit-constructor)
  int number;
  friend bool operator==(const Word&, const Word&) = default;
};
struct ByWord : EventPolicies {
  struct Hash {
    std::size_t operator()(const Word& word) const { return static_cast<std::size_t>(word.number); }
  };
  static Word get_key(int value) { return {value % 2}; }
};

const Scenario words("event_calls/key_inside", [] {
  test::Audited<EventQueue<Word, void(int), ByWord>> queue;
  int odd = 0;
  int even = 0;
  const auto handle = queue.append_listener(Word{1}, [&](int value) { odd += value; });
  queue.append_listener(Word{0}, [&](int value) {
    even += value;
    if (value == 4) handle.remove();
  });
  explore::Thread other([&] { queue.append_listener(Word{7}, [](int) {}).remove(); });
  for (int i = 1; i <= 5; ++i) explore::check(queue.enqueue(i) == Status::ok, "accepted");
  explore::check(queue.enqueue(Word{0}, 7) == Status::ok, "under another key");
  explore::check(queue.drain() == 6, "all of them");
  other.join();
  explore::check(odd == 4 && even == 13, "by the key inside, or the one that it was told");
});

const LargeScenario words_grow("event_calls/table_grows_meanwhile_by_word", [] {
  table_grows_meanwhile<EventQueue<Word, void(int), ByWord>>();
});

const Scenario words_removed("event_calls/key_removed_and_awaited", [] {
  test::Audited<EventQueue<Word, void(int), ByWord>> queue;
  sync::cell<int> owned;
  const auto handle = queue.append_listener(Word{1}, [&](int) { owned.write() += 1; });
  for (int i = 1; i <= 3; ++i) explore::check(queue.enqueue(i) == Status::ok, "accepted");
  explore::Thread consumer([&] { explore::check(queue.drain() == 3, "with or without it"); });
  handle.remove_and_wait();
  owned.write() += 1;
});

// ---- Batches ----

// A batch wakes a sleeper once, at its end, and then all of it is there.
const Scenario batch("event_calls/batch", [] {
  Queue queue({.spin_for = kNoSpin});
  explore::Thread producer([&] {
    std::vector<PlainQueue::Event> events;
    for (int i = 1; i <= 3; ++i) events.emplace_back(std::in_place, i, i);
    explore::check(queue.enqueue_batch(events) == 3, "all of them");
  });
  int last = 0;
  while (last < 3) {
    explore::check(queue.wait() == Status::ok, "there is one");
    for (const int value : drain(queue)) explore::check(value == ++last, "in order");
  }
});

struct HasBound : EventPolicies {
  static constexpr bool bounded = true;
};

// A thread that waits for room holds nothing back: only the sleeper can make it.
const Scenario batch_waits("event_calls/batch_larger_than_room", [] {
  using Bounded = EventQueue<int, void(int), HasBound>;
  test::Audited<Bounded> queue({.capacity = 1, .on_full = OnFull::wait, .spin_for = kNoSpin});
  explore::Thread producer([&] {
    std::vector<Bounded::Event> events;
    for (int i = 1; i <= 2; ++i) events.emplace_back(std::in_place, i, i);
    explore::check(queue.enqueue_batch(events) == 2, "all of them");
  });
  int last = 0;
  while (last < 2) {
    explore::check(queue.wait() == Status::ok, "there is one");
    queue.drain([&](int, int value) { explore::check(value == ++last, "in order"); });
  }
});

const Scenario batch_rejected("event_calls/batch_rejected", [] {
  using Bounded = EventQueue<int, void(std::unique_ptr<int>), HasBound>;
  test::Audited<Bounded> queue({.capacity = 2});
  std::vector<Bounded::Event> events;
  for (int i = 1; i <= 4; ++i) events.emplace_back(std::in_place, i, std::make_unique<int>(i));
  explore::Thread other([&] { (void)queue.empty(); });
  explore::check(queue.enqueue_batch(events) == 2, "as many as there is room for");
  explore::check(std::get<0>(events[1].arguments) == nullptr, "moved");
  explore::check(std::get<0>(events[2].arguments) != nullptr, "still the caller's");
  other.join();
  int last = 0;
  queue.drain([&](int key, const std::unique_ptr<int>& value) {
    explore::check(key == ++last && *value == key, "in order");
  });
  explore::check(last == 2, "and no more");
  queue.shut();
  explore::check(queue.enqueue_batch(events) == 0, "closed");
});

// ---- Waiting ----

const Scenario wait_ends("event_calls/wait_ends", [] {
  Queue queue({.spin_for = kNoSpin});
  explore::Thread producer([&] { put(queue, 0, 1); });
  const Status status = queue.wait(std::chrono::milliseconds(1));
  explore::check(status == Status::ok || status == Status::timed_out, "one of the two");
  producer.join();
  explore::check(queue.wait(std::chrono::nanoseconds(0)) == Status::ok, "it is there");
  explore::check(drain(queue).size() == 1, "the event");
  explore::check(queue.wait(std::chrono::milliseconds(1)) == Status::timed_out, "no other");
  explore::outcome(static_cast<std::uint64_t>(status));
});

const Scenario wait_stops("event_calls/wait_stops", [] {
  Queue queue({.spin_for = kNoSpin});
  sync::StopSource source;
  explore::Thread stopper([&] { source.request_stop(); });
  explore::check(queue.wait(source.token()) == Status::stopped, "as it was told");
  stopper.join();
  put(queue, 0, 1);
  explore::check(queue.wait(source.token()) == Status::ok, "an event comes before the stop");
  explore::check(drain(queue).size() == 1, "the event");
});

// Looking before it sleeps ends with an event, with a stop, and with the close.
const Scenario looks("event_calls/wait_looks", [] {
  Queue queue({.spin_for = std::chrono::hours(1)});
  explore::Thread producer([&] { put(queue, 0, 1); });
  explore::check(queue.wait() == Status::ok, "there is one");
  producer.join();
  explore::check(drain(queue).size() == 1, "the event");
  sync::StopSource source;
  source.request_stop();
  explore::check(queue.wait(source.token()) == Status::stopped, "as it was told");
});

// No thread sleeps on beside an event, however many events and sleepers there are.
const LargeScenario two_sleep("event_calls/two_sleep", [] {
  Queue queue({.spin_for = kNoSpin});
  const auto serve = [&] {
    while (queue.wait() == Status::ok) queue.drain([](int, int) {}, 1);
  };
  explore::Thread one(serve);
  explore::Thread two(serve);
  put(queue, 0, 1);
  put(queue, 0, 2);
  queue.shut();
  explore::check(queue.tally().accepted == 2, "both");
  one.join();
  two.join();
  check_pending(queue, 0);
  explore::check(queue.closed() && queue.tally().done == 2, "what came before the close is done");
});

}}  // namespace event_calls_scenarios
