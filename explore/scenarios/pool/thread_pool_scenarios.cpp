// SPDX-License-Identifier: MIT
//
// The whole pool, small: tasks against the close, the sleep and the thief.
// docs/design/thread_pool.md.
#include <handoff/pool/blocking.hpp>
#include <handoff/pool/detail/engine.hpp>
#include <handoff/pool/detail/worker.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/pause.hpp>

#include "books/pool_books.hpp"
#include "explore/scenario.hpp"
#include "explore/scenarios/pool/pool_scenarios.hpp"
#include "pool/claimer.hpp"

namespace thread_pool_scenarios { namespace {

using namespace handoff;
using namespace test;

void submit_against_close(const TaskOptions& options) {
  test::AuditedPool pool({.width = 1});
  sync::cell<int> ran;
  int accepted = 0;
  explore::Thread submitter([&] {
    if (pool.try_post([&ran] { ++ran.write(); }, options) == Status::ok) ++accepted;
  });
  const Tally tally = pool.close();
  submitter.join();
  explore::check(ran.read() == accepted, "what was accepted ran");
  explore::check(tally.balanced() && tally.done == static_cast<std::uint64_t>(accepted), "exact");
  explore::outcome(tally.done);
}
const Scenario close_against_submit("thread_pool/close_against_submit",
                                    [] { submit_against_close({}); });
const Scenario pinned_against_close("thread_pool/pinned_against_close",
                                    [] { submit_against_close({.worker = 0}); });

// A task is run by the worker of another pool that waits for it, which is not done with this one
// when the task is.
const LargeScenario visitor("thread_pool/visitor", [] {
  test::AuditedPool home({.width = 1});
  sync::cell<int> ran;
  {
    test::AuditedPool pool({.width = 1});
    auto future = pool.submit([&ran] { ran.write() = 1; });
    home.post([waited = std::move(future)] { waited.wait(); });
  }
  explore::check(ran.read() == 1, "what was accepted ran");
  explore::check(home.close().done == 1, "so did the waiter");
});

// The pool is paused, so a worker of another pool that waits for the task runs it. The task has
// been counted and the pool may close, but not end before that worker has left. No audit: see
// explorer.md.
const LargeScenario visitor_leaves("thread_pool/visitor_leaves", [] {
  std::optional<ThreadPool> pool(std::in_place, ThreadPoolOptions{.width = 1});
  test::AuditedPool home({.width = 1});
  pool->pause();
  auto future = pool->submit([] {});
  home.post([waited = std::move(future)] { waited.wait(); });
  while (pool->tally().done == 0) sync::pause();
  pool.reset();
  explore::check(home.close().done == 1, "the waiter is done");
});

const Scenario sleeping("thread_pool/sleeping", [] {
  test::AuditedPool pool({.width = 1});
  sync::cell<int> ran;
  pool.submit([&ran] { ran.write() = 1; }).get();
  pool.submit([&ran] { ran.write() = 2; }).get();
  explore::check(ran.read() == 2, "both ran");
});

// Each of the two tasks waits for the other.
void two_tasks_meet(ThreadPool& pool) {
  sync::atomic<int> met{0};
  sync::EventCount news;
  const auto meet = [&met, &news] {
    met.fetch_add(1, sync::order::seq_cst);
    news.notify_all();
    (void)news.await([&met]() noexcept { return met.load(sync::order::seq_cst) >= 2; });
  };
  pool.post(meet);
  pool.post(meet);
  explore::check(pool.close().done == 2, "both ran");
}

// The first task waits for the second, which needs another thread; one of the two goes when it has
// had nothing to do.
const HugeScenario grows_and_shrinks("thread_pool/grows_and_shrinks", [] {
  test::AuditedPool pool(
      {.mode = PoolMode::cached, .width = 2, .core = 1, .idle_time = std::chrono::nanoseconds(1)});
  two_tasks_meet(pool);
});

// Two tasks that wait for each other: the worker that claims both calls up another for the second,
// though nobody searched when they were handed over and nobody saw them in the queue afterwards.
const HugeScenario neighbours("thread_pool/neighbours", [] {
  test::AuditedPool pool({.width = 2});
  two_tasks_meet(pool);
});

// A task that is handed over around a pause runs after it; nobody else comes to wake the worker.
const Scenario pause("thread_pool/pause", [] {
  test::AuditedPool pool({.width = 1});
  sync::cell<int> ran;
  explore::Thread other([&] {
    pool.pause();
    pool.resume();
  });
  pool.submit([&ran] { ran.write() = 1; }).get();
  explore::check(ran.read() == 1, "it ran");
});

// What is handed over behind a pause does not begin before its end, though a worker that had not
// yet heard of it was about to take a task.
void hold_back(PoolMode mode, const TaskOptions& options) {
  test::AuditedPool pool({.mode = mode, .width = 1});
  sync::atomic<bool> begun{false};
  if (options.worker) pool.submit([] {}, options).get();  // it has that queue by now
  pool.pause();
  pool.post([&begun] { begun.store(true, sync::order::relaxed); }, options);
  explore::check(!begun.load(sync::order::relaxed), "it waits");
  pool.close();
  explore::check(begun.load(sync::order::relaxed), "it ran");
}
const Scenario paused_stealing("thread_pool/paused_stealing",
                               [] { hold_back(PoolMode::stealing, {}); });
const Scenario paused_active("thread_pool/paused_active", [] { hold_back(PoolMode::active, {}); });
const Scenario paused_pinned("thread_pool/paused_pinned",
                             [] { hold_back(PoolMode::stealing, {.worker = 0}); });

// The task waits for another one, which needs a stand-in; that one goes when the task goes on.
const HugeScenario blocks("thread_pool/blocking", [] {
  test::AuditedPool pool({.width = 1});
  sync::atomic<int> come{0};
  sync::EventCount news;
  pool.post([&come, &news] {
    blocking([&come, &news] {
      (void)news.await([&come]() noexcept { return come.load(sync::order::relaxed) != 0; });
    });
  });
  pool.post([&come, &news] {
    come.store(1, sync::order::relaxed);
    news.notify_all();
  });
  explore::check(pool.close().done == 2, "both ran");
});

// A sleeping worker hears of a task of high priority, of low priority, and of its own.
const Scenario aside("thread_pool/aside", [] {
  test::AuditedPool pool({.width = 1});
  sync::cell<int> ran;
  pool.submit([&ran] { ran.write() = 1; }, {.priority = Priority::low}).get();
  pool.submit([&ran] { ran.write() = 2; }, {.priority = Priority::high}).get();
  explore::check(ran.read() == 2, "both ran");
});

const Scenario pinned_pause("thread_pool/pinned_pause", [] {
  test::AuditedPool pool({.width = 1});
  sync::cell<int> ran;
  explore::Thread other([&] {
    pool.pause();
    pool.resume();
  });
  pool.post([&ran] { ran.write() = 1; }, {.worker = 0});
  other.join();
  explore::check(pool.close().done == 1, "it ran");
});

const Scenario group("thread_pool/group", [] {
  test::AuditedPool pool({.width = 1});
  sync::cell<int> one;
  sync::cell<int> two;
  {
    TaskGroup tasks(pool);
    tasks.run([&one] { one.write() = 1; });
    tasks.run([&two] { two.write() = 1; });
    tasks.wait();
    explore::check(one.read() + two.read() == 2, "both ran");
  }
});

// The group's memory is given back as soon as its owner knows that all is done: the thread that
// ends the last task must not touch it any more. The task ends when its owner is about to sleep.
const Scenario group_ends("thread_pool/group_ends", [] {
  ThreadPool pool({.width = 1});
  sync::atomic<int> begun{0};
  auto tasks = std::make_unique<TaskGroup>(pool);
  tasks->run([&begun] {
    begun.store(1, sync::order::relaxed);
    sync::pause();
  });
  while (begun.load(sync::order::relaxed) == 0) sync::pause();
  explore::check(tasks->wait(Until()) == Status::ok, "it ran");
  tasks.reset();
});

// ---- What fails ---------------------------------------------------------------------------------

// A closure whose copy may throw: with a failure, nothing was handed over, and the pool closes.
struct Copied {
  explicit Copied(sync::atomic<int>& counter) : ran(&counter) {}
  Copied(const Copied& other) : ran(other.ran) { explore::may_throw("a copy"); }
  Copied(Copied&& other) noexcept : ran(other.ran) {}
  void operator()() const { ran->fetch_add(1, sync::order::relaxed); }
  sync::atomic<int>* ran;
};

// Hands over by `hand_over`; true if that did not throw.
template <class F>
bool hands_over(F&& hand_over) {
  try {
    const explore::MayFail may_fail;
    explore::check(hand_over() == Status::ok, "open, and there is room");
    return true;
  } catch (const explore::Planned&) {
  } catch (const std::bad_alloc&) {
  } catch (const std::system_error&) {
  }
  return false;
}

// Two tasks are handed over to a pool, each of which may fail to come in.
template <class HandOver>
void two_may_fail(const ThreadPoolOptions& options, const HandOver& hand_over) {
  const auto pool = pool_of(options);
  if (pool == nullptr) return;
  int accepted = 0;
  for (int i = 0; i < 2; ++i) accepted += hands_over([&] { return hand_over(*pool); });
  const Tally tally = pool->close();
  explore::check(tally.balanced(), "the books are right");
  explore::check(tally.done == static_cast<std::uint64_t>(accepted), "what was accepted ran");
  explore::outcome(tally.done);
}

const SizedScenario<Size::large, 1> copy_fails("thread_pool/copy_fails", [] {
  sync::atomic<int> ran{0};
  const Copied task(ran);
  two_may_fail({.width = 1, .capacity = 1}, [&task](ThreadPool& pool) {
    pool.post(task);
    return Status::ok;
  });
});

const SizedScenario<Size::large, 1> later_fails("thread_pool/later_fails", [] {
  const auto pool = pool_of({.width = 1});
  if (pool == nullptr) return;
  sync::atomic<int> ran{0};
  const Copied task(ran);
  const bool accepted = hands_over([&] {
    (void)pool->post_after(std::chrono::nanoseconds(1), task);
    return Status::ok;
  });
  const Tally tally = pool->close();
  explore::check(tally.balanced(), "the books are right");
  explore::check(accepted || tally.done == 0, "what was refused did not run");
  explore::outcome(tally.done);
});

// The place of a task that found no memory comes back: the next one has it. Those of high priority
// make their queue first.
const SizedScenario<Size::large, 1> memory_fails("thread_pool/memory_fails", [] {
  two_may_fail({.width = 1, .capacity = 1}, [](ThreadPool& pool) {
    pool.post([big = std::array<char, 200>{}] { static_cast<void>(big); },
              {.priority = Priority::high});
    return Status::ok;
  });
});

// A task of another pool throws while its waiter runs it: the visit ends all the same.
const SizedScenario<Size::large, 1> visited_fails("thread_pool/visited_fails", [] {
  const auto home = pool_of({.width = 1});
  if (home == nullptr) return;
  {
    const auto pool = pool_of({.width = 1});
    if (pool == nullptr) return;
    auto future = pool->submit([] { explore::may_throw("a task"); });
    home->post([waited = std::move(future)] { waited.wait(); });
  }
  explore::check(home->close().done == 1, "the waiter is done");
});

ThreadPoolOptions growing() { return {.mode = PoolMode::cached, .width = 2, .core = 1}; }

// The system refuses a thread: the tasks are run by those that there are.
const SizedScenario<Size::large, 1> thread_fails("thread_pool/thread_fails", [] {
  sync::atomic<int> ran{0};
  two_may_fail(growing(), [&ran](ThreadPool& pool) {
    return pool.try_post([&ran] { ran.fetch_add(1, sync::order::relaxed); });
  });
});

// The thread that a pinned task calls for is refused, and the next task gets one.
const SizedScenario<Size::large, 1> pinned_fails("thread_pool/pinned_fails", [] {
  two_may_fail(growing(), [](ThreadPool& pool) { return pool.try_post([] {}, {.worker = 1}); });
});

}}  // namespace thread_pool_scenarios
