// SPDX-License-Identifier: MIT
//
// Future's shared state: task, waiter, end, continuation, and who runs it. docs/design/future.md.
#include <handoff/core/not_run.hpp>
#include <handoff/pool/engine.hpp>
#include <handoff/pool/future.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/sync/cell.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "books/pool_books.hpp"
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

// The scenario's main thread runs a task of a pool as long as this lives, so that its waits help.
class InTask {
 public:
  explicit InTask(const ThreadPoolOptions& options = {.width = 1})
      : pool(options), seat_(*engine_of(pool).sit_down()) {
    ++seat_.depth;
  }
  ~InTask() {
    --seat_.depth;
    engine_of(pool).stand_up(seat_);
  }

  test::AuditedPool pool;

 private:
  Worker& seat_;
};

// Who waits looks at the continuation while its source ends: the function runs once, here or there.
const Scenario looks_at_continuation("future/looks_at_continuation", [] {
  const InTask here;
  sync::cell<int> seen;
  sync::cell<int> followed;
  auto* const state = state_of([&seen] {
    seen.write() = 1;
    return 2;
  });
  explore::Thread task([&] { (void)state->run_as_task(); });
  auto next = FutureAccess::make<int>(state).then([&](int result) {
    ++followed.write();
    explore::outcome(worker_slot() != nullptr);  // both, over all executions
    return result + seen.read();
  });
  explore::check(next.get() == 3, "the result of what comes next");
  explore::check(followed.read() == 1, "once");
  task.join();
});

// The same two deep, with sources that end while the walk is at this one or at that.
const Scenario looks_at_gathering("future/looks_at_gathering", [] {
  const InTask here;
  sync::cell<int> seen;
  auto* const first = state_of([&seen] {
    seen.write() = 1;
    return 1;
  });
  auto* const second = state_of([] { return 2; });
  std::vector<Future<int>> futures;
  futures.push_back(
      FutureAccess::make<int>(first).then([&seen](int n) { return n + seen.read(); }));
  futures.push_back(FutureAccess::make<int>(second));
  explore::Thread tasks([&] {
    (void)second->run_as_task();
    (void)first->run_as_task();
  });
  auto sum = when_all(std::move(futures)).then([](std::vector<Future<int>> ready) {
    return ready[0].get() + ready[1].get();
  });
  explore::check(sum.get() == 4, "all results");
  tasks.join();
}, test::Size::large);

// The same under a watchdog, whose book must not lead to what is gone. Nothing here waits for ever.
const Scenario watched("future/watched", [] {
  ThreadPoolOptions options{.width = 1};
  options.on_wait_cycle = [](const WaitCycle&) { explore::check(false, "no circle"); };
  const InTask here(options);
  auto* const state = state_of([] { return 2; });
  explore::Thread task([&] { (void)state->run_as_task(); });
  auto next = FutureAccess::make<int>(state).then([](int result) { return result + 1; });
  explore::check(next.get() == 3, "the result of what comes next");
  task.join();
}, test::Size::large);

// A queued source: the pool's thread begins it, or who waits for what follows it.
const Scenario begins_source("future/begins_source", [] {
  InTask here;
  sync::cell<int> ran;
  auto next = here.pool.submit([&ran] {
    ++ran.write();
    return 2;
  }).then([&ran](int result) { return result + ran.read(); });
  explore::check(next.get() == 3, "the result of what comes next");
}, test::Size::large);

// Nobody waits for what follows: it ends with its source, whoever lets go last.
const Scenario gathering_ends("future/gathering_ends", [] {
  auto* const first = state_of([] { return 1; });
  auto* const second = state_of([] { return 2; });
  std::vector<Future<int>> futures;
  futures.push_back(FutureAccess::make<int>(first).then([](int n) { return n; }));
  futures.push_back(FutureAccess::make<int>(second));
  explore::Thread one([&] { (void)first->run_as_task(); });
  explore::Thread two([&] { (void)second->run_as_task(); });
  { auto next = when_all(std::move(futures)).then([](std::vector<Future<int>>) {}); }
  one.join();
  two.join();
});

}  // namespace
