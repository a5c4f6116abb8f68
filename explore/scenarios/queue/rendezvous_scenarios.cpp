// SPDX-License-Identifier: MIT
//
// RendezvousChannel: the scenarios of docs/design/channel.md. An item is handed over once, or is
// still its push's; a wake-up that is lost is a deadlock here.
#include <handoff/queue/rendezvous_channel.hpp>
#include <handoff/queue/select.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/stop_token.hpp>

#include "books/queue_books.hpp"
#include "explore/scenario.hpp"

namespace rendezvous_scenarios { namespace {

using namespace handoff;
using sync::order;
using test::Scenario;

// Empty once it was moved out.
struct Token {
  explicit Token(int its_number = 0) noexcept : number(its_number) {}
  Token(Token&& other) noexcept : number(std::exchange(other.number, 0)) {}
  Token& operator=(Token&& other) noexcept {
    number = std::exchange(other.number, 0);
    return *this;
  }
  int number;
};
using Tokens = test::Audited<RendezvousChannel<Token>>;
using Ints = test::Audited<RendezvousChannel<int>>;
using Room = test::Audited<Channel<int>>;

// A push and a pop, whichever comes first. What the producer did before is seen behind the pop,
// though the items themselves carry nothing.
const Scenario meet("rendezvous/push_and_pop", [] {
  Ints channel;
  int written = 0;
  explore::Thread producer([&] {
    for (int i = 1; i <= 2; ++i) {
      if (i == 2) written = 7;
      explore::check(channel.push(i) == Status::ok, "never closed");
    }
  });
  for (int i = 1; i <= 2; ++i) {
    int out = 0;
    explore::check(channel.pop(out) == Status::ok && out == i, "in order");
  }
  explore::check(written == 7, "what came before the push");
});

// `ok` of a push means that the pop has it: here nobody pops before the flag, so that the push
// cannot be over before.
const Scenario taken("rendezvous/ok_is_taken", [] {
  Ints channel;
  sync::atomic<bool> popping(false);
  explore::Thread producer([&] {
    explore::check(channel.push(1) == Status::ok, "never closed");
    explore::check(popping.load(order::relaxed), "not before the pop has begun");
  });
  popping.store(true, order::relaxed);
  explore::check(channel.pop() == 1, "the item");
});

// The very moment: a push is late just as a pop takes its item. Both or neither.
const Scenario late_push("rendezvous/timed_push", [] {
  Tokens channel;
  Status pushed{};
  Token item(1);
  explore::Thread producer([&] { pushed = channel.push(std::move(item), sync::Deadline{}); });
  const auto out = channel.try_pop();
  producer.join();
  explore::check(out.has_value() == (pushed == Status::ok), "both or neither");
  explore::check(item.number == (out ? 0 : 1), "its own, or handed over");
  explore::check(!out || out->number == 1, "whole");
  explore::check(pushed == Status::ok || pushed == Status::timed_out, "one of the two");
  explore::outcome(out.has_value());
});
const Scenario late_pop("rendezvous/timed_pop", [] {
  Tokens channel;
  Token item(1);
  Status pushed{};
  explore::Thread producer([&] { pushed = channel.try_push(std::move(item)); });
  Token out;
  const Status popped = channel.pop(out, sync::Deadline{});
  producer.join();
  explore::check((popped == Status::ok) == (pushed == Status::ok), "both or neither");
  explore::check(item.number + out.number == 1, "once");
  explore::check(popped == Status::ok || popped == Status::timed_out, "one of the two");
  explore::outcome(popped == Status::ok);
});
const Scenario both_late("rendezvous/timed_both", [] {
  Tokens channel;
  Token item(1);
  Status pushed{};
  explore::Thread producer([&] { pushed = channel.push(std::move(item), sync::Deadline{}); });
  Token out;
  const Status popped = channel.pop(out, sync::Deadline{});
  producer.join();
  explore::check((popped == Status::ok) == (pushed == Status::ok), "both or neither");
  explore::check(item.number + out.number == 1, "once");
  explore::outcome(popped == Status::ok);
});
const Scenario stopped("rendezvous/stop", [] {
  Tokens channel;
  sync::StopSource source;
  Token item(1);
  Status pushed{};
  explore::Thread stopper([&] { source.request_stop(); });
  explore::Thread producer([&] { pushed = channel.push(std::move(item), source.token()); });
  const auto out = channel.try_pop();
  stopper.join();
  producer.join();
  explore::check(out.has_value() == (pushed == Status::ok), "both or neither");
  explore::check(item.number == (out ? 0 : 1), "its own, or handed over");
  explore::outcome(out.has_value());
});

// Two producers, one consumer: each item once. Two consumers, one producer: one item each.
const Scenario two_producers("rendezvous/two_producers", [] {
  Ints channel;
  const auto push_one = [&](int item) {
    explore::check(channel.push(item) == Status::ok, "never closed");
  };
  explore::Thread first([&] { push_one(1); });
  explore::Thread second([&] { push_one(2); });
  const int one = channel.pop().value_or(0);
  const int two = channel.pop().value_or(0);
  explore::check(one + two == 3 && one != two, "each item once");
});
const Scenario two_consumers("rendezvous/two_consumers", [] {
  Ints channel;
  sync::atomic<int> sum(0);
  const auto pop_one = [&] { sum.fetch_add(channel.pop().value_or(0), order::relaxed); };
  explore::Thread first(pop_one);
  explore::Thread second(pop_one);
  explore::check(channel.push(1) == Status::ok, "there is one for each");
  explore::check(channel.push(2) == Status::ok, "there is one for each");
  first.join();
  second.join();
  explore::check(sum.load(order::relaxed) == 3, "each item once");
});

// One that is late leaves the line; the one behind it, or before it, is met all the same.
const Scenario leaves("rendezvous/leaves_the_line", [] {
  Tokens channel;
  Token item(2);
  Status late{};
  explore::Thread hasty([&] { late = channel.push(std::move(item), sync::Deadline{}); });
  explore::Thread patient(
      [&] { explore::check(channel.emplace(1) == Status::ok, "never closed"); });
  int sum = channel.pop()->number;
  hasty.join();
  if (late == Status::ok) sum += channel.pop()->number;
  patient.join();
  explore::check(sum == (late == Status::ok ? 3 : 1), "each item once");
  explore::check(item.number == (late == Status::ok ? 0 : 2), "its own, or handed over");
  explore::outcome(late == Status::ok);
});

// close() against a push and a pop that meet, or wait: all end, and the two agree.
const Scenario closed("rendezvous/close", [] {
  Tokens channel;
  Token item(1);
  Status pushed{};
  explore::Thread producer([&] { pushed = channel.push(std::move(item)); });
  explore::Thread closer([&] { channel.close(); });
  Token out;
  const Status popped = channel.pop(out);
  closer.join();
  producer.join();
  explore::check(pushed == popped, "both met, or both were refused");
  explore::check(pushed == Status::ok || pushed == Status::closed, "one of the two");
  explore::check(item.number == (pushed == Status::ok ? 0 : 1), "its own, or handed over");
  explore::check(channel.closed() && channel.try_push(Token()) == Status::closed, "for good");
  explore::outcome(pushed == Status::ok);
});

// A select meets a push that waits, in either order.
const Scenario selected("rendezvous/select", [] {
  Ints met;
  Room stored(1);
  explore::Thread producer([&] { explore::check(met.push(1) == Status::ok, "never closed"); });
  explore::Thread other([&] { (void)stored.push(2); });
  int sum = 0;
  const auto add = [&](int item) { sum += item; };
  for (int i = 0; i < 2; ++i) {
    explore::check(select(on_item(met, add), on_item(stored, add)) == Status::ok, "one more");
  }
  explore::check(sum == 3, "each item once");
});
// One that takes another item than it was fired for tells the other one.
const Scenario two_selects("rendezvous/two_selects", [] {
  Ints met;
  Room stored(1);
  sync::atomic<int> sum(0);
  const auto add = [&](int item) { sum.fetch_add(item, order::relaxed); };
  const auto serve = [&] {
    explore::check(select(on_item(met, add), on_item(stored, add)) == Status::ok, "one for each");
  };
  explore::Thread reader(serve);
  explore::Thread producer([&] { explore::check(met.push(1) == Status::ok, "never closed"); });
  (void)stored.push(2);
  serve();
  reader.join();
  explore::check(sum.load(order::relaxed) == 3, "each item once");
});
const Scenario late_select("rendezvous/timed_select", [] {
  Tokens channel;
  Token item(1);
  Status pushed{};
  explore::Thread producer([&] { pushed = channel.push(std::move(item), sync::Deadline{}); });
  int got = 0;
  const Status said =
      select(sync::Deadline{}, on_item(channel, [&](Token taken) { got = taken.number; }));
  producer.join();
  explore::check((said == Status::ok) == (pushed == Status::ok), "both or neither");
  explore::check(item.number + got == 1, "once");
  explore::outcome(said == Status::ok);
});
const Scenario closed_select("rendezvous/close_of_a_select", [] {
  Ints channel;
  explore::Thread closer([&] { channel.close(); });
  explore::check(select(on_item(channel, [](int) {})) == Status::closed, "nothing comes");
});

// An item that cannot be made ends its push, whoever came first; the pop gets the next one.
struct Fragile {
  explicit(false) Fragile(int its_number) : number(its_number) {
    if (number < 0) throw std::invalid_argument("a negative one");
  }
  int number;
};
const Scenario fails("rendezvous/item_fails", [] {
  test::Audited<RendezvousChannel<Fragile>> channel;
  explore::Thread failing([&] {
    bool threw = false;
    try {
      (void)channel.push(-1);
    } catch (const std::invalid_argument&) {
      threw = true;
    }
    explore::check(threw, "by its own push");
    explore::check(channel.push(1) == Status::ok, "never closed");
  });
  explore::check(channel.pop()->number == 1, "the one that could be made");
});

}}  // namespace rendezvous_scenarios
