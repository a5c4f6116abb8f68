// SPDX-License-Identifier: MIT
//
// Future's shared state: maker, waiter, end and what follows. docs/design/future.md.
#include <handoff/core/future.hpp>
#include <handoff/core/internal/future_state.hpp>
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/internal/promise.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/core/on_unheard.hpp>
#include <handoff/core/when_all.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/pause.hpp>
#include <tuple>

#include "explore/scenario.hpp"
#include "explore/scenarios/core/counted.hpp"
#include "explore/scenarios/core/future_states.hpp"
#include "support/future_host.hpp"
#include "support/job.hpp"

namespace core_future_scenarios { namespace {

using namespace handoff;
using namespace handoff::detail;
using namespace test;

const Scenario wait("future/wait", [] {
  sync::cell<int> seen;
  auto* const state = state_of([&seen] {
    seen.write() = 1;
    return 2;
  });
  auto future = FutureAccess::make<int>(state);
  explore::Thread task([&] { (void)state->run_as_task(); });
  future.wait();
  explore::check(seen.read() == 1, "what the task did before");
  explore::check(future.get() == 2, "the result");
});

const Scenario future_ends("future/future_ends", [] {
  auto* const state = state_of([] { return 2; });
  explore::Thread task([&] { (void)state->run_as_task(); });
  {
    auto future = FutureAccess::make<int>(state);
  }
});

const Scenario dropped("future/dropped", [] {
  auto* const state = state_of([] { return 2; });
  auto future = FutureAccess::make<int>(state);
  explore::Thread task([&] { (void)state->drop_as_task(Outcome::cancelled); });
  explore::check(why_not_run(future) != Status::ok, "says so");
});

const Scenario then("future/then", [] {
  sync::cell<int> seen;
  auto* const state = state_of([&seen] {
    seen.write() = 1;
    return 2;
  });
  auto future = FutureAccess::make<int>(state);
  explore::Thread task([&] { (void)state->run_as_task(); });
  auto next = std::move(future).then([&seen](int result) { return result + seen.read(); });
  explore::check(next.get() == 3, "the result of what comes next");
});

const Scenario then_ends("future/then_ends", [] {
  auto* const state = state_of([] { return 2; });
  explore::Thread task([&] { (void)state->run_as_task(); });
  {
    auto next = FutureAccess::make<int>(state).then([](int) {});
  }
});

const Scenario all("future/when_all", [] {
  auto* const first = state_of([] { return 1; });
  auto* const second = state_of([] { return 2; });
  std::vector<Future<int>> futures;
  futures.push_back(FutureAccess::make<int>(first));
  futures.push_back(FutureAccess::make<int>(second));
  explore::Thread one([&] { (void)first->run_as_task(); });
  explore::Thread two([&] { (void)second->run_as_task(); });
  auto ready = when_all(std::move(futures)).get();
  explore::check(ready[0].get() + ready[1].get() == 3, "all results");
});

// Two parts that end at once: one of them brings the result of both, of whatever type.
const Scenario all_of_any_type("future/when_all_of_any_type", [] {
  sync::cell<int> seen;
  auto* const first = state_of([] { return 1; });
  auto* const second = state_of([&seen] { seen.write() = 2; });
  auto both = when_all(FutureAccess::make<int>(first), FutureAccess::make<void>(second));
  explore::Thread one([&] { (void)first->run_as_task(); });
  explore::Thread two([&] { (void)second->run_as_task(); });
  explore::check(std::get<0>(both.get()) + seen.read() == 3, "all results");
});

// One of them fails, and its like is all that is left: no result of the other lives on.
const Scenario all_fail_with_one("future/when_all_fails_with_one", [] {
  sync::atomic<int> alive{0};
  auto* const first = state_of([counted = test::Counted(alive)] { return counted; });
  auto* const second = state_of([] { return 2; });
  auto both = when_all(FutureAccess::make<test::Counted>(first), FutureAccess::make<int>(second));
  explore::Thread one([&] { (void)first->run_as_task(); });
  explore::Thread two([&] { (void)second->drop_as_task(Outcome::cancelled); });
  both.wait();
  explore::check(alive.load(sync::order::relaxed) == 0, "none");
  explore::check(why_not_run(both) != Status::ok, "says so");
});

// Nobody waits for what follows: it ends with its source, whichever thread lets go last.
const Scenario gathering_ends("future/gathering_ends", [] {
  auto* const first = state_of([] { return 1; });
  auto* const second = state_of([] { return 2; });
  std::vector<Future<int>> futures;
  futures.push_back(FutureAccess::make<int>(first).then([](int n) { return n; }));
  futures.push_back(FutureAccess::make<int>(second));
  explore::Thread one([&] { (void)first->run_as_task(); });
  explore::Thread two([&] { (void)second->run_as_task(); });
  {
    auto next = when_all(std::move(futures)).then([](std::vector<Future<int>>) {});
  }
});

// The function is destroyed before the result is ready: it may hold what the waiting thread is
// about to destroy. So is a continuation, with the result that it was given.
const Scenario function_ends_first("future/function_ends_first", [] {
  sync::atomic<int> alive{0};
  auto* const state = state_of([counted = test::Counted(alive)] { return counted; });
  auto future = FutureAccess::make<test::Counted>(state);
  explore::Thread task([&] { (void)state->run_as_task(); });
  future.wait();
  explore::check(alive.load(sync::order::relaxed) == 1, "but for the result");
  task.join();
  auto next = std::move(future).then([counted = test::Counted(alive)](const test::Counted&) {});
  next.wait();
  explore::check(alive.load(sync::order::relaxed) == 0, "none");
});

const Scenario follower_ends_first("future/follower_ends_first", [] {
  sync::atomic<int> alive{0};
  auto* const state = state_of([counted = test::Counted(alive)] { return counted; });
  auto next = FutureAccess::make<test::Counted>(state).then(
      [counted = test::Counted(alive)](const test::Counted&) {});
  explore::Thread task([&] { (void)state->run_as_task(); });
  next.wait();
  explore::check(alive.load(sync::order::relaxed) == 0, "none");
});

// ---- From elsewhere -----------------------------------------------------------------------------

const Scenario promised("future/promised", [] {
  sync::cell<int> seen;
  Future<int> future;
  Promise<int> promise(future);
  explore::Thread maker([&] {
    seen.write() = 1;
    promise.set_value(2);
  });
  explore::check(future.get() == 2 && seen.read() == 1, "the result, and what came before");
});

const Scenario promise_ends("future/promise_ends", [] {
  Future<int> future;
  Future<int> other;
  auto promise = std::make_unique<Promise<int>>(future);
  Promise<int> kept(other);
  explore::Thread maker([&] {
    promise.reset();
    kept.set_value(1);
  });
  other = {};
  explore::check(why_not_run(future) != Status::ok, "says so");
});

// Whoever ends last, the maker or the Future: what nobody read is told once.
int unheard_told = 0;  // by one thread at a time

const Scenario unheard_future("future/unheard", [] {
  unheard_told = 0;
  const UnheardHandler before = set_unheard_handler([](const char*) noexcept { ++unheard_told; });
  {
    Future<int> future;
    Promise<int> promise(future);
    Future<int> read;
    Promise<int> kept(read);
    explore::Thread maker([&] {
      promise.set_exception(std::make_exception_ptr(1));
      kept.set_exception(std::make_exception_ptr(2));
    });
    future = {};
    try {
      (void)read.get();
    } catch (int thrown) {
      explore::check(thrown == 2, "what was thrown");
    }
  }
  set_unheard_handler(before);
  explore::check(unheard_told == 1, "told once, of the one that nobody read");
});

// ---- Coroutines ---------------------------------------------------------------------------------

test::Job await(Future<int> future, const sync::cell<int>& seen, sync::cell<int>& got) {
  const int result = co_await future;
  got.write() = result + seen.read();
}

// The coroutine goes on once, here or there, and ends with its awaiter.
const Scenario awaited("future/awaited", [] {
  sync::cell<int> seen;
  sync::cell<int> got;
  auto* const state = state_of([&seen] {
    seen.write() = 1;
    return 2;
  });
  explore::Thread task([&] { (void)state->run_as_task(); });
  await(FutureAccess::make<int>(state), seen, got);
  task.join();
  explore::check(got.read() == 3, "the result");
});

// ---- Waits inside tasks -------------------------------------------------------------------------

// Another thread can work, as long as this one sleeps: it brings what this one waits for.
const Scenario lends("future/lends", [] {
  test::Host host;
  test::Place place(host);
  sync::cell<int> seen;
  Future<int> future;
  Promise<int> promise(future);
  sync::atomic<int> free{0};
  place.on_lent = [&free] { free.store(1, sync::order::release); };
  explore::Thread stand_in([&] {
    while (free.load(sync::order::acquire) == 0) sync::pause();
    seen.write() = 1;
    promise.set_value(2);
  });
  explore::check(future.get() == 2 && seen.read() == 1, "the result");
  explore::check(place.lent == 1 && place.returned == 1, "for so long");
});

// Another thread of the same executor runs a task, and what follows it, while this one waits for
// that: nobody is lent, whatever this one sees of the other.
const Scenario lends_nobody("future/lends_nobody", [] {
  test::Host host;
  test::Place place(host);
  auto* const state = state_of([] { return 1; }, &host);
  explore::Thread task([&] {
    const test::Place there(host);
    (void)state->run_as_task();
  });
  auto next = FutureAccess::make<int>(state).then([](int n) { return n + 1; });
  explore::check(next.get() == 2, "the result");
  explore::check(place.lent == 0, "by one of us");
});

// The same, while what follows is about to be made and takes its time: a thread that comes too late
// for the sources knows who makes it, though it has heard of that by nothing but the bit in the
// word.
const Scenario knows_the_maker("future/knows_the_maker", [] {
  test::Host host;
  test::Place place(host);
  sync::atomic<int> begun{0};
  auto* const state = state_of([] { return 1; }, &host);
  auto next = FutureAccess::make<int>(state).then([&begun](int n) {
    begun.store(1, sync::order::relaxed);
    sync::EventCount never;
    (void)never.await([] { return false; }, sync::deadline_after(std::chrono::seconds(1)), {},
                      sync::Spin::never);
    return n + 1;
  });
  explore::Thread task([&] {
    const test::Place there(host);
    (void)state->run_as_task();
  });
  while (begun.load(sync::order::relaxed) == 0) sync::pause();
  explore::check(next.get() == 2, "the result");
  explore::check(place.lent == 0, "by one of us");
});

}}  // namespace core_future_scenarios
