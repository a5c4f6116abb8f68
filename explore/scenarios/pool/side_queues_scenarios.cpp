// SPDX-License-Identifier: MIT
//
// Queues that are made when somebody first asks for them, beside a worker that is about to sleep.
// docs/design/thread_pool.md.
#include <handoff/pool/detail/sleepers.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>

#include "books/pool_books.hpp"
#include "explore/scenario.hpp"
#include "explore/scenarios/pool/sleeper.hpp"
#include "pool/side_queues.hpp"

namespace side_queues_scenarios { namespace {

using namespace handoff;
using namespace handoff::detail;
using namespace test;

// Made by one of two, used by both.
const Scenario made_once("side_queues/made_once", [] {
  test::Audited<SideQueues> queues(1);
  int places = 0;
  const auto use = [&] {
    if (Task* const task = queues.reserve(Priority::high)) {
      task->publish(StillbornKind::kind);
    }
  };
  explore::Thread other(use);
  use();
  other.join();
  Task node;
  while (queues.of_priority(Priority::high)->claim(1, [&node] { return &node; }) != 0) ++places;
  explore::check(places == 2, "each has a place in the same queue");
  explore::check(queues.accepted() == 2, "and is counted");
});

const Scenario close("side_queues/close", [] {
  test::Audited<SideQueues> queues(1);
  bool accepted = false;
  explore::Thread other([&] {
    Task* const task = queues.reserve(Priority::low);
    accepted = task != nullptr;
    if (accepted) task->publish(StillbornKind::kind);
  });
  queues.close();
  const std::uint64_t counted = queues.accepted();
  other.join();
  explore::check(counted == (accepted ? 1U : 0U), "the count is whole");
  explore::check(queues.reserve(Priority::high) == nullptr, "closed is closed");
  explore::outcome(counted);
});

// A thread that found nobody asleep has made work that the sleeper's last look finds.
const Scenario beside_sleep("side_queues/beside_sleep", [] {
  SideQueues queues(1);
  Sleepers sleepers;
  Sleepers::Place bed;
  bool told = false;
  explore::Thread other([&] {
    (void)queues.reserve(Priority::high);
    told = sleepers.wanted();
    if (told) (void)sleepers.wake_one();
  });
  sleepers.begin_search();
  const auto slept = sleepers.sleep(bed, test::by_seq_cst, [&] { return queues.has_tasks(); });
  other.join();
  explore::outcome(static_cast<std::uint64_t>(slept));
});

// A task that woke nobody, because somebody searches, is seen by that one when it has found work.
const Scenario beside_found("side_queues/beside_found", [] {
  SideQueues queues(1);
  Sleepers sleepers;
  test::beside_a_sleeper(sleepers, [&] {
    bool told = false;
    sleepers.begin_search();
    explore::Thread submitter([&] {
      (void)queues.reserve(Priority::high);
      told = sleepers.wanted();
    });
    const auto left = sleepers.end_search();
    const bool seen = left.nobody_searches && left.asleep != 0 && queues.has_tasks();
    submitter.join();
    explore::check(told || seen, "one of the two sees the other");
  });
});

// A submitter of a task that this worker has to run.
void hand_to(std::size_t worker, SideQueues& queues, Sleepers& sleepers, Sleepers::Place& bed) {
  queues.expect(worker);
  sleepers.wake(bed);
  (void)queues.reserve_for(worker);
  queues.expect_no_more(worker);
}

// The worker: what woke it need not be seen at once, but then before it sleeps again.
void sleep_until_it_has_tasks(std::size_t worker, SideQueues& queues, Sleepers& sleepers,
                              Sleepers::Place& bed) {
  sleepers.begin_search();
  do {
    (void)sleepers.sleep(bed, test::by_seq_cst, [&] { return queues.has_tasks_for(worker); });
  } while (!queues.has_tasks_for(worker));
  (void)sleepers.end_search();
}

// An expected worker is told, or stays awake: else this hangs.
const Scenario expected("side_queues/expected", [] {
  SideQueues queues(1);
  Sleepers sleepers;
  Sleepers::Place bed;
  explore::Thread other([&] { hand_to(0, queues, sleepers, bed); });
  sleep_until_it_has_tasks(0, queues, sleepers, bed);
});

// ... and of two workers that one, however deep the other one sleeps.
const LargeScenario expected_of_two("side_queues/expected_of_two", [] {
  SideQueues queues(2);
  Sleepers sleepers;
  Sleepers::Place bed(1);
  Sleepers::Place other_bed(0);
  sync::atomic<bool> over{false};
  explore::Thread neighbour([&] {
    sleepers.begin_search();
    (void)sleepers.sleep(other_bed, test::by_seq_cst, [&] {
      return queues.has_tasks_for(0) || over.load(sync::order::seq_cst);
    });
    (void)sleepers.end_search();
  });
  explore::Thread submitter([&] { hand_to(1, queues, sleepers, bed); });
  sleep_until_it_has_tasks(1, queues, sleepers, bed);
  submitter.join();
  explore::check(!queues.has_tasks_for(0), "it is the other one's task");
  over.store(true, sync::order::seq_cst);
  sleepers.wake_all();
});

}}  // namespace side_queues_scenarios
