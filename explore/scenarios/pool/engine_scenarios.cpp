// SPDX-License-Identifier: MIT
//
// Who wakes whom in the pool that is shipped: the smallest pools in which a worker that is not told
// leaves a task behind. A wake-up that is lost is a deadlock here, and so is a task that is not
// counted.
// docs/design/thread_pool.md.
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/sync/internal/cell.hpp>

#include "books/pool_books.hpp"
#include "explore/scenario.hpp"
#include "explore/scenarios/pool/pool_scenarios.hpp"
#include "pool/engine_parts.hpp"

namespace engine_scenarios { namespace {

using namespace handoff;
using namespace test;

ThreadPoolOptions options(PoolMode mode, std::size_t width) {
  ThreadPoolOptions given;
  given.mode = mode;
  given.width = width;
  given.core = 1;  // of `cached`
  given.idle_time = std::chrono::nanoseconds(1);
  return given;
}

// The worker sleeps before each task.
void one_by_one(PoolMode mode) {
  test::AuditedPool pool(options(mode, 1));
  Arrivals meeting;
  for (int i = 1; i <= 2; ++i) {
    pool.post([&meeting] { meeting.arrive(); });
    meeting.await(i);
  }
  explore::check(pool.close().done == 2, "both ran");
}

const Scenario one_stealing("thread_pool/one_by_one_stealing",
                            [] { one_by_one(PoolMode::stealing); });
const Scenario one_fixed("thread_pool/one_by_one_fixed", [] { one_by_one(PoolMode::fixed); });
const Scenario one_active("thread_pool/one_by_one_active", [] { one_by_one(PoolMode::active); });

// Two tasks are there when the first worker comes. It takes them both, or one; the worker that
// found work calls the other worker, since nobody else will: the submitter saw a worker that
// searched. (The batch that `stealing` takes is thread_pool/neighbours.)
void ramp_up(PoolMode mode) {
  test::AuditedPool pool(options(mode, 2));
  Arrivals meeting;
  const auto meet = [&meeting] {
    meeting.arrive();
    meeting.await(2);
  };
  pool.post(meet);
  pool.post(meet);
  explore::check(pool.close().done == 2, "both ran");
}

const HugeScenario ramp_up_fixed("thread_pool/ramp_up_fixed", [] { ramp_up(PoolMode::fixed); });
const SingleScenario ramp_up_active("thread_pool/ramp_up_active",
                                    [] { ramp_up(PoolMode::active); });

// A task waits, without helping, for one that it has handed over: behind the light fence only.
const HugeScenario light_submit("thread_pool/light_submit", [] {
  test::AuditedPool pool(options(PoolMode::stealing, 2));
  Arrivals meeting;
  pool.post([&pool, &meeting] {
    pool.post([&meeting] { meeting.arrive(); });
    meeting.await(1);
  });
  meeting.await(1);
  explore::check(pool.close().done == 2, "both ran");
});

// A closure that cannot be made: an empty task is left in its place, and is counted like others.
const LargeScenario stillborn("thread_pool/stillborn", [] {
  auto given = options(PoolMode::stealing, 1);
  given.capacity = 1;
  test::AuditedPool pool(given);
  bool thrown = false;
  explore::Thread other([&pool] { pool.post([] {}); });  // its place comes back
  try {
    pool.post(Fragile());  // its move is a copy
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  other.join();
  explore::check(thrown, "the submitter hears of it");
  const Tally tally = pool.close();
  explore::check(tally.accepted == 2 && tally.done == 1 && tally.cancelled == 1, "both counted");
});

const Scenario stillborn_in_a_group("thread_pool/stillborn_in_a_group", [] {
  test::AuditedPool pool(options(PoolMode::stealing, 1));
  sync::cell<int> ran;
  {
    TaskGroup tasks(pool);
    tasks.run([&ran] { ran.write() = 1; });
    try {
      tasks.run(Fragile());
      explore::check(false, "the submitter hears of it");
    } catch (const std::bad_alloc&) {
    }
    tasks.wait();
    explore::check(ran.read() == 1, "the other one ran");
  }
});

}}  // namespace engine_scenarios
