// SPDX-License-Identifier: MIT
//
// EventQueue and its chunks: the scenarios of docs/design/event_queue.md. A chunk has two places
// here.
#include <handoff/event/event_queue.hpp>
#include <handoff/memory/internal/thread_id.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <initializer_list>

#include "books/event_books.hpp"
#include "explore/scenario.hpp"
#include "support/next.hpp"

namespace event_queue_scenarios { namespace {

using namespace handoff;
using namespace test;
using PlainQueue = EventQueue<int, void(int)>;  // where it ends in the midst of things
using Queue = test::Audited<PlainQueue>;

template <class Q>
void put(Q& queue, int value) {
  explore::check(queue.enqueue(0, value) == Status::ok, "accepted");
}
template <class Q>
void put_all(Q& queue, int first, int last) {
  for (int value = first; value <= last; ++value) put(queue, value);
}

// Takes 1, 2, ...
struct InOrder {
  Queue& queue;
  int last = 0;
  void take() {
    queue.drain([this](int, int value) { explore::check(value == ++last, "in order"); });
  }
};

// Two producers, each in its order, across the end of a chunk.
const Scenario order("event_queue/enqueue", [] {
  Queue queue;
  const auto produce = [&](int from) {
    put(queue, from);
    put(queue, from + 1);
  };
  explore::Thread one([&] { produce(10); });
  produce(20);
  one.join();
  int last[2] = {9, 19};
  const std::size_t count = queue.drain([&](int, int value) {
    const int producer = value / 10 - 1;
    explore::check(value == last[producer] + 1, "FIFO per producer");
    last[producer] = value;
  });
  explore::check(count == 4, "all of them");
  explore::check(queue.tally().balanced() && queue.tally().done == 4, "the books are right");
});

// While events come, one consumer takes them: in order, each once, and none that is not whole.
const Scenario drained("event_queue/drain", [] {
  Queue queue;
  explore::Thread producer([&] { put_all(queue, 1, 3); });
  InOrder events{queue};
  events.take();
  explore::outcome(static_cast<std::uint64_t>(events.last));
  producer.join();
  events.take();
  explore::check(events.last == 3, "all of them");
});

// A producer finds no memory for the next chunk; another one then appends it, to a chunk that the
// first one had appended.
const FailingScenario out_of_memory("event_queue/out_of_memory", [] {
  Queue queue;
  std::size_t accepted = 5;
  explore::Thread producer([&] {
    put_all(queue, 1, 4);
    const explore::MayFail may_fail;
    try {
      put(queue, 5);  // needs none if the other one has appended it
      ++accepted;
    } catch (const std::bad_alloc&) {
    }
  });
  put(queue, 7);
  producer.join();
  explore::check(queue.drain([](int, int) {}) == accepted, "all but one without memory");
  explore::check(queue.tally().balanced(), "the books are right");
  explore::outcome(accepted);
});

// An event enqueued because of another one comes after it.
const Scenario causal("event_queue/causal", [] {
  Queue queue;
  sync::atomic<bool> told(false);
  explore::Thread other([&] {
    // order: acquire pairs with the release below.
    if (told.load(sync::order::acquire)) put(queue, 2);
  });
  put(queue, 1);
  told.store(true, sync::order::release);  // order: release pairs with the acquire above
  other.join();
  int last = 0;
  queue.drain([&](int, int value) { explore::check(value == ++last, "cause first"); });
  explore::outcome(static_cast<std::uint64_t>(last));
});

const Scenario consumers("event_queue/two_consumers", [] {
  Queue queue;
  for (int i = 0; i < 3; ++i) put(queue, i);
  sync::cell<int> times[3];
  const auto take = [&] { queue.drain([&](int, int value) { times[value].write() += 1; }); };
  explore::Thread other(take);
  take();
  other.join();
  take();
  for (const auto& each : times) explore::check(each.read() == 1, "each once");
  explore::check(queue.tally().done == 3, "the books are right");
});

// Chunks come and go while a producer is between its claim and its event.
const Scenario recycling("event_queue/chunks", [] {
  Queue queue;
  explore::Thread producer([&] {
    put(queue, 1);
    put(queue, 1);
  });
  int sum = 0;
  for (int i = 0; i < 2; ++i) {
    put(queue, 1);
    queue.drain([&](int, int value) { sum += value; });
  }
  producer.join();
  queue.drain([&](int, int value) { sum += value; });
  explore::check(sum == 4, "all of them");
});

// A consumer that sleeps or is about to hears of the event.
const Scenario wakes("event_queue/wait", [] {
  Queue queue({.spin_for = std::chrono::nanoseconds(0)});
  explore::Thread producer([&] { put(queue, 7); });
  explore::check(queue.wait() == Status::ok, "there is one");
  explore::check(queue.drain([](int, int) {}) == 1, "and it is whole");
});

const Scenario held("event_queue/held_notification", [] {
  Queue queue({.spin_for = std::chrono::nanoseconds(0)});
  explore::Thread producer([&] {
    const Queue::NotificationHold hold(queue);
    put(queue, 7);
  });
  explore::check(queue.wait() == Status::ok, "there is one");
});

// A thread that waits for the end of the holds as well hears of it, whether event or end comes
// last.
struct Told : Queue {
  using Queue::Queue;
  using Queue::wait_told;
};
const Scenario told("event_queue/told_at_the_end", [] {
  Told queue(EventQueueOptions{.spin_for = std::chrono::nanoseconds(0)});
  explore::Thread holder([&] { const Queue::NotificationHold hold(queue); });
  explore::Thread producer([&] {
    const Queue::NotificationHold hold(queue);
    put(queue, 7);
  });
  explore::check(queue.wait_told(sync::no_deadline) == Status::ok, "there is one");
});

// The hold ends just when an event comes from elsewhere: one of the two wakes the sleeper.
const Scenario released("event_queue/hold_ends", [] {
  Queue queue({.spin_for = std::chrono::nanoseconds(0)});
  auto hold = std::make_optional<Queue::NotificationHold>(queue);
  explore::Thread producer([&] { put(queue, 7); });
  explore::Thread releaser([&] { hold.reset(); });
  explore::check(queue.wait() == Status::ok, "there is one");
});

// A thread that is told that it is closed knows what came before the close.
const Scenario closes("event_queue/close", [] {
  Queue queue({.spin_for = std::chrono::nanoseconds(0)});
  sync::cell<int> before;
  explore::Thread closer([&] {
    before.write() = 1;
    queue.shut();
  });
  explore::check(queue.wait() == Status::closed, "there will be none");
  explore::check(before.read() == 1, "what came before the close");
});

struct Bounded : EventPolicies {
  static constexpr bool bounded = true;
};

const Scenario room("event_queue/room", [] {
  test::Audited<EventQueue<int, void(int), Bounded>> queue(
      {.capacity = 1, .on_full = OnFull::wait});
  explore::Thread producer([&] {
    for (int i = 1; i <= 2; ++i) {
      explore::check(queue.enqueue(0, i) == Status::ok, "accepted in the end");
    }
  });
  int last = 0;
  while (last < 2) {
    explore::check(queue.wait() == Status::ok, "there is one");
    queue.drain([&](int, int value) { explore::check(value == ++last, "in order"); });
  }
});

// A listener that throws gives its event's place back as any other does.
const FailingScenario listener_fails("event_queue/listener_fails", [] {
  EventQueue<int, void(int), Bounded> queue({.capacity = 1, .on_full = OnFull::wait});
  int heard = 0;
  const auto handle = queue.append_listener(0, [&heard](int) {
    ++heard;
    explore::may_throw("a listener");
  });
  explore::Thread producer([&queue] {
    for (int i = 1; i <= 2; ++i) explore::check(queue.enqueue(0, i) == Status::ok, "accepted");
  });
  int thrown = 0;
  while (heard < 2) {
    explore::check(queue.wait() == Status::ok, "there is one");
    try {
      (void)queue.drain();
    } catch (const explore::Planned&) {
      ++thrown;
    }
  }
  producer.join();
  explore::check(queue.tally().balanced(), "the books are right");
  explore::check(queue.enqueue(0, 3) == Status::ok, "there is room again");
  explore::outcome(static_cast<std::uint64_t>(thrown));
});

struct Coalescing : EventPolicies {
  static constexpr bool coalesce = true;
  struct Hash {
    std::size_t operator()(int key) const {
      if (key < 0) throw std::runtime_error("as asked");
      return static_cast<std::size_t>(key);
    }
  };
};

// A newer event of the same key comes while a consumer has the older one and gives it back, and
// another consumer may take the newer one meanwhile: each is delivered or replaced.
const Scenario coalesced("event_queue/coalesced", [] {
  EventQueue<int, void(int), Coalescing> queue;
  explore::check(queue.enqueue(0, 1) == Status::ok, "accepted");
  explore::Thread refuser([&] { (void)queue.drain_if(take_if([](int) { return false; })); });
  explore::check(queue.enqueue(0, 2) == Status::ok, "accepted");
  int last = 0;
  const auto take = [&](int, int value) { last = value; };
  queue.drain(take);
  explore::outcome(static_cast<std::uint64_t>(last));
  refuser.join();
  queue.drain(take);
  const Tally tally = queue.tally();
  explore::check(tally.balanced() && tally.pending == 0 && tally.done >= 1, "none is left");
});

// A hash that throws while one consumer gathers leaves the events where they are, for the other.
const Scenario hash_fails("event_queue/hash_fails", [] {
  std::optional<EventQueue<int, void(int), Coalescing>> queue(std::in_place);
  const auto drain = [&] {
    try {
      return queue->drain([](int, int) {});
    } catch (const std::runtime_error&) {
      return std::size_t{0};
    }
  };
  for (const int key : {1, -1, 2}) {
    explore::check(queue->enqueue(key, 0) == Status::ok, "accepted");
  }
  std::size_t elsewhere = 0;
  explore::Thread consumer([&] { elsewhere = drain(); });
  const std::size_t here = drain();
  consumer.join();
  const Tally tally = queue->tally();
  explore::check(tally.balanced() && tally.done == here + elsewhere, "in the books");
  explore::check(tally.accepted == 3 && tally.pending == 3 - tally.done, "none is lost");
  queue.reset();  // asks for no hash
});

// Whose event finds room knows what was done with the one that made it.
const Scenario reused("event_queue/room_reused", [] {
  test::Audited<EventQueue<int, void(int), Bounded>> queue(
      {.capacity = 1, .on_full = OnFull::wait});
  sync::cell<int> buffer;
  explore::check(queue.enqueue(0, 1) == Status::ok, "there is room");
  explore::Thread consumer([&] { queue.drain([&](int, int) { buffer.write() += 1; }); });
  explore::check(queue.enqueue(0, 2) == Status::ok, "accepted in the end");
  buffer.write() += 1;
  consumer.join();
  explore::check(buffer.read() >= 2, "the first one was processed");
});

// Places across the ends of chunks that the other producer has made.
const Scenario appending("event_queue/append", [] {
  Queue queue;
  explore::Thread producer([&] {
    for (int i = 0; i < 3; ++i) put(queue, 1);
  });
  for (int i = 0; i < 2; ++i) put(queue, 1);
  producer.join();
  explore::check(queue.drain([](int, int) {}) == 5, "all of them");
});

// Events of one producer after the other, each in its order.
void check_in_order(Queue& queue, std::size_t count) {
  int last[4] = {0, 10, 20, 30};
  const std::size_t seen = queue.drain(
      [&](int, int value) { explore::check(value == ++last[value / 10], "FIFO per producer"); });
  explore::check(seen == count && queue.tally().balanced(), "all of them");
}

// A thread that has been alone, so that it needs no atomic additions, and then no longer is.
const Scenario no_longer_alone("event_queue/no_longer_alone", [] {
  Queue queue;
  put_all(queue, 1, 3);
  explore::Thread other([&] { put_all(queue, 11, 12); });
  put_all(queue, 4, 5);
  other.join();
  check_in_order(queue, 7);
});

// When a producer goes on alone: as soon as it has begun a chunk; after another one came too early
// for that to be worth it, with the second in a row; and as at first once it was alone for longer.
// A thread that has never been alone, or no longer is, ends it with one event.
const LargeScenario when_alone("event_queue/when_alone", [] {
  Queue queue;
  int value = 0;
  const auto is_alone = [&] { return detail::Books<PlainQueue>::has_lone_producer(queue); };
  const auto come = [&](int count, const char* alone) {
    for (int i = 0; i < count; ++i) {
      put(queue, ++value);
      explore::check(is_alone() == (alone[i] == '+'), "alone or not");
    }
  };
  const auto disturb = [&] {
    explore::Thread([&] { put(queue, ++value); }).join();
    explore::check(!is_alone(), "there are two");
  };
  explore::Thread other([&] { (void)queue.empty(); });
  come(3, "--+");
  disturb();  // too early
  come(3, "--+");
  disturb();  // again
  come(5, "--+++");
  disturb();  // late enough
  come(2, "++");
  other.join();
  int last = 0;
  queue.drain([&](int, int seen) { explore::check(seen == ++last, "in order"); });
  explore::check(last == value, "all of them");
});

// The same for a thread that has been alone before: what was said at the end of that says nothing.
const LargeScenario twice_alone("event_queue/twice_alone", [] {
  Queue queue;
  put_all(queue, 1, 3);
  explore::Thread([&] { put(queue, 11); }).join();
  put_all(queue, 4, 6);
  explore::Thread other([&] { put(queue, 12); });
  put(queue, 7);
  other.join();
  check_in_order(queue, 9);
});

// The same where the other one is alone next, while the first looks whether it still is.
const Scenario alone_in_turn("event_queue/alone_in_turn", [] {
  Queue queue;
  put_all(queue, 1, 3);
  explore::Thread other([&] { put_all(queue, 11, 15); });
  put(queue, 4);
  other.join();
  check_in_order(queue, 9);
});

// The same where the first one ends, and leaves what it was alone with to the next.
const Scenario alone_after_another("event_queue/alone_after_another", [] {
  Queue queue;
  explore::Thread first([&] { put_all(queue, 1, 4); });
  explore::Thread second([&] {
    first.join();
    put_all(queue, 5, 9);
  });
  put_all(queue, 11, 12);
  second.join();
  check_in_order(queue, 11);
});

// Two come at once.
const Scenario two_more("event_queue/two_come", [] {
  Queue queue;
  put_all(queue, 1, 3);
  explore::Thread one([&] { put(queue, 11); });
  explore::Thread two([&] { put(queue, 21); });
  put(queue, 4);
  one.join();
  two.join();
  check_in_order(queue, 6);
});

// A consumer sees whole events only of a lone producer, in order, and loses no chunk.
const Scenario alone_and_consumed("event_queue/alone_and_consumed", [] {
  Queue queue;
  explore::Thread producer([&] { put_all(queue, 1, 6); });
  InOrder events{queue};
  events.take();
  explore::outcome(static_cast<std::uint64_t>(events.last));
  events.take();
  producer.join();
  events.take();
  explore::check(events.last == 6 && queue.tally().balanced(), "all of them");
});

// The same for a consumer that sees the end of one chunk before it sees that there is another.
const Scenario alone_again("event_queue/alone_again", [] {
  Queue queue;
  put_all(queue, 1, 3);
  InOrder events{queue};
  explore::Thread consumer([&] { events.take(); });
  put_all(queue, 4, 5);
  consumer.join();
  events.take();
  explore::check(events.last == 5 && queue.tally().balanced(), "all of them");
});

// An event that cannot be made leaves its place to be passed over, and its chunk to be recycled.
struct Fragile {
  explicit Fragile(int value) {
    if (value < 0) throw std::invalid_argument("a negative one");
  }
};

const Scenario fragile("event_queue/event_fails", [] {
  EventQueue<int, void(Fragile)> queue;
  const auto accepted = [&](int value) {
    try {
      return queue.enqueue(0, value) == Status::ok;
    } catch (const std::invalid_argument&) {
      return false;
    }
  };
  explore::Thread producer([&] {
    explore::check(accepted(1), "accepted");
    explore::check(!accepted(-1), "never enqueued");
  });
  explore::check(accepted(2), "accepted");
  std::size_t count = queue.drain([](int, const Fragile&) {});
  producer.join();
  count += queue.drain([](int, const Fragile&) {});
  explore::check(count == 2 && queue.tally().accepted == 2, "but for the one that failed");
});

// A listener goes while the queue delivers to it.
const Scenario removal("event_queue/remove_and_wait", [] {
  Queue queue;
  sync::cell<int> owned;
  put(queue, 1);
  put(queue, 2);
  const auto handle = queue.append_listener(0, [&](int) { owned.write() += 1; });
  explore::Thread consumer([&] { explore::check(queue.drain() == 2, "with or without it"); });
  handle.remove_and_wait();
  owned.write() += 1;
});

// The same where the consumer has known both lists before, and goes from one to the other.
void removed_among_keys(std::initializer_list<int> keys) {
  Queue queue;
  sync::cell<int> owned;
  const auto handle = queue.append_listener(0, [&](int) { owned.write() += 1; });
  queue.append_listener(1, [](int) {});
  for (const int key : keys) {
    explore::check(queue.enqueue(key, 1) == Status::ok, "there is room");
  }
  explore::Thread consumer(
      [&] { explore::check(queue.drain() == keys.size(), "with or without it"); });
  handle.remove_and_wait();
  owned.write() += 1;
}
const Scenario removal_among_keys("event_queue/remove_among_keys",
                                  [] { removed_among_keys({0, 1, 0}); });
const LargeScenario removal_among_more("event_queue/remove_among_keys_by_turns",
                                       [] { removed_among_keys({1, 0, 1, 0}); });

// A thread keeps its number until it ends. Any thread that learns the number can rely on that.
const Scenario numbers("lone_thread/numbers", [] {
  using detail::LoneThread;
  explore::check(LoneThread::ended(LoneThread::kNobody), "nobody has ended");
  sync::atomic<std::uint64_t> number_of_one(0);
  std::uint64_t number_of_two = 0;
  sync::cell<int> written;
  explore::Thread one([&] {
    explore::check(LoneThread::enroll(), "there is a number");
    const std::uint64_t mine = LoneThread::number();
    explore::check(LoneThread::enroll() && LoneThread::number() == mine, "it keeps its own");
    explore::check(mine != 0 && !LoneThread::ended(mine), "it has not ended");
    // order: release pairs with the acquire below, so that the number is in its place.
    number_of_one.store(mine, sync::order::release);
    written.write() = 1;
  });
  explore::Thread two([&] {
    explore::check(LoneThread::enroll(), "there is another");
    // order: acquire pairs with the release above
    const std::uint64_t number = number_of_one.load(sync::order::acquire);
    number_of_two = LoneThread::number();
    explore::check(number != number_of_two, "not this thread's");
    if (number != 0 && LoneThread::ended(number)) {
      explore::check(written.read() == 1, "what it did comes before");
    }
  });
  one.join();
  // order: relaxed, after the join
  explore::check(LoneThread::ended(number_of_one.load(sync::order::relaxed)), "it has");
  two.join();
  explore::check(LoneThread::ended(number_of_two), "and the other one");
});

// What is left when the queue ends, and a listener that ends it.
const Scenario ended("event_queue/end_in_a_listener", [] {
  auto queue = std::make_optional<PlainQueue>();
  for (int i = 0; i < 3; ++i) put(*queue, i);
  const auto handle = queue->append_listener(0, [&](int) { queue.reset(); });
  explore::Thread remover([&] { handle.remove(); });
  const std::size_t count = queue->drain();
  remover.join();
  explore::check(count == (queue.has_value() ? 3 : 1), "no more after the end");
  explore::outcome(count);
});

}}  // namespace event_queue_scenarios
