// SPDX-License-Identifier: MIT
//
// Future's shared state: maker, waiter, end and what follows. docs/design/future.md.
#include <handoff/core/detail/outcome.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/core/when_all.hpp>
#include <handoff/sync/detail/atomic.hpp>
#include <handoff/sync/detail/cell.hpp>
#include <utility>
#include <vector>

#include "explore/core/counted.hpp"
#include "explore/core/future_states.hpp"
#include "explore/scenario.hpp"

namespace {

using namespace handoff;
using namespace handoff::detail;
using test::Scenario;
using test::state_of;

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
  task.join();
});

const Scenario future_ends("future/future_ends", [] {
  auto* const state = state_of([] { return 2; });
  explore::Thread task([&] { (void)state->run_as_task(); });
  {
    auto future = FutureAccess::make<int>(state);
  }
  task.join();
});

const Scenario dropped("future/dropped", [] {
  auto* const state = state_of([] { return 2; });
  auto future = FutureAccess::make<int>(state);
  explore::Thread task([&] { (void)state->drop_as_task(Outcome::cancelled); });
  bool ran = true;
  try {
    (void)future.get();
  } catch (const NotRun&) {
    ran = false;
  }
  explore::check(!ran, "says so");
  task.join();
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
  task.join();
});

const Scenario then_ends("future/then_ends", [] {
  auto* const state = state_of([] { return 2; });
  explore::Thread task([&] { (void)state->run_as_task(); });
  {
    auto next = FutureAccess::make<int>(state).then([](int) {});
  }
  task.join();
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
  one.join();
  two.join();
});

// Nobody waits for what follows: it ends with its source, whoever lets go last.
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
  one.join();
  two.join();
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
  task.join();
});

}  // namespace
