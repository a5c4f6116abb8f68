// SPDX-License-Identifier: MIT
//
// select(): the scenarios of docs/design/channel.md. A wake-up that is lost is a deadlock here.
#include <handoff/queue/select.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/stop_token.hpp>

#include "books/queue_books.hpp"
#include "explore/scenario.hpp"

namespace select_scenarios { namespace {

using namespace handoff;
using sync::order;
using test::Scenario;
using Ints = test::Audited<Channel<int>>;

// An item in each of two channels.
const Scenario either("select/either", [] {
  Ints a(1);
  Ints b(1);
  explore::Thread writer([&] { (void)a.push(1); });
  explore::Thread second_writer([&] { (void)b.push(2); });
  int sum = 0;
  const auto add = [&](int item) { sum += item; };
  for (int i = 0; i < 2; ++i) {
    explore::check(select(on_item(a, add), on_item(b, add)) == Status::ok, "there is one more");
  }
  explore::check(sum == 3, "each item once");
});

// Two selects. The one that finds an item just before it would have slept may have been fired for
// another one meanwhile: it wakes the other select.
const Scenario two_selects("select/two_selects", [] {
  Ints a(1);
  Ints b(1);
  sync::atomic<int> sum(0);
  const auto add = [&](int item) { sum.fetch_add(item, order::relaxed); };
  const auto serve = [&] {
    explore::check(select(on_item(a, add), on_item(b, add)) == Status::ok, "one for each");
  };
  explore::Thread reader(serve);
  explore::Thread writer([&] { (void)a.push(1); });
  explore::Thread second_writer([&] { (void)b.push(2); });
  serve();
  reader.join();
  explore::check(sum.load(order::relaxed) == 3, "each item once");
});

// A select and a pop sleep on one channel.
const Scenario select_and_pop("select/and_pop", [] {
  Ints a(2);
  Ints b(1);
  sync::atomic<int> sum(0);
  explore::Thread reader([&] { sum.fetch_add(*a.pop(), order::relaxed); });
  explore::Thread writer([&] {
    (void)a.push(1);
    (void)a.push(2);
  });
  const auto add = [&](int item) { sum.fetch_add(item, order::relaxed); };
  explore::check(select(on_item(a, add), on_item(b, add)) == Status::ok, "one for each");
  reader.join();
  explore::check(sum.load(order::relaxed) == 3, "each item once");
});

const Scenario close_wakes("select/close", [] {
  Ints a(1);
  Ints b(1);
  explore::Thread closer([&] { a.close(); });
  explore::Thread writer([&] {
    (void)b.push(1);
    b.close();
  });
  int sum = 0;
  const auto add = [&](int item) { sum += item; };
  while (select(on_item(a, add), on_item(b, add)) == Status::ok) {
  }
  explore::check(sum == 1, "the last item came before `closed`");
});

// A stop or a late hour meets an item. The select that gives up passes its wake-up on.
const Scenario stop_race("select/stop", [] {
  Ints a(1);
  sync::StopSource source;
  explore::Thread stopper([&] { source.request_stop(); });
  explore::Thread writer([&] { (void)a.push(1); });
  int out = 0;
  const Status status = select(source.token(), on_item(a, [&](int item) { out = item; }));
  explore::check(status == (out == 1 ? Status::ok : Status::stopped), "one of the two");
  explore::outcome(out == 1);
});

const Scenario timeout_race("select/timeout", [] {
  Ints a(2);
  const auto ignore = [](int) {};
  explore::Thread reader(
      [&] { explore::check(select(on_item(a, ignore)) == Status::ok, "one is left"); });
  explore::Thread writer([&] { (void)a.push(1); });
  const Status status = select(sync::Deadline{}, on_item(a, ignore));
  explore::check(status == Status::ok || status == Status::timed_out, "one of the two");
  if (status == Status::ok) (void)a.push(2);
  explore::outcome(status == Status::ok);
});

}}  // namespace select_scenarios
