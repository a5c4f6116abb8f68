// SPDX-License-Identifier: MIT
//
// Channel: the scenarios of docs/design/channel.md. A wake-up that is lost is a deadlock here.
#include <handoff/queue/channel.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/pause.hpp>
#include <handoff/sync/stop_token.hpp>

#include "books/queue_books.hpp"
#include "explore/scenario.hpp"

namespace channel_scenarios { namespace {

using namespace handoff;
using sync::order;
using test::Scenario;
using Bounded = test::Audited<Channel<int>>;
using Unbounded = test::Audited<Channel<int, SegmentQueue<int, 1>>>;

// Both ends wait for the other: there is one place for three items.
const Scenario one_place("channel/one_place", [] {
  Bounded channel(1);
  explore::Thread producer([&] {
    for (int i = 1; i <= 3; ++i) explore::check(channel.push(i) == Status::ok, "never closed");
  });
  for (int i = 1; i <= 3; ++i) {
    int out = 0;
    explore::check(channel.pop(out) == Status::ok && out == i, "in order");
  }
});

// Two items, two sleepers. The ring says `empty` while the first push is not done, though the
// second is: the one woken for the second is woken in vain and must not be the last to be woken.
template <class TheChannel>
void two_sleepers(TheChannel& channel) {
  sync::atomic<int> sum(0);
  const auto pop_one = [&] {
    int out = 0;
    explore::check(channel.pop(out) == Status::ok, "there is one for each");
    sum.fetch_add(out, order::relaxed);
  };
  explore::Thread reader(pop_one);
  explore::Thread writer([&] { (void)channel.push(1); });
  explore::Thread second_writer([&] { (void)channel.push(2); });
  pop_one();
  reader.join();
  explore::check(sum.load(order::relaxed) == 3, "each item once");
}
const Scenario sleepers("channel/two_sleepers", [] {
  Bounded channel(2);
  two_sleepers(channel);
});
const Scenario unbounded_sleepers("channel/unbounded", [] {
  Unbounded channel;
  two_sleepers(channel);
});

// The same at the other end: two pushes sleep on a full ring of two.
const Scenario two_writers("channel/two_writers", [] {
  Bounded channel(2);
  (void)channel.push(1);
  (void)channel.push(2);
  explore::Thread writer([&] { explore::check(channel.push(3) == Status::ok, "there is room"); });
  explore::Thread second_writer(
      [&] { explore::check(channel.push(4) == Status::ok, "there is room"); });
  explore::Thread reader([&] { (void)channel.pop(); });
  (void)channel.pop();
  reader.join();
  writer.join();
  second_writer.join();
  explore::check(channel.size() == 2, "four in, two out");
});

// A pop that does not wait makes room for a push that does.
const Scenario try_pop("channel/try_pop", [] {
  Bounded channel(1);
  (void)channel.push(1);
  explore::Thread writer([&] { explore::check(channel.push(2) == Status::ok, "there is room"); });
  explore::check(channel.try_pop() == 1, "what was there");
  writer.join();
  explore::check(channel.try_pop() == 2 && !channel.try_pop(), "and what came");
});

// Two consumers, one item, then close: one gets the item, both learn of the end. The push may be
// half done when the close comes.
const Scenario close_wakes("channel/close", [] {
  Bounded channel(1);
  sync::atomic<int> taken(0);
  const auto drain = [&] {
    while (channel.pop()) taken.fetch_add(1, order::relaxed);
  };
  explore::Thread reader(drain);
  Status pushed{};
  explore::Thread writer([&] { pushed = channel.push(1); });
  explore::Thread closer([&] { channel.close(); });
  drain();
  reader.join();
  writer.join();
  const int expected = pushed == Status::ok ? 1 : 0;
  explore::check(taken.load(order::relaxed) == expected, "accepted is delivered");
  explore::outcome(pushed == Status::ok);
});

const Scenario close_full("channel/close_full", [] {
  Bounded channel(1);
  (void)channel.push(1);
  Status pushed{};
  explore::Thread writer([&] { pushed = channel.push(2); });
  channel.close();
  writer.join();
  explore::check(pushed == Status::closed, "a push that waits is refused");
  explore::check(channel.pop() == 1 && !channel.pop(), "what was accepted comes out");
});

// A stop or a late hour meets an item: it is taken, or it stays for the next; nothing is lost.
const Scenario stop_race("channel/stop", [] {
  Bounded channel(1);
  sync::StopSource source;
  explore::Thread stopper([&] { source.request_stop(); });
  explore::Thread writer([&] { (void)channel.push(1); });
  int out = 0;
  const Status status = channel.pop(out, source.token());
  stopper.join();
  writer.join();
  explore::check(status == (out == 1 ? Status::ok : Status::stopped), "one of the two");
  explore::check(channel.size() == (out == 1 ? 0 : 1), "it is here or there");
  explore::outcome(out == 1);
});

const Scenario timeout_race("channel/timeout", [] {
  Bounded channel(1);
  explore::Thread reader([&] { explore::check(channel.pop().has_value(), "one is left"); });
  explore::Thread writer([&] { (void)channel.push(1); });
  int out = 0;
  const Status status = channel.pop(out, sync::Deadline{});
  explore::check(status == (out == 1 ? Status::ok : Status::timed_out), "one of the two");
  if (status == Status::ok) (void)channel.push(1);
  reader.join();
  writer.join();
  explore::outcome(out == 1);
});

// Batches wake as many as they serve: two readers sleep, then two writers.
const Scenario batch_of_items("channel/batch_of_items", [] {
  Bounded channel(2);
  sync::atomic<int> sum(0);
  const auto pop_one = [&] { sum.fetch_add(*channel.pop(), order::relaxed); };
  explore::Thread first(pop_one);
  explore::Thread second(pop_one);
  std::array<int, 2> items{1, 2};
  explore::check(channel.try_push_batch(items) == 2, "there is room for two");
  first.join();
  second.join();
  explore::check(sum.load(order::relaxed) == 3, "each item once");
});
const Scenario batch_of_places("channel/batch_of_places", [] {
  Bounded channel(2);
  std::array<int, 2> items{1, 2};
  explore::check(channel.try_push_batch(items) == 2, "there is room for two");
  const auto push_one = [&] { explore::check(channel.push(3) == Status::ok, "never closed"); };
  explore::Thread first(push_one);
  explore::Thread second(push_one);
  std::array<int, 2> out{};
  explore::check(channel.try_pop_batch(out) == 2, "both are there");
  explore::check(out[0] == 1 && out[1] == 2, "in order");
  first.join();
  second.join();
  explore::check(channel.size() == 2, "four in, two out");
});

// A visitor makes room, also by an exception.
const Scenario visited("channel/visited", [] {
  Bounded channel(1);
  (void)channel.push(1);
  explore::Thread writer([&] {
    for (int i = 2; i <= 3; ++i) explore::check(channel.push(i) == Status::ok, "never closed");
  });
  explore::check(channel.consume([](int& item) { explore::check(item == 1, "the first"); }) == 1,
                 "as many as it holds");
  for (bool thrown = false; !thrown; sync::pause()) {
    try {
      (void)channel.consume([](int& item) { throw item; });
    } catch (int item) {
      explore::check(item == 2, "in order");
      thrown = true;
    }
  }
  explore::check(channel.pop() == 3, "in order");
});

// A batch and then the end: nobody waits for more.
const Scenario closed_batch("channel/batch_at_the_end", [] {
  Unbounded channel;
  sync::atomic<int> taken(0);
  const auto drain = [&] {
    while (channel.pop()) taken.fetch_add(1, order::relaxed);
  };
  explore::Thread reader(drain);
  std::array<int, 2> items{1, 2};
  explore::check(channel.try_push_batch(items) == 2, "there is always room");
  channel.close();
  explore::check(channel.try_push_batch(items) == 0, "not after the close");
  drain();
  reader.join();
  explore::check(taken.load(order::relaxed) == 2, "accepted is delivered");
});

// An item that cannot be made leaves a place that is passed over: both ends hear of it, the reader
// that waits for what is behind, and the producer that waits for room.
struct Fragile {
  Fragile() = default;
  explicit Fragile(int its_number) : number(its_number) {
    if (number < 0) throw std::invalid_argument("a negative one");
  }
  int number = 0;
};
struct Number {
  operator Fragile() const { return Fragile(number); }  // NOLINT: it converts
  int number;
};
using OfFragile = test::Audited<Channel<Fragile>>;
bool fails_to_push(OfFragile& channel, int number) {
  try {
    explore::check(channel.push(Number{number}) == Status::ok, "never closed");
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}
const Scenario item_fails("channel/item_fails", [] {
  OfFragile channel(2);
  explore::Thread fails([&] { explore::check(fails_to_push(channel, -1), "not made"); });
  explore::Thread writer([&] { explore::check(!fails_to_push(channel, 1), "made"); });
  Fragile out;
  explore::check(channel.pop(out) == Status::ok && out.number == 1, "what is behind it");
  fails.join();
  writer.join();
});
const Scenario room_of_failed("channel/room_of_what_fails", [] {
  OfFragile channel(1);
  explore::Thread writer([&] {
    explore::check(fails_to_push(channel, -1), "not made");
    explore::check(!fails_to_push(channel, 1), "there is room again");
  });
  Fragile out;
  explore::check(channel.pop(out) == Status::ok && out.number == 1, "that one");
  writer.join();
});
const Scenario closed_behind_failed("channel/closed_behind_what_fails", [] {
  OfFragile channel(1);
  explore::Thread writer([&] {
    try {
      (void)channel.push(Number{-1});
    } catch (const std::invalid_argument&) {
    }
  });
  explore::Thread closer([&] { channel.close(); });
  Fragile out;
  explore::check(channel.pop(out) == Status::closed, "there was none");
  writer.join();
  closer.join();
});

}}  // namespace channel_scenarios
