// SPDX-License-Identifier: MIT
//
// What follows several results, or a result of a result: when_any, SharedFuture, functions that
// return Futures, cancel(), request_stop(), with_timeout(). docs/design/future.md.
#include <handoff/core/future.hpp>
#include <handoff/core/inline_executor.hpp>
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/internal/promise.hpp>
#include <handoff/core/internal/timed_result.hpp>
#include <handoff/core/shared_future.hpp>
#include <handoff/core/when_any.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/stop_token.hpp>

#include "explore/scenario.hpp"
#include "explore/scenarios/core/counted.hpp"
#include "explore/scenarios/core/future_states.hpp"
#include "support/future_host.hpp"
#include "support/job.hpp"

namespace core_follow_scenarios { namespace {

using namespace handoff;
using namespace handoff::detail;
using namespace test;

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

// A timer that is played by the scenario.
using Timed = TimedResult<int, struct PlayedTimer>;
struct PlayedTimer {
  bool cancel() const noexcept { return false; }
};

// A stop is requested of a continuation while its task ends on another thread: one of the two
// threads makes the result.
const Scenario asked("future/request_stop", [] {
  test::Host host;
  auto* const state =
      state_of([](const sync::StopToken& stop) { return stop.stop_requested(); }, &host);
  auto future = FutureAccess::make<bool>(state).then([](bool heard) { return heard ? 1 : 2; });
  Outcome outcome{};
  explore::Thread task([&] { outcome = state->run_as_task(); });
  const bool is_asked = future.request_stop();
  explore::check(is_asked || future.is_ready() || outcome != Outcome::elsewhere, "asked, or over");
  const bool is_dropped = why_not_run(future) == Status::stopped;
  task.join();
  explore::check(outcome == (is_dropped ? Outcome::elsewhere : Outcome::done), "counted once");
  explore::check(host.visits.size() == (is_dropped ? 1U : 0U), "counted once");
});

// The same where the function runs in an executor: the last of the two ends the source.
const Scenario asked_through_executor("future/request_stop_through_an_executor", [] {
  test::Host host;
  InlineExecutor here;
  sync::atomic<int> alive{0};
  auto* const state =
      state_of([counted = test::Counted(alive)](const sync::StopToken&) { return counted; }, &host);
  Outcome outcome{};
  explore::Thread task([&] { outcome = state->run_as_task(); });
  {
    auto future =
        FutureAccess::make<test::Counted>(state).then(here, [](const test::Counted&) { return 1; });
    const bool is_asked = future.request_stop();
    explore::check(is_asked || future.is_ready() || outcome != Outcome::elsewhere,
                   "asked, or over");
    const bool is_dropped = why_not_run(future) == Status::stopped;
    explore::check(is_dropped || alive.load(sync::order::relaxed) == 0, "its argument is over");
    explore::check(host.visits.size() == (is_dropped ? 1U : 0U), "counted once");
  }
  task.join();
  explore::check(alive.load(sync::order::relaxed) == 0, "all is over");
});

// Nobody waits; a second thread asks too, as a timer does, while the result is made.
const Scenario asked_twice("future/request_stop_by_two", [] {
  InlineExecutor here;
  auto* const state = state_of([](const sync::StopToken&) { return 1; });
  std::optional<Timed::Alarm> timer;
  {
    Future<int> future = FutureAccess::make<int>(state).then(here, [](int n) { return n; });
    auto in_time = Timed::make(future, [&timer](Timed::Alarm alarm) {
      timer.emplace(std::move(alarm));
      return PlayedTimer();
    });
    explore::Thread moment([&timer] { timer->moment_comes(); });
    explore::Thread task([&] { (void)state->run_as_task(); });
    (void)in_time.request_stop();
    moment.join();
    task.join();
  }
  (*timer)();
  timer.reset();
});

// Two parts are asked, of which one runs, and may win meanwhile.
const Scenario race_asked("future/request_stop_of_a_race", [] {
  test::Host host;
  auto* const first = state_of([](const sync::StopToken&) { return 1; }, &host);
  auto* const second = state_of([](const sync::StopToken&) { return 2; }, &host);
  explore::Thread task([&] { (void)first->run_as_task(); });
  {
    auto race = when_any(FutureAccess::make<int>(first), FutureAccess::make<int>(second));
    explore::check(race.request_stop(), "nobody has begun the second");
    (void)why_not_run(race);
  }
  task.join();
  explore::check(second->run_as_task() == Outcome::elsewhere, "dropped");
});

test::Job count_result(Future<int> future, sync::cell<int>& results) {
  try {
    results.write() += co_await future;
  } catch (const NotRun& error) {
    explore::check(error.status() == Status::timed_out, "too late");
    results.write() += 10;
  }
}

// The result and its moment come at once: one of the two resumes the coroutine, with what it
// brings, and the task is asked to stop, or has been in time.
const Scenario timed("future/with_timeout", [] {
  sync::cell<int> results;
  std::optional<Timed::Alarm> timer;
  auto* const state = state_of([](const sync::StopToken&) { return 1; });
  {
    Future<int> future = FutureAccess::make<int>(state);
    count_result(Timed::make(future,
                             [&timer](Timed::Alarm alarm) {
                               timer.emplace(std::move(alarm));
                               return PlayedTimer();
                             }),
                 results);
  }
  explore::Thread moment([&] {
    (*timer)();
    timer.reset();
  });
  (void)state->run_as_task();
  moment.join();
  explore::check(results.read() == 1 || results.read() == 10, "one of them, once");
});

// Nobody waits any more.
const Scenario timed_ends("future/with_timeout_ends", [] {
  std::optional<Timed::Alarm> timer;
  auto* const state = state_of([](const sync::StopToken&) { return 1; });
  explore::Thread task([&] { (void)state->run_as_task(); });
  std::optional<explore::Thread> moment;
  {
    Future<int> future = FutureAccess::make<int>(state);
    const auto result = Timed::make(future, [&](Timed::Alarm alarm) {
      timer.emplace(std::move(alarm));
      moment.emplace([&timer] {
        (*timer)();
        timer.reset();
      });
      return PlayedTimer();
    });
  }
  task.join();
  moment->join();
});

// The moment comes on one thread, and its call on another one later, beside the source and what
// follows it: nothing of the user's runs in the moment.
const Scenario timed_comes("future/with_timeout_comes", [] {
  sync::cell<int> results;
  sync::cell<int> followed;
  std::optional<Timed::Alarm> timer;
  auto* const state = state_of([](const sync::StopToken&) { return 1; });
  {
    Future<int> future = FutureAccess::make<int>(state).then([&followed](int n) {
      followed.write() += n;
      return n;
    });
    count_result(Timed::make(future,
                             [&timer](Timed::Alarm alarm) {
                               timer.emplace(std::move(alarm));
                               return PlayedTimer();
                             }),
                 results);
  }
  explore::Thread task([&] { (void)state->run_as_task(); });
  timer->moment_comes();
  explore::Thread worker([&] {
    (*timer)();
    timer.reset();
  });
  task.join();
  worker.join();
  explore::check(results.read() == 1 || results.read() == 10, "one of them, once");
  explore::check(followed.read() == 1, "once, read or not");
});

}}  // namespace core_follow_scenarios
