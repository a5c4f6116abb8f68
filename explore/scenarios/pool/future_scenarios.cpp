// SPDX-License-Identifier: MIT
//
// Futures of a pool: who runs what, what it tells, and who is lent. docs/design/future.md.
#include <handoff/core/future.hpp>
#include <handoff/core/internal/promise.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/core/when_all.hpp>
#include <handoff/pool/detail/engine.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/pause.hpp>
#include <handoff/sync/stop_token.hpp>

#include "books/pool_books.hpp"
#include "explore/scenario.hpp"
#include "explore/scenarios/core/future_states.hpp"
#include "explore/scenarios/pool/pool_scenarios.hpp"

namespace pool_future_scenarios { namespace {

using namespace handoff;
using namespace handoff::detail;
using namespace test;

// The scenario's main thread runs a task of a pool as long as this lives, so that its waits help.
class InTask {
 public:
  InTask() : pool({.width = 1}), seat_(*engine_of(pool).sit_down()) { ++seat_.depth; }
  ~InTask() {
    --seat_.depth;
    engine_of(pool).stand_up(seat_);
  }

  test::AuditedPool pool;

 private:
  Worker& seat_;
};

// The waiting thread looks at the continuation while its source ends: the function runs once, here
// or there.
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
    explore::outcome(workplace() != nullptr);  // both, over all executions
    return result + seen.read();
  });
  explore::check(next.get() == 3, "the result of what comes next");
  explore::check(followed.read() == 1, "once");
});

// The same two deep, with sources that end while the walk is at this one or at that.
const LargeScenario looks_at_gathering("future/looks_at_gathering", [] {
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
});

// A queued source: the pool's thread begins it, or the thread that waits for what follows it.
const LargeScenario begins_source("future/begins_source", [] {
  InTask here;
  sync::cell<int> ran;
  auto next = here.pool
                  .submit([&ran] {
                    ++ran.write();
                    return 2;
                  })
                  .then([&ran](int result) { return result + ran.read(); });
  explore::check(next.get() == 3, "the result of what comes next");
});

// ---- What it tells, with the pool and all -------------------------------------------------------

const SingleScenario results("future/results", [] {
  test::AuditedPool pool({.width = 1});
  int number = 1;
  int& reference = pool.submit([&number]() -> int& { return number; }).get();
  explore::check(&reference == &number, "a reference to the same");
  pool.submit([&number] { number = 2; }).get();
  explore::check(number == 2, "nothing, but it ran");
  auto first = pool.submit(
      [](std::unique_ptr<int> own, int more) { return std::make_unique<int>(*own + more); },
      std::make_unique<int>(3), 4);
  auto second = std::move(first);
  explore::check(!first.valid() && second.valid(), "handed on");
  explore::check(*second.get() == 7 && !second.valid(), "given away");
  explore::check(throws<std::logic_error>([&] { (void)second.get(); }), "once");
  explore::check(throws<std::logic_error>([&] { second.wait(); }), "as all the rest");
  explore::check(throws<std::logic_error>([&] { (void)second.is_ready(); }), "as all the rest");
  auto kept = pool.submit([] { return 1; });
  kept = pool.submit([] { return 2; });
  explore::check(kept.get() == 2, "the later one");
});

const SingleScenario follows("future/follows", [] {
  test::AuditedPool pool({.width = 1});
  int here = 0;
  auto failed = pool.submit([] {})
                    .then([] { return 2; })
                    .then([](int number) { throw Failure{number}; })
                    .then([&here] { here = -1; });
  explore::check(thrown_by([&] { failed.get(); }) == 2, "passed on");
  auto source = pool.submit([] { return 3; });
  source.wait();
  explore::check(source.is_ready(), "there");
  explore::check(throws<std::bad_alloc>([&] {
                   const Fragile fragile;
                   (void)std::move(source).then([fragile](int) {});
                 }),
                 "no memory");
  explore::check(source.valid(), "as it was");
  auto next = std::move(source).then([&here](int number) { here = number; });
  explore::check(!source.valid() && next.is_ready() && here == 3, "here and now");
  next.get();
  auto thrown = pool.submit([]() -> int { throw Failure{4}; });
  explore::check(
      thrown_by([&] { (void)std::move(thrown).then([&here](int) { here = -1; }).get(); }) == 4,
      "passed on");
  explore::check(here == 3, "what follows a failure does not run");
  explore::check(pool.close().failed == 1, "of the pool's tasks");
});

