// SPDX-License-Identifier: MIT
//
// Future's shared state: task, waiter, end, continuation, and who runs it. docs/design/future.md.
#include <handoff/core/not_run.hpp>
#include <handoff/pool/engine.hpp>
#include <handoff/pool/future.hpp>
#include <handoff/sync/cell.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "explore/scenario.hpp"

namespace {

using namespace handoff;
using namespace handoff::detail;
using test::Scenario;

// A state without a pool: its task is played by the scenario.
template <class F>
auto state_of(F function) {
  return RawBox<FutureWork<std::invoke_result_t<F>, F>>().make(nullptr, std::move(function));
}

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
  { auto future = FutureAccess::make<int>(state); }
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
  { auto next = FutureAccess::make<int>(state).then([](int) {}); }
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

}  // namespace
