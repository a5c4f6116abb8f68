// SPDX-License-Identifier: MIT
//
// What follows several results, or a result of a result: when_any, SharedFuture, functions that
// return Futures, cancel(). docs/design/future.md.
#include <handoff/core/future.hpp>
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/internal/promise.hpp>
#include <handoff/core/shared_future.hpp>
#include <handoff/core/when_any.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <utility>

#include "explore/scenario.hpp"
#include "explore/scenarios/core/counted.hpp"
#include "explore/scenarios/core/future_states.hpp"
#include "support/future_host.hpp"

namespace core_follow_scenarios { namespace {

using namespace handoff;
using namespace handoff::detail;
using test::Scenario;
using test::state_of;
using test::why_not_run;

// Two end at once: one of them wins, with what it did before, and nothing of either stays.
const Scenario any("future/when_any", [] {
  sync::atomic<int> alive{0};
  sync::cell<int> seen[2];
  const auto task = [&alive, &seen](int index) {
    return state_of([&seen, index, counted = test::Counted(alive)] {
      seen[index].write() = index + 1;
      return counted;
    });
  };
  auto* const first = task(0);
  auto* const second = task(1);
  auto race =
      when_any(FutureAccess::make<test::Counted>(first), FutureAccess::make<test::Counted>(second));
  explore::Thread one([&] { (void)first->run_as_task(); });
  explore::Thread two([&] { (void)second->run_as_task(); });
  {
    const auto winner = race.get();
    explore::check(seen[winner.index].read() == static_cast<int>(winner.index) + 1, "its work");
  }
  one.join();
  two.join();
  explore::check(alive.load(sync::order::relaxed) == 0, "none");
});

// Nobody waits, while the parts are still being told what follows.
const Scenario any_ends("future/when_any_ends", [] {
  auto* const first = state_of([] { return 1; });
  auto* const second = state_of([] { return 2; });
  explore::Thread one([&] { (void)first->run_as_task(); });
  explore::Thread two([&] { (void)second->drop_as_task(Outcome::cancelled); });
  {
    auto race = when_any(FutureAccess::make<int>(first), FutureAccess::make<int>(second))
                    .then([](FirstResult<int>) {});
  }
  one.join();
  two.join();
});

// A task that waits looks at the parts while one of them ends elsewhere.
const Scenario any_helped("future/when_any_in_a_task", [] {
  test::Host host;
  const test::Place place(host);
  auto* const first = state_of([] { return 1; }, &host);
  auto* const second = state_of([] { return 2; }, &host);
  auto race = when_any(FutureAccess::make<int>(first), FutureAccess::make<int>(second));
  explore::Thread other([&] {
    const test::Place there(host);
    (void)second->run_as_task();
  });
  const auto winner = race.get();
  explore::check(winner.value == static_cast<int>(winner.index) + 1, "its result");
  other.join();
  (void)first->run_as_task();
});

const Scenario shared("future/shared", [] {
  sync::atomic<int> alive{0};
  sync::cell<int> seen;
  auto* const state = state_of([&seen, counted = test::Counted(alive)] {
    seen.write() = 1;
    return counted;
  });
  explore::Thread task([&] { (void)state->run_as_task(); });
  {
    auto result = FutureAccess::make<test::Counted>(state).share();
    explore::Thread reader([result, &seen] {
      (void)result.get();
      explore::check(seen.read() == 1, "what the task did before");
    });
    (void)std::move(result).get();
    explore::check(seen.read() == 1, "what the task did before");
    result = {};
    reader.join();
  }
  task.join();
  explore::check(alive.load(sync::order::relaxed) == 0, "ended with the last copy");
});

// Two tasks wait for one result that follows another one: one of them makes it.
const Scenario shared_helped("future/shared_in_tasks", [] {
  test::Host host;
  const test::Place place(host);
  auto* const state = state_of([] { return 1; }, &host);
  const auto result = FutureAccess::make<int>(state).then([](int n) { return n + 1; }).share();
  explore::Thread other([&host, result] {
    const test::Place there(host);
    explore::check(result.get() == 2, "the result");
  });
  explore::check(result.get() == 2, "the result");
  other.join();
  (void)state->run_as_task();
});

// The Future that a function returned comes from one thread, its result from another one.
const Scenario unwrapped("future/unwrapped", [] {
  sync::cell<int> seen;
  Future<int> inner;
  Promise<int> promise(inner);
  auto* const state = state_of([] { return 1; });
  auto sum = FutureAccess::make<int>(state).then([&inner](int) { return std::move(inner); });
  explore::Thread outer_maker([&] { (void)state->run_as_task(); });
  explore::Thread inner_maker([&] {
    seen.write() = 1;
    promise.set_value(2);
  });
  explore::check(sum.get() == 2 && seen.read() == 1, "the result, and what came before");
  outer_maker.join();
  inner_maker.join();
});

// A task that waits looks at both while they end elsewhere.
const Scenario unwrapped_helped("future/unwrapped_in_a_task", [] {
  test::Host host;
  const test::Place place(host);
  auto* const outer = state_of([] { return 1; }, &host);
  auto* const inner = state_of([] { return 2; }, &host);
  auto sum =
      FutureAccess::make<int>(outer).then([inner](int) { return FutureAccess::make<int>(inner); });
  explore::Thread other([&] {
    const test::Place there(host);
    (void)outer->run_as_task();
    (void)inner->run_as_task();
  });
  explore::check(sum.get() == 2, "the result");
  other.join();
});

const Scenario unwrapped_ends("future/unwrapped_ends", [] {
  auto* const outer = state_of([] { return 1; });
  auto* const inner = state_of([] { return 2; });
  explore::Thread one([&] { (void)outer->run_as_task(); });
  explore::Thread two([&] { (void)inner->run_as_task(); });
  {
    auto sum = FutureAccess::make<int>(outer).then(
        [inner](int) { return FutureAccess::make<int>(inner); });
  }
  one.join();
  two.join();
});

// Either the task runs or it is dropped, and it is counted once.
const Scenario cancelled("future/cancelled", [] {
  test::Host host;
  auto* const state = state_of([] { return 1; }, &host);
  auto future = FutureAccess::make<int>(state);
  Outcome outcome{};
  explore::Thread task([&] { outcome = state->run_as_task(); });
  const bool is_dropped = future.cancel();
  explore::check((why_not_run(future) == Status::stopped) == is_dropped, "dropped, or run");
  task.join();
  explore::check(outcome == (is_dropped ? Outcome::elsewhere : Outcome::done), "counted once");
  explore::check(host.visits.size() == (is_dropped ? 1U : 0U), "counted once");
});

}}  // namespace core_follow_scenarios