// A wait with a stop token or a deadline does not run the task; a wait with neither does.
const SingleScenario waits_in_vain("future/waits_in_vain", [] {
  OpenOnce gate;
  test::HeldPool pool(gate);
  sync::StopSource source;
  auto outside = pool.submit([] { return 1; });
  explore::check(!outside.is_ready(), "not begun");
  explore::check(outside.wait(std::chrono::nanoseconds(1)) == Status::timed_out, "too late");
  pool.post([&] {
    auto inside = pool.submit([&pool] { return pool.worker_index(); });
    explore::check(inside.wait(std::chrono::nanoseconds(1)) == Status::timed_out, "nobody did");
    explore::check(inside.wait(source.token()) == Status::stopped, "nor");
    explore::check(inside.get() == 0, "we do");
  });
  (void)source.request_stop();
  explore::check(outside.wait(source.token()) == Status::stopped, "told");
  gate.open();
  outside.wait();
  explore::check(outside.wait(std::chrono::nanoseconds(0)) == Status::ok, "it is there");
  explore::check(outside.wait(source.token()) == Status::ok, "it is");
  explore::check(outside.get() == 1, "the result");
  explore::check(test::wait_idly(pool) == Status::ok, "idle");
  check_tally(pool.close(), 4, 0, 0);
});

// A task that ran what it waited for has its own tasks below that still.
const SingleScenario own_tasks_after("future/own_tasks_after", [] {
  test::AuditedPool pool({.width = 1});
  std::string order;
  pool.post([&] {
    TaskGroup group(pool);
    group.run([&order] { order += 'g'; });
    auto source = pool.submit([&order] { order += 's'; });
    std::move(source).then([&order] { order += 't'; }).get();
    pool.submit([&order] { order += 'f'; }).get();
    explore::check(group.wait(Until()) == Status::ok, "nobody else would run it");
    order += '.';
  });
  explore::check(test::wait_idly(pool) == Status::ok, "idle");
  explore::check(order == "stfg.", "in this order");
  check_tally(pool.close(), 4, 0, 0);
});

// While it waits for a task of its own pool nothing runs, neither what it has handed over nor what
// the task below it has.
const SingleScenario only_its_own("future/only_its_own", [] {
  test::AuditedPool pool({.width = 1});
  OpenOnce claimed;
  OpenOnce begun;
  auto* const state = state_of(
      [&] {
        claimed.open();
        begun.wait();
        return 2;
      },
      &engine_of(pool));
  auto elsewhere = FutureAccess::make<int>(state);
  std::string order;
  pool.post([&] {
    pool.post([&order] { order += 'x'; });
    TaskGroup group(pool);
    group.run([&] {
      claimed.wait();
      begun.open();
      order += elsewhere.get() == 2 ? 'b' : '?';
    });
    explore::check(group.wait(Until()) == Status::ok, "it ran");
    order += 'a';
  });
  (void)state->run_as_task();
  explore::check(test::wait_idly(pool) == Status::ok, "idle");
  explore::check(order == "bax", "in this order");
  explore::check(pool.statistics().lent == 0, "nobody stands in");
});

// What it waits for runs elsewhere, and what the waiting task has handed over waits for the end of
// the wait.
const SingleScenario leaves_its_posts("future/leaves_its_posts", [] {
  test::AuditedPool pool({.width = 1});
  OpenOnce claimed;
  OpenOnce posted;
  OpenOnce over;
  auto* const state = state_of(
      [&] {
        claimed.open();
        posted.wait();
        return 2;
      },
      &engine_of(pool));
  auto elsewhere = FutureAccess::make<int>(state);
  pool.post([&] {
    claimed.wait();
    pool.post([&over] { over.wait(); });
    posted.open();
    explore::check(elsewhere.get() == 2, "the result");
    over.open();
  });
  (void)state->run_as_task();
  explore::check(test::wait_idly(pool) == Status::ok, "idle");
});

// What it waits for runs elsewhere, and needs what the waiting task has handed over: that never
// runs in the wait, so a stand-in comes for it.
const SingleScenario helps_itself("future/helps_itself", [] {
  OpenOnce begun;
  OpenOnce gate;
  test::AuditedPool pool({.width = 2});
  pool.post([&] {
    auto result = pool.submit([&] {
      begun.open();
      gate.wait();
      return 1;
    });
    begun.wait();
    pool.post([&gate] { gate.open(); });
    explore::check(result.get() == 1, "the result");
  });
  explore::check(test::wait_idly(pool) == Status::ok, "idle");
});

