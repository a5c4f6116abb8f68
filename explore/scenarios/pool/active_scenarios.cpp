// SPDX-License-Identifier: MIT
//
// The queues of the mode `active`: a submitter, the worker that swaps them, and a thief.
// docs/design/thread_pool.md.
#include <handoff/pool/detail/task.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/sync/internal/cell.hpp>

#include "books/pool_books.hpp"
#include "explore/scenario.hpp"
#include "pool/active_queues.hpp"

namespace active_scenarios { namespace {

using namespace handoff;
using namespace handoff::detail;
using namespace test;

// Hands over a task that does nothing; false once closed.
template <class Queues>
bool push(Queues& queues) {
  Task* const task = queues.reserve();
  if (task != nullptr) task->publish(StillbornKind::kind);
  return task != nullptr;
}

std::size_t claim(PingPongTasks& tasks, std::size_t most) {
  Task node;
  return tasks.claim(most, [&node] { return &node; });
}
std::size_t rob(PingPongTasks& tasks, std::size_t most) {
  Task node;
  return tasks.rob(most, [&node] { return &node; });
}

const Scenario swap("ping_pong_tasks/swap", [] {
  PingPongTasks tasks;
  (void)push(tasks);
  explore::Thread submitter([&] {
    (void)push(tasks);
    (void)push(tasks);
  });
  std::size_t taken = claim(tasks, 1);
  explore::check(taken == 1, "the worker swaps and finds it");
  taken += claim(tasks, 2);
  submitter.join();
  for (std::size_t more = 1; more != 0; taken += more) more = claim(tasks, 2);
  explore::check(taken == 3 && tasks.load() == 0 && !tasks.has_tickets(), "each came out once");
  explore::check(tasks.accepted() == 3, "all are counted");
});

const Scenario thief("ping_pong_tasks/thief", [] {
  PingPongTasks tasks;
  (void)push(tasks);
  std::size_t robbed = 0;
  explore::Thread other([&] { robbed = rob(tasks, 2); });
  std::size_t taken = claim(tasks, 1);
  (void)push(tasks);
  taken += claim(tasks, 1);
  other.join();
  for (std::size_t more = 1; more != 0; taken += more) more = rob(tasks, 2);
  explore::check(taken + robbed == 2 && tasks.load() == 0, "each came out once");
  explore::outcome(robbed);
});

// A thief takes from either queue, from one at a time; a close closes both.
const SingleScenario either("ping_pong_tasks/either", [] {
  PingPongTasks tasks;
  explore::Thread other([&tasks] { explore::check(tasks.accepted() <= 3, "so many"); });
  explore::check(push(tasks) && push(tasks) && claim(tasks, 1) == 1, "the worker's half");
  explore::check(push(tasks) && tasks.load() == 2, "one in each");
  explore::check(rob(tasks, 5) == 1 && rob(tasks, 5) == 1, "one after the other");
  explore::check(rob(tasks, 5) == 0 && tasks.load() == 0, "and no more");
  tasks.close();
  explore::check(!push(tasks), "this one is closed");
  explore::check(claim(tasks, 1) == 0 && !push(tasks) && tasks.accepted() == 3, "so is the other");
});

// They go to all in turn, and to a worker that has taken some.
const SingleScenario even("active_queues/even", [] {
  ActiveQueues queues(3);
  explore::Thread other([&queues] { explore::check(queues.accepted() <= 8, "so many"); });
  const auto loads = [&queues](std::int64_t first, std::int64_t second, std::int64_t third) {
    explore::check(queues.of(0).load() == first, "even");
    explore::check(queues.of(1).load() == second, "even");
    explore::check(queues.of(2).load() == third, "even");
  };
  explore::check(push(queues), "open");
  loads(1, 0, 0);
  explore::check(push(queues) && push(queues), "open");
  loads(1, 1, 1);
  for (int i = 0; i < 3; ++i) explore::check(push(queues), "open");
  loads(2, 2, 2);
  explore::check(claim(queues.of(2), 2) + claim(queues.of(2), 2) == 2, "its own");
  explore::check(push(queues) && push(queues), "open");
  loads(2, 2, 2);
  queues.close();
  explore::check(!push(queues) && !push(queues) && queues.accepted() == 8, "closed is closed");
  explore::check(queues.has_tickets(), "what was accepted is there");
});

// A submitter that was refused is refused from then on, also by queues that are closed later.
const Scenario close("active_queues/close", [] {
  ActiveQueues queues(2);
  std::uint64_t accepted = 0;
  bool in_order = true;
  explore::Thread submitter([&] {
    bool refused = false;
    for (int i = 0; i < 3; ++i) {
      const bool taken = push(queues);
      in_order = in_order && !(refused && taken);
      refused = refused || !taken;
      accepted += taken ? 1 : 0;
    }
  });
  queues.close();
  submitter.join();
  explore::check(in_order, "closed is closed");
  explore::check(queues.accepted() == accepted, "the count is exact");
  explore::outcome(accepted);
});

const Scenario whole_pool("thread_pool/active", [] {
  test::AuditedPool pool({.mode = PoolMode::active, .width = 1});
  sync::cell<int> one;
  sync::cell<int> two;
  auto first = pool.submit([&one] { one.write() = 1; });
  auto second = pool.submit([&two] { two.write() = 1; });
  first.get();
  second.get();
  explore::check(one.read() + two.read() == 2, "both ran");
});

}}  // namespace active_scenarios
