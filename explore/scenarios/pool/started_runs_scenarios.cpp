// SPDX-License-Identifier: MIT
//
// Ranges on a pool, waited for and started (detail/pool_run.hpp): the last member to leave tells,
// and nobody touches the run after that.
#include <handoff/core/internal/range_run.hpp>
#include <handoff/pool/detail/pool_run.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/stop_token.hpp>

#include "books/pool_books.hpp"
#include "explore/freed_run.hpp"
#include "explore/scenario.hpp"
#include "explore/scenarios/pool/pool_scenarios.hpp"

namespace pool_started_runs_scenarios { namespace {

using namespace handoff;
using namespace test;

template <std::size_t count>
using Freed = test::FreedRun<ThreadPool, count>;

const Scenario freed("thread_pool/started_run", [] {
  Freed<2>::Told told;
  test::AuditedPool pool({.width = 1});
  Freed<2>::start(pool, told);
  const Tally tally = pool.close();
  explore::check(told.once().done == 2, "each index once");
  explore::check(tally.done == 1 && tally.balanced(), "one task");
});

const SingleScenario waited_for("thread_pool/started_run_told", [] {
  Freed<2>::Told told;
  test::AuditedPool pool({.width = 1});
  Freed<2>::start(pool, told);
  told.await();
  explore::check(told.once().done == 2, "each index once");
});

// Two members: one calls the other, which comes by the deque or is called back.
const HugeScenario two_members("thread_pool/started_run_shared", [] {
  Freed<2>::Told told;
  test::AuditedPool pool({.width = 2});
  Freed<2>::start(pool, told, {.block = 1});
  (void)pool.close();
  explore::check(told.once().done == 2, "each index once");
});

// The blocks wait for one another: the second member comes.
const SingleScenario both_come("thread_pool/started_run_meets", [] {
  test::Arrivals come;
  test::AuditedPool pool({.width = 2});
  BulkOperation run(
      pool, 2,
      [&come](std::size_t, std::size_t) {
        come.arrive();
        come.await(2);
      },
      [&come](const Tally& tally) noexcept {
        explore::check(tally.done == 2, "both");
        come.arrive();
      },
      {.block = 1});
  explore::check(run.start() == Status::ok, "taken");
  come.await(3);
  (void)pool.close();
  explore::check(come.count() == 3, "told once");
});

const Scenario close("thread_pool/started_run_beside_close", [] {
  Freed<2>::Told told;
  test::AuditedPool pool({.width = 1});
  bool taken = false;
  explore::Thread starter([&] { taken = Freed<2>::try_start(pool, told); });
  (void)pool.close();
  starter.join();
  if (taken) {
    explore::check(told.once().done == 2, "what was taken is done");
  } else {
    explore::check(told.times.load(sync::order::relaxed) == 0, "refused, and never told");
  }
  explore::outcome(taken ? 1 : 0);
});

// What has not begun is dropped whole, what has begun is done.
const Scenario abandoned("thread_pool/started_run_abandoned", [] {
  Freed<2>::Told told;
  test::AuditedPool pool({.width = 1});
  Freed<2>::start(pool, told, {.block = 1});
  (void)pool.close(Closing::abandon);
  const Tally tally = told.once();
  explore::check(tally.done == 2 || tally.cancelled == 2, "all or nothing");
  explore::outcome(tally.done);
});

// ... and a member that nobody has stolen when the pool drops its tasks does nothing but leave.
const SingleScenario abandoned_amid("thread_pool/started_run_abandoned_amid", [] {
  Freed<3>::Told told;
  test::AuditedPool pool({.width = 2});
  Freed<3>::start(pool, told, {.block = 1});
  (void)pool.close(Closing::abandon);
  const Tally tally = told.once();
  explore::check(tally.done == 3 || tally.cancelled == 3, "all or nothing");
});

const Scenario stop("thread_pool/started_run_beside_stop", [] {
  Freed<2>::Told told;
  sync::StopSource source;
  test::AuditedPool pool({.width = 1});
  explore::Thread stopper([&] { source.request_stop(); });
  Freed<2>::start(pool, told, {.block = 1, .until = source.token()});
  stopper.join();
  (void)pool.close();
  const Tally tally = told.once();
  explore::check(tally.done + tally.cancelled == 2, "what has not begun is cancelled");
  explore::outcome(tally.cancelled);
});

const SingleScenario throws("thread_pool/started_run_throws", [] {
  Freed<2>::Told told;
  test::AuditedPool pool({.width = 2});
  Freed<2>::start(pool, told, {.block = 1}, 0);
  const Tally pools = pool.close();
  const Tally tally = told.once();
  explore::check(tally.failed == 1 && tally.done == 1, "the block alone");
  explore::check(tally.first_failure != nullptr, "and why");
  explore::check(pools.failed == 0, "no failure of the pool");
});

// The completion starts the run again.
const SingleScenario again("thread_pool/started_run_again", [] {
  struct Again final : BulkWork {
    explicit Again(ThreadPool& the_pool) : pool(the_pool) {}
    void block(std::size_t first, std::size_t last) override { done += last - first; }
    void ended(const Tally&) noexcept override {
      if (++told < 3) explore::check(pool.start(2, *this, storage) == Status::ok, "taken");
    }
    ThreadPool& pool;
    std::size_t done = 0;
    int told = 0;
    ThreadPool::BulkStorage storage;
  };
  test::AuditedPool pool({.width = 1});
  Again run(pool);
  explore::check(pool.start(2, run, run.storage) == Status::ok, "taken");
  pool.wait();
  explore::check(run.told == 3 && run.done == 6, "three times");
});

// The caller of run() and the worker.
const LargeScenario waits("thread_pool/run", [] {
  test::AuditedPool pool({.width = 1});
  std::array<sync::cell<int>, 2> times{};
  const Tally tally = pool.run(2,
                               [&times](IndexRange range) {
                                 for (const std::size_t i : range) times[i].write() += 1;
                               },
                               {.block = 1});
  explore::check(tally.done == 2 && tally.balanced(), "exact");
  for (const auto& each : times) explore::check(each.read() == 1, "each index once");
});

// The worker comes to a run whose first block goes on until it has come; one of the two throws.
const SingleScenario run_throws("thread_pool/run_throws", [] {
  test::AuditedPool pool({.width = 1});
  test::Arrivals come;
  const int thrown = test::thrown_by([&] {
    (void)pool.run(2,
                   [&come](IndexRange range) {
                     come.arrive();
                     come.await(2);
                     if (range.first == 1) throw test::Failure{7};
                   },
                   {.block = 1});
  });
  explore::check(thrown == 7 && come.count() == 2, "when both are done");
  explore::check(pool.close().failed == 0, "no failure of the pool");
});

// No memory for members: those that are there do it.
const SizedScenario<Size::single, 1> no_memory("thread_pool/run_without_memory", [] {
  const auto pool = test::pool_of({.width = 1});
  if (pool == nullptr) return;
  std::array<sync::cell<int>, 3> times{};
  const auto body = [&times](IndexRange range) {
    for (const std::size_t i : range) times[i].write() += 1;
  };
  {
    const explore::MayFail may_fail;
    explore::check(pool->run(3, body, {.block = 1}).done == 3, "all of it");
  }
  for (const auto& each : times) explore::check(each.read() == 1, "each index once");
});

const SizedScenario<Size::single, 1> start_without_memory(
    "thread_pool/started_run_without_memory", [] {
      Freed<3>::Told told;
      bool taken = false;
      auto pool = test::pool_of({.width = 1});
      if (pool == nullptr) return;
      try {
        const explore::MayFail may_fail;
        taken = Freed<3>::try_start(*pool, told);
      } catch (const std::bad_alloc&) {
      }
      (void)pool->close();
      explore::check(told.times.load(sync::order::relaxed) == (taken ? 1 : 0), "told if taken");
      explore::outcome(taken ? 1 : 0);
    });

}}  // namespace pool_started_runs_scenarios
