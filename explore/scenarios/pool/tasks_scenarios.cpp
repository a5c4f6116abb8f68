// SPDX-License-Identifier: MIT
//
// What a pool promises of its tasks besides that they run: their order, the hooks at begin and end,
// the figures, the results of groups and loops. docs/design/thread_pool.md.
#include <handoff/core/future.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/pool/blocking.hpp>
#include <handoff/pool/parallel_for.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/pause.hpp>
#include <handoff/sync/stop_token.hpp>

#include "books/pool_books.hpp"
#include "explore/scenario.hpp"
#include "explore/scenarios/pool/pool_scenarios.hpp"

namespace tasks_scenarios { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace test;

ThreadPoolOptions one_of(PoolMode mode) {
  ThreadPoolOptions options;
  options.mode = mode;
  options.width = 1;
  return options;
}

// ---- Whose turn it is ---------------------------------------------------------------------------

// One of the two, as the model has no room for more queues.
void turns(PoolMode mode, bool low) {
  OpenOnce gate;
  test::HeldPool pool(gate, one_of(mode));
  std::string order;
  if (low) pool.post([&order] { order += 'l'; }, {.priority = Priority::low});
  pool.post([&order] { order += 'n'; });
  pool.post([&order] { order += 'p'; }, {.worker = 0});
  if (!low) pool.post([&order] { order += 'h'; }, {.priority = Priority::high});
  gate.open();
  check_tally(pool.close(), 4, 0, 0);
  explore::check(order == (low ? "pnl" : "hpn"), "in this order");
}

const SingleScenario turns_stealing("thread_pool/turns_stealing",
                                    [] { turns(PoolMode::stealing, true); });
const SingleScenario turns_fixed("thread_pool/turns_fixed", [] { turns(PoolMode::fixed, false); });
const SingleScenario turns_active("thread_pool/turns_active",
                                  [] { turns(PoolMode::active, true); });

// Urgent ones first; and a limit lets the others begin.
void limited(PoolMode mode, unsigned limit, const char* expected) {
  OpenOnce gate;
  ThreadPoolOptions options = one_of(mode);
  options.starvation_limit = limit;
  test::HeldPool pool(gate, options);
  std::string order;
  pool.post([&order] { order += 'n'; });
  for (int i = 0; i < 3; ++i) pool.post([&order] { order += 'u'; }, {.priority = Priority::urgent});
  gate.open();
  check_tally(pool.close(), 5, 0, 0);
  explore::check(order == expected, "in this order");
}
const SingleScenario urgent_first("thread_pool/urgent_first",
                                  [] { limited(PoolMode::stealing, 0, "uuun"); });
const SingleScenario starvation_limit("thread_pool/starvation_limit",
                                      [] { limited(PoolMode::fixed, 2, "uunu"); });

// What a task hands over comes before what was there: the other way round where the queue is all
// there is.
std::string order_of_made(PoolMode mode) {
  std::string order;
  OpenOnce gate;
  test::HeldPool pool(gate, one_of(mode));
  pool.post([&] {
    order += 'a';
    pool.post([&order] { order += 'm'; });
  });
  pool.post([&order] { order += 'b'; });
  gate.open();
  explore::check(test::wait_idly(pool) == Status::ok, "idle");
  check_tally(pool.close(), 4, 0, 0);
  const PoolStatistics figures = pool.statistics();
  explore::check(figures.from_outside + figures.workers[0].handed_over == 4, "by this way or that");
  explore::check(figures.sum().handed_over == (mode == PoolMode::fixed ? 0U : 1U), "its own");
  return order;
}

const SingleScenario made_stealing("thread_pool/made_by_a_task_stealing", [] {
  explore::check(order_of_made(PoolMode::stealing) == "amb", "the worker's own first");
});
const SingleScenario made_fixed("thread_pool/made_by_a_task_fixed", [] {
  explore::check(order_of_made(PoolMode::fixed) == "abm", "one after the other");
});

// While it is paused nothing begins, also if it was paused twice; and then all of it, also if
// nobody comes to wake the worker for what it has to run itself.
const SingleScenario pauses("thread_pool/pauses", [] {
  test::AuditedPool pool({.width = 1});
  OpenOnce first;
  OpenOnce second;
  pool.post([&first] { first.open(); });
  first.wait();
  pool.wait();
  pool.pause();
  pool.pause();
  pool.post([&second] { second.open(); }, {.worker = 0});
  pool.post([] {}, {.priority = Priority::high});
  explore::check(pool.wait(1ns) == Status::timed_out, "nothing runs");
  const Tally now = pool.tally();
  explore::check(now.done == 1 && now.pending == 2, "nothing ran");
  pool.resume();
  pool.resume();
  second.wait();
  check_tally(pool.close(), 3, 0, 0);
  pool.pause();
  pool.resume();
  check_tally(pool.tally(), 3, 0, 0);
});

// A pool that closes is not paused any more, however late somebody says so.
const SingleScenario pauses_too_late("thread_pool/pauses_too_late", [] {
  test::AuditedPool pool({.width = 1});
  std::uint64_t more = 0;
  pool.post([&] {
    for (; pool.try_post([] {}) == Status::ok; ++more) sync::pause();
    pool.pause();
  });
  pool.post([] {});
  const Tally tally = pool.close();
  check_tally(tally, 2 + more, 0, 0);
});

const SingleScenario stop_tokens("thread_pool/stop_tokens", [] {
  OpenOnce gate;
  test::HeldPool pool(gate);
  sync::atomic<int> alive{0};
  const test::Counted counted(alive);
  sync::StopSource source;
  const sync::StopSource other;
  pool.post([counted] { explore::check(false, "stopped"); }, {.until = source.token()});
  auto stopped = pool.submit([counted] { return 1; }, {.until = source.token()});
  auto kept = pool.submit([] { return 2; }, {.until = other.token(), .priority = Priority::high});
  int once = 0;
  pool.post([&once] { ++once; }, {.until = other.token()});
  explore::check(source.request_stop(), "the first to ask");
  gate.open();
  stopped.wait();
  explore::check(alive.load(sync::order::relaxed) == 1, "what they held is gone by then");
  try {
    (void)stopped.get();
    explore::check(false, "it was not begun");
  } catch (const NotRun& error) {
    explore::check(error.status() == Status::stopped, "says why");
  }
  explore::check(kept.get() == 2, "nobody stopped this one");
  check_tally(pool.close(), 3, 0, 2);
  explore::check(once == 1, "nor that");
  explore::check(alive.load(sync::order::relaxed) == 1, "what they held is gone");
});

// ---- Hooks --------------------------------------------------------------------------------------

// What the pool's threads did, in their order; one thread at a time writes.
class Log {
 public:
  void add(char what) { text_ += what; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

const SingleScenario hooks("thread_pool/hooks", [] {
  Log log;
  ThreadPoolOptions options{.width = 1};
  options.on_start = [&log](std::size_t index) { log.add(index == 0 ? '<' : '?'); };
  options.on_stop = [&log](std::size_t index) { log.add(index == 0 ? '>' : '?'); };
  test::AuditedPool pool(options);
  pool.post([&] {
    log.add('1');
    explore::check(pool.worker_index() == 0, "there is one");
  });
  pool.post([&log] { log.add('2'); });
  check_tally(pool.close(), 2, 0, 0);
  explore::check(log.text() == "<12>", "before the first and after the last");
});

// Two tasks that need a thread each, twice; in between the thread beyond the core has gone.
const SingleScenario comes_and_goes("thread_pool/comes_and_goes", [] {
  Arrivals started;
  Arrivals stopped;
  Arrivals met;
  ThreadPoolOptions options{.mode = PoolMode::cached, .width = 2, .core = 1, .idle_time = 1ns};
  options.on_start = [&started](std::size_t) { started.arrive(); };
  options.on_stop = [&stopped](std::size_t) { stopped.arrive(); };
  test::AuditedPool pool(options);
  explore::check(pool.width() == 2 && pool.statistics().threads == 1, "the core");
  int stops = 0;
  for (int round = 1; round <= 2; ++round) {
    const auto meet = [&met, round] {
      met.arrive();
      met.await(2 * round);
    };
    pool.post(meet);
    pool.post(meet);
    do stopped.await(++stops);
    while (pool.statistics().threads != 1);
    explore::check(pool.statistics().started > 1, "one came for them");
  }
  check_tally(pool.close(), 4, 0, 0);
  const int ever = static_cast<int>(pool.statistics().started);
  explore::check(started.count() == stopped.count(), "each that begins ends");
  explore::check(started.count() >= ever, "each hears, again if it was about to go and stayed");
});

// A system that has just refused a thread is not asked again at once.
const SizedScenario<Size::single, 1> asks_later("thread_pool/asks_later", [] {
  const auto pool = pool_of({.mode = PoolMode::cached, .width = 2, .core = 1, .idle_time = 1h});
  if (!pool) return;
  while (pool->statistics().sum().sleeps == 0) sync::pause();  // so that it comes for the first one
  OpenOnce gate;
  test::hold(*pool, gate);
  pool->post([] {});
  const bool refused = pool->statistics().started == 1;
  pool->post([] {});
  explore::check(!refused || pool->statistics().started == 1, "it would refuse again");
  gate.open();
  check_tally(pool->close(), 3, 0, 0);
  explore::outcome(refused);
});

// A submitter calls a worker that gets no thread. Meanwhile the other one falls asleep, and the
// next task wakes nobody, as somebody seems to come: the refused submitter has to look.
const SingleScenario refused_beside_submit("thread_pool/refused_beside_submit", [] {
  const auto pool = pool_of({.mode = PoolMode::cached, .width = 2, .core = 1, .idle_time = 1h});
  if (!pool) return;
  Arrivals ran;
  Arrivals ready;
  OpenOnce gate;
  // Asleep, or the first task calls another worker, too.
  while (pool->statistics().sum().sleeps == 0) sync::pause();
  test::hold(*pool, gate);
  explore::Thread refused([&] {
    const explore::NoThreads none;
    ready.arrive();
    pool->post([&] { ran.arrive(); });
  });
  ready.await(1);
  gate.open();
  ran.await(1);
  pool->post([&] { ran.arrive(); });
  ran.await(2);
  refused.join();
  check_tally(pool->close(), 3, 0, 0);
  explore::outcome(pool->statistics().started);
});

// A hook may wait for tasks that were handed over while its worker counted as searching: they woke
// nobody else.
const SingleScenario hook_waits("thread_pool/hook_waits", [] {
  Arrivals ran;
  ThreadPoolOptions options{.mode = PoolMode::cached, .width = 2, .core = 1, .idle_time = 1h};
  options.on_start = [&ran](std::size_t index) {
    if (index == 1) ran.await(2);
  };
  test::AuditedPool pool(options);
  for (int i = 0; i < 2; ++i) pool.post([&ran] { ran.arrive(); });
  ran.await(2);
  check_tally(pool.close(), 2, 0, 0);
});

// A stand-in comes for a task that blocks, and goes when that one goes on.
const SingleScenario lends("thread_pool/lends", [] {
  Arrivals started;
  Arrivals stopped;
  std::size_t index = 0;
  std::size_t threads = 0;
  ThreadPoolOptions options{.width = 1};
  options.on_start = [&started](std::size_t) { started.arrive(); };
  options.on_stop = [&stopped](std::size_t) { stopped.arrive(); };
  test::AuditedPool pool(options);
  OpenOnce gate;
  Arrivals come;
  pool.post([&] {
    blocking([&] { blocking([&] { come.await(1); }); });
    gate.wait();
  });
  pool.post([&] {
    index = pool.worker_index().value();
    threads = pool.statistics().threads;
    {
      TaskGroup group(pool);
      group.run_and_wait([] {});  // which leaves the seat to us
    }
    come.arrive();
  });
  stopped.await(1);
  while (pool.statistics().threads != 1) sync::pause();
  const PoolStatistics figures = pool.statistics();
  explore::check(figures.started == 2 && started.count() == 2, "one came and went");
  explore::check(threads == 2, "and was counted meanwhile");
  explore::check(figures.lent == 1, "the outer region counts");
  explore::check(figures.workers[1].run == 1 && index == 1, "and ran the task");
  gate.open();
  check_tally(pool.close(), 2, 0, 0);
});

// Threads beyond the core stay until their time is up, and the core does not wake for nothing.
const SingleScenario stays("thread_pool/stays", [] {
  Arrivals met;
  test::AuditedPool pool({.mode = PoolMode::cached,
                          .width = 2,
                          .core = 1,
                          .idle_time = std::chrono::nanoseconds::max()});
  const auto meet = [&met] {
    met.arrive();
    met.await(2);
  };
  pool.post(meet);
  pool.post(meet);
  explore::check(test::wait_idly(pool) == Status::ok, "both");
  sync::EventCount nobody;
  (void)nobody.await([] { return false; }, sync::deadline_after(1h));
  const PoolStatistics figures = pool.statistics();
  explore::check(figures.threads == 2 && figures.started == 2, "both stay");
  check_tally(pool.close(), 2, 0, 0);
});

const SingleScenario core_sleeps("thread_pool/core_sleeps", [] {
  test::AuditedPool pool({.mode = PoolMode::cached, .width = 2, .core = 1, .idle_time = 1ns});
  sync::EventCount nobody;
  (void)nobody.await([] { return false; }, sync::deadline_after(1h));
  explore::check(pool.statistics().workers[0].sleeps <= 2, "until there is something to do");
  pool.post([] {});
  check_tally(pool.close(), 1, 0, 0);
});

// There is nothing to do for a stand-in, so none is started; and its seat is free for others.
const SingleScenario lends_in_vain("thread_pool/lends_in_vain", [] {
  test::AuditedPool pool({.width = 1});
  sync::cell<int> ran;
  pool.post([&ran] { blocking([&ran] { ran.write() = 1; }); });
  explore::check(test::wait_idly(pool) == Status::ok && ran.read() == 1, "it ran");
  const PoolStatistics figures = pool.statistics();
  explore::check(figures.lent == 1 && figures.started == 1, "nobody came");
  {
    TaskGroup group(pool);
    explore::check(pool.worker_index() == 1, "the seat is ours");
    pool.post([] { blocking([] {}); });
    explore::check(test::wait_idly(pool) == Status::ok, "it runs all the same");
  }
  explore::check(pool.statistics().lent == 1, "there was nothing to lend");
  explore::check(blocking([] { return 3; }) == 3, "outside it only calls");
  explore::check(pool.statistics().lent == 1, "and lends nobody");
});

// Workers whose threads the system refuses: the pool is narrower, or gets them later.
void narrower(PoolMode mode) {
  const auto pool = pool_of({.mode = mode, .width = 2, .core = 2});
  if (pool == nullptr) return;  // nobody would run a task
  const std::size_t threads = pool->statistics().threads;
  explore::check(threads == pool->statistics().started, "those there are");
  explore::check(pool->width() == (mode == PoolMode::cached ? 2 : threads), "the most");
  sync::atomic<int> ran{0};
  pool->post([&ran] { ran.fetch_add(1, sync::order::relaxed); });
  if (pool->width() == 2) {
    pool->post([&ran] { ran.fetch_add(1, sync::order::relaxed); }, {.worker = 1});
  }
  explore::check(pool->close().done == 1 + pool->width() / 2, "all of it");
  explore::outcome(threads);
}

const SizedScenario<Size::single, 1> narrower_fixed("thread_pool/narrower_fixed",
                                                    [] { narrower(PoolMode::fixed); });
const SizedScenario<Size::single, 1> narrower_cached("thread_pool/narrower_cached",
                                                     [] { narrower(PoolMode::cached); });

// The model has two CPUs.
const SingleScenario as_wide_as_cpus("thread_pool/as_wide_as_cpus", [] {
  const test::AuditedPool pool{ThreadPoolOptions()};
  explore::check(pool.width() == 2 && pool.statistics().threads == 2, "as many");
});

// ---- What is counted ----------------------------------------------------------------------------

const SingleScenario figures("thread_pool/figures", [] {
  test::AuditedPool pool({.width = 1});
  explore::check(pool.width() == 1 && pool.index_count() == 2, "a worker and a seat");
  sync::atomic<std::size_t> index{2};
  pool.submit([&] { index.store(pool.worker_index().value(), sync::order::relaxed); }).get();
  explore::check(index.load(sync::order::relaxed) == 0, "the worker");
  explore::check(!pool.worker_index(), "not we");
  while (pool.statistics().workers[0].sleeps == 0) sync::pause();
  pool.post([&pool] { pool.post([] {}); });
  pool.post([] {}, {.priority = Priority::low});
  explore::check(test::wait_idly(pool) == Status::ok, "idle");
  const PoolStatistics now = pool.statistics();
  explore::check(now.workers.size() == 2 && now.workers[1].run == 0, "nobody took the seat");
  explore::check(now.workers[0].run == 4 && now.workers[0].handed_over == 1, "one of its own");
  explore::check(now.from_outside == 3 && now.run_by_caller == 0, "the others");
  explore::check(now.threads == 1 && now.started == 1 && now.lent == 0, "one thread");
  explore::check(now.workers[0].stolen == 0, "of whom?");
  check_tally(pool.tally(), 4, 0, 0);
});

// A thread that asks while tasks end never hears of more ends than there are tasks.
const SingleScenario asked_meanwhile("thread_pool/asked_meanwhile", [] {
  test::AuditedPool pool({.width = 1});
  explore::Thread other([&pool] { (void)pool.try_post([] {}); });
  for (int i = 0; i < 2; ++i) {
    const Tally now = pool.tally();
    explore::check(now.done <= now.accepted && now.pending <= 1, "in the midst of it");
  }
  other.join();
  check_tally(pool.close(), 1, 0, 0);
});

// A guest's task is stolen by the worker, which is counted, as is the guest's own part.
const SingleScenario stolen("thread_pool/stolen", [] {
  test::AuditedPool pool({.width = 1});
  TaskGroup group(pool);
  OpenOnce gate;
  group.run([&gate] { gate.open(); });
  gate.wait();
  explore::check(group.wait(Until()) == Status::ok, "it ran");
  const PoolStatistics now = pool.statistics();
  explore::check(now.workers[0].stolen == 1 && now.workers[0].run == 1, "the worker took it");
  explore::check(now.workers[1].handed_over == 1 && now.workers[1].run == 0, "from the guest");
});

// ---- Groups -------------------------------------------------------------------------------------

const SingleScenario group_tells("thread_pool/group_tells", [] {
  OpenOnce gate;
  test::HeldPool pool(gate);
  TaskGroup group(pool);
  int ran = 0;
  group.run([] { throw Failure{1}; });
  group.run([&ran] { ++ran; });
  explore::check(thrown_by([&] { group.wait(); }) == 1 && ran == 1, "when all are done");
  explore::check(group.wait(Until()) == Status::ok, "once");
  explore::check(!group.cancelled(), "nobody did");
  group.run([&ran] { ran = -1; });
  group.cancel();
  explore::check(group.cancelled() && group.wait(Until()) == Status::stopped, "dropped");
  explore::check(ran == 1, "what is cancelled does not begin");
  group.run([&ran] { ++ran; });
  explore::check(group.wait(Until()) == Status::ok && ran == 2, "the wait has ended that");
  explore::check(!group.cancelled(), "and the cancel");
  gate.open();
  check_tally(pool.close(), 3, 1, 1);
  pool.wait();
});

// A stop comes while the owner waits: tasks that have not begun are dropped, wherever they are.
const Scenario group_waits_until("thread_pool/group_waits_until", [] {
  test::AuditedPool pool({.width = 1});
  sync::StopSource source;
  const sync::StopToken token = source.token();
  sync::cell<int> ran;
  explore::Thread stops([&source] { (void)source.request_stop(); });
  Status status = Status::ok;
  {
    TaskGroup group(pool);
    group.run([&ran] { ++ran.write(); });
    status = group.wait(token);
    explore::check(status == (ran.read() == 1 ? Status::ok : Status::stopped), "ran, or did not");
    explore::check(!group.cancelled(), "that is for cancel()");
    if (status == Status::stopped) {
      explore::check(group.wait(sync::clock::now()) == Status::ok, "nothing is left");
    }
  }
  stops.join();
  explore::outcome(status == Status::ok ? 1 : 0);
  const Tally tally = pool.close();
  explore::check(tally.balanced() && tally.done + tally.cancelled == 1, "counted");
});

// The function runs here, and its failure is the group's; so is what the group did not wait for.
const SingleScenario group_runs_here("thread_pool/group_runs_here", [] {
  test::AuditedPool pool({.width = 1});
  sync::cell<int> ran;
  {
    TaskGroup group(pool);
    group.run_and_wait([&] {
      explore::check(pool.worker_index() == 1, "we are a guest");
      group.run([&ran] { ran.write() += 1; });
    });
    explore::check(ran.read() == 1, "also what it handed over");
    explore::check(thrown_by([&] { group.run_and_wait([] { throw Failure{5}; }); }) == 5,
                   "what it threw");
    group.run([&ran] { ran.write() += 1; });
  }
  explore::check(ran.read() == 2, "the group's end waits");
  explore::check(!pool.worker_index(), "we are none any more");
});

// Without a seat the group's owner runs its tasks itself.
const SingleScenario group_without_a_seat("thread_pool/group_without_a_seat", [] {
  test::AuditedPool pool({.width = 1});
  OpenOnce seated;
  OpenOnce gate;
  explore::Thread guest([&] {
    const TaskGroup group(pool);
    seated.open();
    gate.wait();
  });
  seated.wait();
  TaskGroup group(pool);
  int ran = 0;
  group.run([&ran] { ++ran; });
  explore::check(ran == 1, "here and now");
  group.run([] { throw Failure{2}; });
  explore::check(thrown_by([&] { group.wait(); }) == 2, "told as ever");
  explore::check(pool.tally().accepted == 0, "none of the pool's business");
  pool.wait();
  gate.open();
});

// Two groups of one thread have one seat, until the last of them is gone.
const SingleScenario seat_of_two_groups("thread_pool/seat_of_two_groups", [] {
  test::AuditedPool pool({.width = 1});
  auto first = std::make_unique<TaskGroup>(pool);
  auto second = std::make_unique<TaskGroup>(pool);
  first.reset();
  explore::check(pool.worker_index() == 1, "the second is left");
  sync::cell<int> ran;
  second->run([&ran] { ran.write() = 1; });
  explore::check(second->wait(Until()) == Status::ok && ran.read() == 1, "of use still");
  second.reset();
  explore::check(!pool.worker_index(), "gone from here");
});

// Seats in two pools, left in the order in which they were taken.
const SingleScenario seats_crosswise("thread_pool/seats_crosswise", [] {
  ThreadPool one({.width = 1});
  ThreadPool other({.width = 1});
  auto first = std::make_unique<TaskGroup>(one);
  auto second = std::make_unique<TaskGroup>(other);
  first.reset();
  explore::check(!one.worker_index(), "gone from the first");
  explore::check(other.worker_index() == 1, "but not from the second");
  second.reset();
  explore::check(!other.worker_index(), "gone from there too");
});

// A thread in pool.wait() steals a part of a group in a task; the group is told when it is over.
const SingleScenario group_in_a_task("thread_pool/group_in_a_task", [] {
  test::AuditedPool pool({.width = 1});
  OpenOnce gate;
  sync::cell<int> sum;
  pool.post([&] {
    sync::cell<int> part;
    TaskGroup group(pool);
    group.run([&] {
      part.write() = 1;
      gate.open();
    });
    gate.wait();  // so somebody else ran it
    explore::check(group.wait(Until()) == Status::ok, "it ran");
    sum.write() = part.read() + 1;
  });
  pool.wait();
  explore::check(sum.read() == 2, "both");
  explore::check(pool.statistics().sum().stolen == 1, "it was taken");
});

// The thief may have sat down just now: the waiter has seen nothing of that but the theft.
const SingleScenario group_finds_a_new_thief("thread_pool/group_finds_a_new_thief", [] {
  test::AuditedPool pool({.width = 1});
  OpenOnce begun;
  pool.post([&] {
    TaskGroup group(pool);
    begun.open();
    group.run([] { sync::pause(); });
    group.wait();
  });
  begun.wait();
  pool.wait();
});

// A part that runs elsewhere hands over more of the group, whose owner sleeps until that is done.
const SingleScenario group_grows_elsewhere("thread_pool/group_grows_elsewhere", [] {
  test::AuditedPool pool({.width = 1});
  OpenOnce begun;
  sync::cell<int> ran;
  TaskGroup group(pool);
  group.run([&] {
    begun.open();
    group.run([&ran] { ran.write() = 1; });
  });
  begun.wait();
  explore::check(group.wait(Until()) == Status::ok && ran.read() == 1, "that too");
});

// The owner sleeps for what runs elsewhere, again and again.
const SingleScenario group_sleeps_again("thread_pool/group_sleeps_again", [] {
  test::AuditedPool pool({.width = 1});
  TaskGroup group(pool);
  sync::cell<int> ran;
  for (int round = 1; round <= 2; ++round) {
    sync::atomic<bool> begun{false};
    group.run([&begun, &ran] {
      begun.store(true, sync::order::relaxed);
      sync::pause();
      ran.write() += 1;
    });
    while (!begun.load(sync::order::relaxed)) sync::pause();
    explore::check(group.wait(Until()) == Status::ok && ran.read() == round, "each is waited for");
  }
});

// Hands over a part that another thread has to begin, by help: one that looks when this is told.
// The part hands over more.
void hand_over(TaskGroup& parts, OpenOnce& handed_over) {
  OpenOnce begun;
  parts.run([&] {
    parts.run([] {});
    begun.open();
  });
  handed_over.open();
  begun.wait();
  explore::check(parts.wait(Until()) == Status::ok, "they ran");
}

// A group waits for a stolen task and runs what the thief has spawned: nobody else could.
const SingleScenario group_helps_thief("thread_pool/group_helps_thief", [] {
  test::AuditedPool pool({.width = 1});
  OpenOnce handed_over;
  TaskGroup group(pool);
  group.run([&] {
    TaskGroup parts(pool);
    hand_over(parts, handed_over);
  });
  handed_over.wait();
  explore::check(group.wait(Until()) == Status::ok, "all of it");
});

// The same of a thief that has helped its own thief before.
const SingleScenario group_helps_a_helper("thread_pool/group_helps_a_helper", [] {
  OpenOnce over;
  test::AuditedPool pool({.width = 2});
  OpenOnce handed_over;
  TaskGroup group(pool);
  group.run([&] {
    OpenOnce stolen;
    TaskGroup parts(pool);
    parts.run([&] {
      TaskGroup inner(pool);
      hand_over(inner, stolen);
      pool.post([&over] { over.wait(); });  // which keeps this worker
    });
    stolen.wait();
    parts.wait();
    hand_over(parts, handed_over);
  });
  handed_over.wait();
  explore::check(group.wait(Until()) == Status::ok, "all of it");
  over.open();
});

// A shared group: the last task ends elsewhere, while its maker and another thread wait, or come to
// wait. Both hear of all of it, and of what failed.
const SizedScenario<Size::large> group_of_two_waiters("thread_pool/group_of_two_waiters", [] {
  test::AuditedPool pool({.width = 1});
  sync::cell<int> ran;
  {
    TaskGroup group(pool, {.shared = true});
    group.run([&ran] { ran.write() = 1; });
    explore::Thread other(
        [&] { explore::check(group.wait(Until()) == Status::ok && ran.read() == 1, "heard of"); });
    explore::check(group.wait(Until()) == Status::ok && ran.read() == 1, "heard of");
  }
  check_tally(pool.close(), 1, 0, 0);
});

const SingleScenario group_fails_two_waiters("thread_pool/group_fails_two_waiters", [] {
  test::AuditedPool pool({.width = 1});
  TaskGroup group(pool, {.shared = true});
  group.run([] { throw Failure{7}; });
  explore::Thread other([&] { explore::check(thrown_by([&] { group.wait(); }) == 7, "told"); });
  explore::check(thrown_by([&] { group.wait(); }) == 7, "told");
  other.join();
  explore::check(thrown_by([&] { group.wait(); }) == 7, "for good");
});

// A task waits for a shared group whose task lies where another one made it, which does not come: a
// stand-in has to.
const SingleScenario group_of_another_task("thread_pool/group_of_another_task", [] {
  test::AuditedPool pool({.width = 2});
  sync::cell<int> ran;
  TaskGroup* group = nullptr;
  OpenOnce made;
  OpenOnce over;
  pool.post([&] {
    TaskGroup mine(pool, {.shared = true});
    mine.run([&ran] { ran.write() = 1; });
    group = &mine;
    made.open();
    over.wait();
  });
  pool.post([&] {
    made.wait();
    group->wait();
    explore::check(ran.read() == 1, "heard of");
    over.open();
  });
  explore::check(test::wait_idly(pool) == Status::ok, "idle");
});

// The hook is called with the first failure only, and the wait hears of what it did.
const SizedScenario<Size::large> group_hook("thread_pool/group_hook", [] {
  test::AuditedPool pool({.width = 1});
  sync::cell<int> calls;
  TaskGroup group(pool, {.on_failure = [&calls] { calls.write() += 1; }});
  group.run([] { throw Failure{1}; });
  group.run([] { throw Failure{2}; });
  const int first = thrown_by([&] { group.wait(); });
  explore::check(first != 0 && calls.read() == 1, "once");
  group.wait();
  explore::outcome(first == 1);
});

// In the next scenarios a task waits until a wait is over: a wait that ran it would never end.

// The owner of two groups waits for one of them, whose task runs elsewhere. A task of the other one
// waits for what comes after that.
const SingleScenario group_leaves_another("thread_pool/group_leaves_another", [] {
  test::AuditedPool pool({.width = 1});
  OpenOnce over;
  OpenOnce begun;
  sync::cell<int> ran;
  TaskGroup other(pool);
  TaskGroup group(pool);
  group.run([&] {
    begun.open();
    ran.write() += 1;
  });
  begun.wait();
  other.run([&over] { over.wait(); });
  explore::check(group.wait(Until()) == Status::ok && ran.read() == 1, "it ran");
  over.open();
  explore::check(other.wait(Until()) == Status::ok, "where it was, or in its place again");
});

// What the wait has left is for the wait of its own group, where no other thread is free.
const SingleScenario group_puts_back("thread_pool/group_puts_back", [] {
  test::AuditedPool pool({.width = 1});
  OpenOnce begun;
  OpenOnce handed_over;
  OpenOnce over;
  TaskGroup other(pool);
  TaskGroup group(pool);
  group.run([&] {
    begun.open();
    handed_over.wait();
  });
  begun.wait();
  pool.post([&over] { over.wait(); });
  other.run([] {});
  handed_over.open();
  explore::check(group.wait(Until()) == Status::ok, "it ran");
  explore::check(other.wait(Until()) == Status::ok, "here, or before the post");
  over.open();
  pool.wait();
});

// The worker looks for a task while one is nowhere, as the wait puts it aside or back: it is called
// for that again.
const SingleScenario group_calls_for_what_it_puts_back(
    "thread_pool/group_calls_for_what_it_puts_back", [] {
      test::AuditedPool pool({.width = 1});
      OpenOnce gate;
      TaskGroup other(pool);
      TaskGroup group(pool);
      group.run([] {});
      other.run([&gate] { gate.open(); });
      group.wait();
      gate.wait();
    });

// A worker that sleeps in a wait is lent if it has left something there: what it waits for runs
// elsewhere and needs that.
const SingleScenario group_lends("thread_pool/group_lends", [] {
  test::AuditedPool pool({.width = 2});
  OpenOnce begun;
  OpenOnce gate;
  pool.post([&] {
    TaskGroup group(pool);
    group.run([&] {
      begun.open();
      gate.wait();
    });
    begun.wait();
    pool.post([&gate] { gate.open(); });
    explore::check(group.wait(Until()) == Status::ok, "it ran");
  });
  explore::check(test::wait_idly(pool) == Status::ok, "idle");
});

// The task that is waited for hands over what waits for the end of the wait: a task of another
// group, or one of none. Its own parts are there to be helped with.
void leaves_what_the_thief_made(bool of_a_group) {
  test::AuditedPool pool({.width = 1});
  OpenOnce over;
  OpenOnce begun;
  TaskGroup other(pool);
  TaskGroup group(pool);
  group.run([&] {
    TaskGroup parts(pool);
    sync::cell<int> ran;
    parts.run([&ran] { ran.write() = 1; });
    const auto task = [&over] { over.wait(); };
    if (of_a_group) {
      other.run(task);
    } else {
      pool.post(task);
    }
    begun.open();
    explore::check(parts.wait(Until()) == Status::ok && ran.read() == 1, "the part ran");
  });
  begun.wait();
  explore::check(group.wait(Until()) == Status::ok, "it ran");
  over.open();
  explore::check(other.wait(Until()) == Status::ok, "all of it");
  pool.wait();
}

const SingleScenario group_leaves_anothers_task("thread_pool/group_leaves_anothers_task",
                                                [] { leaves_what_the_thief_made(true); });
const SingleScenario group_leaves_a_post("thread_pool/group_leaves_a_post",
                                         [] { leaves_what_the_thief_made(false); });

// A thief that has ended the task begins one of another problem: the thread that waits for the
// first, and has not seen its end yet, takes nothing of that.
const SingleScenario group_leaves_a_thief_that_has_gone_on(
    "thread_pool/group_leaves_a_thief_that_has_gone_on", [] {
      test::AuditedPool pool({.width = 1});
      OpenOnce over;
      OpenOnce begun;
      OpenOnce posted;
      TaskGroup group(pool);
      group.run([&] {
        begun.open();
        posted.wait();
      });
      begun.wait();
      pool.post([&] {
        TaskGroup parts(pool);
        parts.run([&over] { over.wait(); });
        sync::pause();  // the other thread's turn
        parts.wait();
      });
      posted.open();
      explore::check(group.wait(Until()) == Status::ok, "it ran");
      over.open();
      pool.wait();
    });

// A thread helps with a part while a task of another group lies below: the thief that waits for the
// part takes nothing of that.
const SingleScenario group_leaves_what_the_helper_has(
    "thread_pool/group_leaves_what_the_helper_has", [] {
      test::AuditedPool pool({.width = 1});
      OpenOnce begun;
      OpenOnce taken;
      OpenOnce over;
      TaskGroup other(pool);
      TaskGroup group(pool);
      TaskGroup shared(pool, {.shared = true});
      shared.run([&] {
        TaskGroup parts(pool);
        parts.run([&taken] {
          taken.open();
          sync::pause();  // the other thread's turn
        });
        begun.open();
        taken.wait();
        parts.wait();
      });
      begun.wait();
      other.run([&over] { over.wait(); });
      group.run([&shared] { shared.wait(); });
      group.wait();
      over.open();
      other.wait();
    });

// A worker waits for a Future, and has handed over what would wait for the end of that: a stand-in
// takes it.
const SingleScenario future_leaves_a_post("thread_pool/future_leaves_a_post", [] {
  test::AuditedPool pool({.width = 1});
  OpenOnce over;
  TaskGroup seat(pool);  // so that this thread may run the task
  Future<int> future;
  pool.post([&] {
    future = pool.submit([] { return 1; });
    pool.post([&over] { over.wait(); });
    explore::check(future.get() == 1, "it ran");
    over.open();
  });
  pool.wait();
});

// Without memory for a seat a waiting thread only sleeps; a group's owner runs its tasks itself.
const SizedScenario<Size::single, 1> no_memory_for_a_seat("thread_pool/no_memory_for_a_seat", [] {
  const auto pool = pool_of({.width = 1});
  if (pool == nullptr) return;
  int ran = 0;
  std::optional<TaskGroup> group;
  {
    const explore::MayFail may_fail;
    pool->wait();
    group.emplace(*pool);
  }
  group->run([&ran] { ++ran; });
  explore::check(group->wait(Until()) == Status::ok && ran == 1, "by somebody");
});

// A node that held a task of a group is used again for a task of no group.
const SingleScenario after_a_group("thread_pool/after_a_group", [] {
  test::AuditedPool pool({.width = 1});
  sync::atomic<int> ran{0};
  const auto task = [&ran] { ran.fetch_add(1, sync::order::relaxed); };
  pool.post([&] {
    auto group = std::make_unique<TaskGroup>(pool);
    group->run(task);
    explore::check(group->wait(Until()) == Status::ok, "it ran");
    group.reset();
    pool.post(task);
  });
  explore::check(test::wait_idly(pool) == Status::ok, "idle");
  explore::check(ran.load(sync::order::relaxed) == 2, "both");
});

// The last task is a guest's, whose end somebody else waits for: the worker sleeps by then.
const SingleScenario guest_tells("thread_pool/guest_tells", [] {
  OpenOnce gate;
  test::HeldPool pool(gate);
  pool.post([&] {
    gate.open();
    const auto asleep = [&pool] {
      const PoolStatistics now = pool.statistics();
      return now.workers[0].run == 1 && now.workers[0].sleeps != 0;
    };
    while (!asleep()) sync::pause();
  });
  explore::Thread other([&pool] { explore::check(test::wait_idly(pool) == Status::ok, "told"); });
  pool.wait();
});

// ---- Loops --------------------------------------------------------------------------------------

const SingleScenario loop_of_ranges("thread_pool/loop_of_ranges", [] {
  test::AuditedPool pool({.width = 1});
  std::array<sync::cell<int>, 5> times{};
  parallel_for(pool, 1, 5, [&times](IndexRange range) {
    explore::check(range.first < range.last && range.last <= 5, "within, and not empty");
    for (const std::size_t index : range) times[index].write() += 1;
  });
  explore::check(times[0].read() == 0, "not before the first");
  for (std::size_t i = 1; i < 5; ++i) explore::check(times[i].read() == 1, "each once");
  parallel_for(pool, 3, 3, [](std::size_t) { explore::check(false, "there is none"); });
  parallel_for(pool, 3, 2, [](std::size_t) { explore::check(false, "there is none"); });
});

// What one part throws comes out, and what nobody has begun is left out: here all but the first.
const SingleScenario loop_throws("thread_pool/loop_throws", [] {
  OpenOnce gate;
  test::HeldPool pool(gate);
  int ran = 0;
  explore::check(thrown_by([&] {
                   parallel_for(pool, 0, 3, [&ran](std::size_t) {
                     ++ran;
                     throw Failure{6};
                   });
                 }) == 6,
                 "what it threw");
  explore::check(ran == 1, "the rest is left out");
  gate.open();
  const Tally tally = pool.close();
  explore::check(tally.balanced() && tally.failed == 0, "no failure of the pool");
});

// The same on the worker, while the caller's own part waits for that.
const SingleScenario loop_throws_elsewhere("thread_pool/loop_throws_elsewhere", [] {
  test::AuditedPool pool({.width = 1});
  sync::atomic<int> blocks{0};
  explore::check(thrown_by([&] {
                   parallel_for(pool, 0, 4, [&](IndexRange) {
                     blocks.fetch_add(1, sync::order::relaxed);
                     if (pool.worker_index() == 0) throw Failure{7};
                     while (pool.tally().done == 0) sync::pause();  // it has ended
                   });
                 }) == 7,
                 "what it threw");
  explore::check(blocks.load(sync::order::relaxed) == 2, "the rest is left out");
});

// From parts in their order: `combine` need not commute.
const SingleScenario reduces("thread_pool/reduces", [] {
  test::AuditedPool pool({.width = 1});
  const auto word = [&pool](std::size_t first, std::size_t last) {
    return parallel_reduce(
        pool, first, last, 1U, [](std::size_t i) { return static_cast<unsigned>(i); },
        [](unsigned so_far, unsigned next) { return so_far == 1 ? next : so_far * 10 + next; });
  };
  explore::check(word(2, 6) == 2345, "in their order");
  explore::check(word(4, 4) == 1 && word(5, 4) == 1, "nothing is the identity");
});

// More indices than parts, so some parts have two.
const SingleScenario reduces_many("thread_pool/reduces_many", [] {
  OpenOnce gate;
  test::HeldPool pool(gate);
  constexpr std::size_t first = 3;
  constexpr std::size_t last = 262;
  const std::size_t sum = parallel_reduce(
      pool, first, last, std::size_t{0}, [](std::size_t i) { return i; },
      [](std::size_t a, std::size_t b) { return a + b; });
  explore::check(sum == (first + last - 1) * (last - first) / 2, "each once");
  gate.open();
  (void)pool.close();
});

}}  // namespace tasks_scenarios