const SingleScenario gathers("future/gathers", [] {
  test::AuditedPool pool({.width = 1});
  explore::check(when_all(std::vector<Future<int>>()).get().empty(), "at once");
  std::vector<Future<int>> futures;
  futures.push_back(pool.submit([]() -> int { throw Failure{1}; }));
  futures.push_back(pool.submit([] { return 2; }));
  auto ready = when_all(std::move(futures)).get();
  explore::check(ready.size() == 2 && ready[0].is_ready() && ready[1].is_ready(), "both");
  explore::check(thrown_by([&] { (void)ready[0].get(); }) == 1, "in their order");
  explore::check(ready[1].get() == 2, "in their order");
  std::vector<Future<int>> empty(1);
  explore::check(throws<std::logic_error>([&] { (void)when_all(std::move(empty)); }), "misuse");
});

// A task waits for a gathering that nobody has begun: it runs all of it, down to the last.
const SingleScenario runs_a_gathering("future/runs_a_gathering", [] {
  test::AuditedPool pool({.width = 1});
  pool.post([&pool] {
    std::vector<Future<int>> futures;
    futures.push_back(pool.submit([] { return 1; }).then([](int number) { return number + 1; }));
    futures.push_back(pool.submit([] { return 3; }));
    auto sum = when_all(std::move(futures)).then([](std::vector<Future<int>> ready) {
      return ready[0].get() + ready[1].get();
    });
    explore::check(sum.get() == 5, "all of it");
  });
  explore::check(test::wait_idly(pool) == Status::ok, "idle");
  check_tally(pool.close(), 3, 0, 0);
});

// What threw where somebody waited for it is in the tally of its pool, and so is what ran for a
// task of another pool.
const SingleScenario counts_what_threw("future/counts_what_threw", [] {
  test::AuditedPool pool({.width = 1});
  pool.post([&pool] {
    auto failed = pool.submit([] { throw Failure{1}; });
    explore::check(thrown_by([&] { failed.get(); }) == 1, "told");
  });
  explore::check(test::wait_idly(pool) == Status::ok, "the Future's");
  const Tally tally = pool.close();
  check_tally(tally, 1, 1, 0);
  explore::check(thrown_by([&] { std::rethrow_exception(tally.first_failure); }) == 1, "kept");
});

const SingleScenario counts_a_visit("future/counts_a_visit", [] {
  ThreadPool home({.width = 1});
  ThreadPool pool({.width = 1});
  sync::atomic<int> gate{0};
  pool.post([&gate] {
    gate.store(1, sync::order::relaxed);
    while (gate.load(sync::order::relaxed) != 2) sync::pause();
  });
  while (gate.load(sync::order::relaxed) != 1) sync::pause();
  auto visited = pool.submit([] { throw Failure{2}; });
  home.submit([&visited] {
        explore::check(thrown_by([&] { visited.get(); }) == 2, "run by the waiter");
      })
      .get();
  explore::check(pool.statistics().run_by_caller == 1, "not by its own");
  gate.store(2, sync::order::relaxed);
  const Tally tally = pool.close();
  check_tally(tally, 1, 1, 0);
  explore::check(thrown_by([&] { std::rethrow_exception(tally.first_failure); }) == 2, "kept");
});

// ---- Who is lent --------------------------------------------------------------------------------

// The only worker waits for what a task behind it brings.
const SingleScenario lends_a_worker("future/lends_a_worker", [] {
  test::AuditedPool pool({.width = 1});
  Future<int> coming;
  Promise<int> promise(coming);
  pool.post([&] { explore::check(coming.get() == 1, "brought"); });
  pool.post([&] { promise.set_value(1); });
  explore::check(pool.close().done == 2, "both ran");
});

// The same through a task of another pool, which waits for it.
const SingleScenario lends_for_another_pool("future/lends_for_another_pool", [] {
  test::AuditedPool other({.width = 1});
  test::AuditedPool pool({.width = 1});
  OpenOnce begun;
  OpenOnce gate;
  auto elsewhere = other.submit([&] {
    begun.open();
    gate.wait();
    return 1;
  });
  begun.wait();
  pool.post([&] { explore::check(elsewhere.get() == 1, "brought"); });
  pool.post([&] { gate.open(); });
  check_tally(pool.close(), 2, 0, 0);
  explore::check(pool.statistics().lent == 1, "one stood in");
  check_tally(other.close(), 1, 0, 0);
  explore::check(other.statistics().lent == 0, "nobody there");
});

}}  // namespace pool_future_scenarios
