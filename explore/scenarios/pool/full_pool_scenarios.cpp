// SPDX-License-Identifier: MIT
//
// Tasks that a full or a closed pool refuses; waits and their ends; exceptions of tasks.
// docs/design/thread_pool.md.
#include <handoff/core/closing.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/pool/coroutine.hpp>
#include <handoff/pool/submit_std.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/stop_token.hpp>

#include "books/pool_books.hpp"
#include "explore/scenario.hpp"
#include "explore/scenarios/pool/pool_scenarios.hpp"
#include "support/job.hpp"

namespace full_pool_scenarios { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace test;

ThreadPoolOptions bounded(std::size_t capacity, OnFull on_full,
                          PoolMode mode = PoolMode::stealing) {
  ThreadPoolOptions options;
  options.mode = mode;
  options.width = 1;
  options.capacity = capacity;
  options.on_full = on_full;
  return options;
}

Status status_of_refusal(ThreadPool& pool) {
  try {
    (void)pool.submit([] {});
  } catch (const NotRun& refusal) {
    return refusal.status();
  }
  return Status::ok;
}

// ---- Full ---------------------------------------------------------------------------------------

// High before a worker's own before others, and one too many is refused until one has begun.
void rejects(PoolMode mode) {
  OpenOnce gate;
  test::HeldPool pool(gate, bounded(2, OnFull::reject, mode));
  std::string order;
  pool.post([&order] { order += 'n'; });
  pool.post([&order] { order += 'h'; }, {.priority = Priority::high});
  auto own = [number = std::make_unique<int>(7)] { return *number; };
  explore::check(pool.try_post(std::move(own)) == Status::full, "there were two places");
  explore::check(throws<NotRun>([&] { pool.post(std::move(own)); }), "nor by the other call");
  explore::check(pool.try_post(std::move(own), {.priority = Priority::low}) == Status::full, "two");
  explore::check(own() == 7, "what is refused is unmoved");
  explore::check(status_of_refusal(pool) == Status::full, "says why");
  pool.post([&order] { order += 'p'; }, {.worker = 0});
  gate.open();
  explore::check(test::wait_idly(pool) == Status::ok, "idle");
  explore::check(order == "hpn", "in this order");
  pool.post([] {});
  check_tally(pool.close(), 5, 0, 0);
  explore::check(status_of_refusal(pool) == Status::closed, "says why");
}

const SingleScenario rejects_stealing("thread_pool/rejects_stealing",
                                      [] { rejects(PoolMode::stealing); });
const SingleScenario rejects_fixed("thread_pool/rejects_fixed", [] { rejects(PoolMode::fixed); });

// The first of a range that is refused is told, and not moved.
const SingleScenario part_of_a_range("thread_pool/part_of_a_range", [] {
  OpenOnce gate;
  test::HeldPool pool(gate, bounded(2, OnFull::reject));
  sync::atomic<int> sum{0};
  const auto task = [&sum](int number) {
    return
        [&sum, own = std::make_unique<int>(number)] { sum.fetch_add(*own, sync::order::relaxed); };
  };
  std::array tasks{task(1), task(10), task(100), task(1000)};
  const auto refused = pool.try_post_all(tasks.begin(), tasks.end());
  explore::check(refused == tasks.begin() + 2, "two places, two tasks");
  (*refused)();
  gate.open();
  check_tally(pool.close(), 3, 0, 0);
  explore::check(sum.load(sync::order::relaxed) == 111, "each once");
});

// A task beyond the capacity runs on the submitter's thread and is counted.
const SingleScenario runs_here("thread_pool/runs_here", [] {
  OpenOnce gate;
  test::HeldPool pool(gate, bounded(1, OnFull::run_here));
  sync::atomic<int> alive{0};
  pool.post([] {});
  int here = 0;
  pool.post([&here, &pool, counted = test::Counted(alive)] {
    ++here;
    explore::check(!pool.worker_index(), "nobody's thread but ours");
  });
  explore::check(here == 1 && alive.load(sync::order::relaxed) == 0, "it is over");
  std::array<char, 100> large{};
  explore::check(pool.try_post([&here] { here = -1; }) == Status::full, "not even here");
  pool.post([&here, large] { here += 1 + large[0]; });
  explore::check(here == 2 && pool.submit([] { return 5; }).get() == 5, "each kind of task");
  pool.post([] { throw Failure{3}; });
  explore::check(throws<std::bad_alloc>([&] { pool.post(test::Fragile()); }), "no task");
  sync::StopSource source;
  (void)source.request_stop();
  pool.post([&here] { here = -1; }, {.until = source.token()});
  const Tally now = pool.tally();
  explore::check(now.done == 3 && now.failed == 1 && now.cancelled == 2, "told at once");
  explore::check(now.accepted == 8 && now.pending == 2 && now.balanced(), "two are not over");
  explore::check(pool.statistics().run_by_caller == 6, "run here");
  explore::check(pool.statistics().from_outside == 2, "run there");
  gate.open();
  explore::check(thrown_by([&] { pool.wait(); }) == 3, "of the task that was run here");
  explore::check(thrown_by([&] { pool.wait(); }) == 0, "once");
  check_tally(pool.close(), 5, 1, 2);
  explore::check(pool.try_post([&here] { here = -1; }) == Status::closed, "not here either");
  explore::check(here == 2, "what was refused did not run");
});

// Each hands over the next one while it runs here. In a model the third inside each other is one
// too many: it waits in the queue, beyond the capacity, and is counted as others are.
const SingleScenario runs_here_to_a_depth("thread_pool/runs_here_to_a_depth", [] {
  OpenOnce gate;
  test::HeldPool pool(gate, bounded(1, OnFull::run_here));
  pool.post([] {});
  sync::cell<int> there;
  pool.post([&] {
    pool.post([&] {
      pool.post([&there] { there.write() = 1; });
      explore::check(pool.statistics().from_outside == 3, "in the queue");
      pool.post([&there] { there.write() += 1; }, {.priority = Priority::low});
    });
  });
  explore::check(pool.statistics().run_by_caller == 2, "two");
  explore::check(pool.try_post([] {}) == Status::full, "there is less than no room");
  gate.open();
  check_tally(pool.close(), 6, 0, 0);
  explore::check(there.read() == 2, "both ran");
});

// A submitter that finds no room waits for it, in each kind of queue.
const SingleScenario waits_for_room("thread_pool/waits_for_room", [] {
  OpenOnce gate;
  test::HeldPool pool(gate, bounded(1, OnFull::wait));
  sync::atomic<int> ran{0};
  const auto task = [&ran] { ran.fetch_add(1, sync::order::relaxed); };
  pool.post(task);
  explore::check(pool.try_post(task) == Status::full, "without a wait");
  explore::Thread other([&] {
    pool.post(task);
    pool.post(task, {.priority = Priority::low});
  });
  gate.open();
  other.join();
  check_tally(pool.close(), 4, 0, 0);
  explore::check(ran.load(sync::order::relaxed) == 3, "all of them");
});

// A task cannot wait for room that it may have to make itself.
const SingleScenario a_task_waits_for_no_room("thread_pool/a_task_waits_for_no_room", [] {
  test::AuditedPool pool(bounded(1, OnFull::wait));
  std::string order;
  pool.post([&] {
    pool.post([&order] { order += '2'; });
    pool.post([&order] { order += '1'; });
    pool.post([&order] { order += '1'; }, {.priority = Priority::high});
  });
  explore::check(test::wait_idly(pool) == Status::ok, "idle");
  check_tally(pool.close(), 4, 0, 0);
  explore::check(order == "112", "two were run by the task");
});

// close() refuses the tasks of submitters that wait for room: none of them runs.
const SingleScenario close_ends_wait_for_room("thread_pool/close_ends_wait_for_room", [] {
  OpenOnce gate;
  test::HeldPool pool(gate, bounded(1, OnFull::wait));
  pool.post([] {});
  explore::Thread other([&] {
    explore::check(throws<NotRun>([&] { pool.post([] { explore::check(false, "refused"); }); }),
                   "it is closed");
    gate.open();
  });
  check_tally(pool.close(), 2, 0, 0);
});

// A moment that has come takes a place that is not there, and gives it back.
const SingleScenario moments_need_no_room("thread_pool/moments_need_no_room", [] {
  OpenOnce gate;
  test::HeldPool pool(gate, bounded(1, OnFull::reject));
  sync::atomic<int> ran{0};
  pool.post([] {});
  (void)pool.post_at(sync::clock::now(), [&ran] { ran.fetch_add(1, sync::order::relaxed); });
  while (pool.statistics().from_outside != 3) sync::pause();
  explore::check(pool.try_post([] {}) == Status::full, "still full");
  gate.open();
  pool.wait();
  explore::check(ran.load(sync::order::relaxed) == 1, "it ran");
  pool.post([] {});
  check_tally(pool.close(), 4, 0, 0);
});

// A task refused because the pool closed meanwhile is not counted.
const Scenario runs_here_against_close("thread_pool/runs_here_against_close", [] {
  test::AuditedPool pool(bounded(1, OnFull::run_here));
  sync::atomic<bool> gate{false};
  pool.post([&gate] {
    while (!gate.load(sync::order::relaxed)) sync::pause();
  });
  sync::atomic<unsigned> ran{0};
  explore::Thread other([&] {
    try {
      pool.post([&ran] { ran.fetch_add(1, sync::order::relaxed); });
    } catch (const NotRun& refused) {
      explore::check(refused.status() == Status::closed, "nothing between");
    }
  });
  gate.store(true, sync::order::relaxed);
  const Tally tally = pool.close();
  other.join();
  explore::check(tally.done == 1U + ran.load(sync::order::relaxed), "what was accepted ran");
  explore::check(tally.done == tally.accepted, "and nothing else is counted");
});

// ---- Closed -------------------------------------------------------------------------------------

// Goes over to the pool, and says why if it could not.
Job resume_in(ThreadPool& pool, Status& why) {
  try {
    co_await pool.schedule();
  } catch (const NotRun& error) {
    why = error.status();
  }
}

const SingleScenario goes_over("thread_pool/coroutine_goes_over", [] {
  test::AuditedPool pool({.width = 1});
  Status why = Status::full;
  std::optional<std::size_t> index;
  [](ThreadPool& there, Status& refusal, std::optional<std::size_t>& at) -> Job {
    co_await there.schedule(Priority::high);
    refusal = Status::ok;
    at = there.worker_index();
    throw Failure{8};
  }(pool, why, index);
  explore::check(thrown_by([&pool] { (void)test::wait_idly(pool); }) == 8, "what left it");
  explore::check(why == Status::ok && index == 0, "it went on there");
  check_tally(pool.close(), 0, 1, 0);
  resume_in(pool, why);
  explore::check(why == Status::closed, "here and now");
});

// A task that waits for the end of the pool, and behind it one of each kind. Nothing of these runs,
// all of it ends.
void drops(const Closing& closing, Status why) {
  sync::atomic<int> alive{0};
  const test::Counted counted(alive);
  Status dropped_here = Status::ok;
  test::AuditedPool pool({.width = 1});
  sync::atomic<bool> begun{false};
  pool.post([&pool, &begun] {
    pool.submit([] {}).get();  // whose entry in the queue is left, and dropped too
    begun.store(true, sync::order::release);
    test::until_dropping(pool);
  });
  while (!begun.load(sync::order::acquire)) sync::pause();
  pool.post([] { explore::check(false, "dropped"); });
  pool.post([counted] { explore::check(false, "dropped"); });
  pool.post(
      [counted, large = std::array<char, 100>{}] { explore::check(large[0] != 0, "dropped"); });
  pool.post([counted] { explore::check(false, "dropped"); }, {.worker = 0});
  auto future = pool.submit([counted] { return 1; });
  auto std_future = submit_std(pool, [counted] { return 1; });
  resume_in(pool, dropped_here);
  const Tally tally = pool.close(closing);
  const std::uint64_t dropped = closing.begins_more ? tally.expired : tally.cancelled;
  explore::check(dropped == 8, "six of ours, one that resumes, one that told");
  explore::check(tally.done + dropped == tally.accepted, "each has one end");
  explore::check(alive.load(sync::order::relaxed) == 1, "what they held is gone");
  try {
    (void)future.get();
    explore::check(false, "it did not run");
  } catch (const NotRun& error) {
    explore::check(error.status() == why, "says why");
  }
  explore::check(throws<NotRun>([&std_future] { (void)std_future.get(); }), "it did not run");
  explore::check(dropped_here == why, "the coroutine is told");
  explore::check(pool.close().accepted == tally.accepted, "the same again");
}

const SingleScenario abandons("thread_pool/abandons",
                              [] { drops(Closing::abandon, Status::stopped); });
const SingleScenario expires("thread_pool/expires", [] {
  drops(Closing::finish_until(sync::clock::now()), Status::timed_out);
});

// What a guest has begun is waited for, as what a worker has.
const SingleScenario expires_beside_a_guest("thread_pool/expires_beside_a_guest", [] {
  OpenOnce gate;
  test::HeldPool pool(gate);
  OpenOnce begun;
  pool.post([&begun] {
    begun.open();
    sync::pause();
  });
  explore::Thread guest([&pool] { (void)pool.wait(); });
  begun.wait();
  gate.open();
  check_tally(pool.close(Closing::finish_until(sync::clock::now())), 2, 0, 0);
});

// Tasks of the pool itself are refused while it drains; those of a group are not.
const SingleScenario drains("thread_pool/drains", [] {
  test::AuditedPool pool({.width = 1});
  sync::atomic<bool> begun{false};
  sync::cell<int> in_group;
  pool.post([] {}, {.priority = Priority::high});  // a queue that is there
  pool.post([&] {
    begun.store(true, sync::order::release);
    while (pool.try_post([] {}) != Status::closed) sync::pause();
    while (pool.try_post([] {}, {.priority = Priority::high}) != Status::closed) sync::pause();
    while (pool.try_post([] {}, {.worker = 0}) != Status::closed) sync::pause();
    explore::check(throws<NotRun>([&] { (void)pool.post_after(1h, [] {}); }), "closed");
    TaskGroup group(pool);
    group.run([&in_group] { in_group.write() = 1; });
    explore::check(group.wait(Until()) == Status::ok, "its own work goes on");
  });
  while (!begun.load(sync::order::acquire)) sync::pause();
  const Tally tally = pool.close();
  explore::check(tally.done == tally.accepted && tally.done >= 3, "all of it ran");
  explore::check(in_group.read() == 1, "and the group's");
});

// ---- Waiting ------------------------------------------------------------------------------------

const SingleScenario wait_ends("thread_pool/wait_ends", [] {
  test::AuditedPool pool({.width = 1});
  explore::check(pool.wait(sync::clock::now()) == Status::ok, "there is nothing to wait for");
  OpenOnce gate;
  sync::StopSource source;
  test::hold(pool, gate);
  explore::check(pool.wait(1ns) == Status::timed_out, "it goes on");
  explore::Thread other([&] { (void)source.request_stop(); });
  explore::check(pool.wait(source.token()) == Status::stopped, "it goes on");
  other.join();
  explore::check(pool.wait({1ns, source.token()}) == Status::stopped, "too");
  gate.open();
  pool.wait();
  check_tally(pool.tally(), 1, 0, 0);
});

// A wait without a deadline helps: the only worker is held until the other task has run.
const SingleScenario who_waits_helps("thread_pool/who_waits_helps", [] {
  OpenOnce gate;
  test::HeldPool pool(gate);
  std::size_t index = 0;
  pool.post([&] {
    index = pool.worker_index().value();
    gate.open();
  });
  pool.wait();
  explore::check(index == 1 && pool.index_count() == 2, "on the seat behind the workers");
  explore::check(!pool.worker_index(), "which is free again");
  const PoolStatistics figures = pool.statistics();
  explore::check(figures.workers[0].run == 1 && figures.workers[1].run == 1, "one each");
});

// It waits for itself.
const SingleScenario waits_for_itself("thread_pool/waits_for_itself", [] {
  test::AuditedPool pool({.width = 1});
  sync::cell<int> refused;
  pool.post([&] {
    refused.write() += throws<std::logic_error>([&] { pool.wait(); }) ? 1 : 0;
    refused.write() += throws<std::logic_error>([&] { (void)pool.close(); }) ? 1 : 0;
  });
  check_tally(pool.close(), 1, 0, 0);
  explore::check(refused.read() == 2, "both are misuse");
});

// A guest that is in no task may wait and close.
const SingleScenario guest_closes("thread_pool/guest_closes", [] {
  test::AuditedPool pool({.width = 1});
  TaskGroup group(pool);
  sync::atomic<int> ran{0};
  group.run([&ran] { ran.fetch_add(1, sync::order::relaxed); });
  pool.wait();
  explore::check(ran.load(sync::order::relaxed) == 1, "it ran");
  group.run([&ran] { ran.fetch_add(1, sync::order::relaxed); });
  check_tally(pool.close(), 2, 0, 0);
  explore::check(ran.load(sync::order::relaxed) == 2, "that too");
  explore::check(group.wait(Until()) == Status::ok, "nothing is left");
});

const SingleScenario refuses_options("thread_pool/refuses_options", [] {
  const auto refused = [](const ThreadPoolOptions& options) {
    return throws<std::logic_error>([&options] { const ThreadPool pool(options); });
  };
  explore::check(refused({.width = ThreadPool::max_width + 1}), "too wide");
  explore::check(refused({.mode = PoolMode::cached, .width = 1, .core = 2}), "a core too wide");
  explore::check(refused({.width = 1, .capacity = 1, .on_full = OnFull::grow}), "grows anyway");
  explore::check(refused({.width = 1, .on_full = OnFull::overwrite_oldest}), "loses nothing");
  explore::check(refused({.mode = static_cast<PoolMode>(9), .width = 1}), "no such mode");
  const test::AuditedPool wide({.mode = PoolMode::cached, .width = 1, .core = 1});
  explore::check(wide.width() == 1 && wide.statistics().threads == 1, "a core as wide as it all");
});

// ---- Thrown -------------------------------------------------------------------------------------

// The first is rethrown once, and is in the tally for good.
const SingleScenario wait_rethrows("thread_pool/wait_rethrows", [] {
  test::AuditedPool pool({.width = 1});
  const auto wait = [&pool] { (void)test::wait_idly(pool); };
  pool.post([] { throw Failure{1}; });
  pool.post([] {});
  explore::check(thrown_by(wait) == 1, "the first");
  pool.post([] { throw Failure{2}; });
  explore::check(thrown_by(wait) == 2, "the first since then");
  explore::check(thrown_by(wait) == 0, "once");
  explore::check(thrown_by([&] { pool.submit([] { throw Failure{4}; }).get(); }) == 4,
                 "its own Future's");
  explore::check(thrown_by(wait) == 0, "and nobody else's");
  const Tally tally = pool.close();
  check_tally(tally, 1, 3, 0);
  explore::check(thrown_by([&] { std::rethrow_exception(tally.first_failure); }) == 1, "kept");
});

// With somebody to be told, nothing is rethrown.
const SingleScenario on_error_is_told("thread_pool/on_error", [] {
  sync::atomic<int> told{0};
  ThreadPoolOptions options{.width = 1};
  options.on_error = [&told](const TaskFailure& failure) {
    told.fetch_add(thrown_by([&] { std::rethrow_exception(failure.error); }), sync::order::relaxed);
  };
  test::AuditedPool pool(options);
  pool.post([] { throw Failure{1}; });
  pool.post([] { throw Failure{2}; });
  pool.wait();
  {
    TaskGroup group(pool);
    group.run([] { throw Failure{4}; });
    explore::check(thrown_by([&] { group.wait(); }) == 4, "the group's");
  }
  check_tally(pool.close(), 0, 3, 0);
  explore::check(told.load(sync::order::relaxed) == 3, "each once, but for the group's");
});

}}  // namespace full_pool_scenarios
