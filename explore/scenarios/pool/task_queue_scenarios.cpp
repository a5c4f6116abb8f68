// SPDX-License-Identifier: MIT
//
// The queue of a pool: tickets, segments that are used again, the close.
// docs/design/thread_pool.md.
#include <handoff/pool/detail/task.hpp>
#include <handoff/sync/internal/cell.hpp>

#include "books/pool_books.hpp"
#include "explore/scenario.hpp"
#include "pool/task_queue.hpp"

namespace task_queue_scenarios { namespace {

using namespace handoff;
using namespace handoff::detail;
using test::Scenario;

// A task is known by its group pointer, which nobody follows here; what it carries lies in a cell.
struct Tasks {
  std::array<sync::cell<int>, 6> of;

  Tasks() {}  // not constexpr: clang 19 would make it, and all that calls it, immediate

  bool push(TaskQueue& queue, std::size_t number) {
    Task* const task = queue.reserve();
    if (task == nullptr) return false;
    of[number].write() = 1;
    task->group.write() = nullptr;
    ::new (static_cast<void*>(task->storage)) std::size_t(number);
    task->publish(StillbornKind::kind);
    return true;
  }

  // One try.
  bool pop(TaskQueue& queue, std::size_t& number) {
    Task node;
    if (queue.claim(1, [&node] { return &node; }) == 0) return false;
    number = node.as<std::size_t>();
    explore::check(of[number].write()++ == 1, "each task once, and whole");
    return true;
  }
  std::size_t pop_all(TaskQueue& queue) {
    std::size_t count = 0;
    for (std::size_t number = 0; pop(queue, number);) ++count;
    return count;
  }
};

// Two producers and a consumer, over the end of a segment (two tasks long here).
const Scenario segments("task_queue/segments", [] {
  test::Audited<TaskQueue> queue;
  Tasks tasks;
  explore::Thread one([&] { tasks.push(queue, 0); });
  explore::Thread two([&] {
    tasks.push(queue, 1);
    tasks.push(queue, 2);
  });
  std::size_t popped = tasks.pop_all(queue);
  explore::outcome(popped);
  one.join();
  two.join();
  popped += tasks.pop_all(queue);
  explore::check(popped == 3 && queue.accepted() == 3, "all came out");
  explore::check(!queue.has_tickets() && queue.looks_empty(), "and nothing is left");
});

// A producer holds on to a segment that is emptied and used again meanwhile.
const Scenario used_again("task_queue/used_again", [] {
  test::Audited<TaskQueue> queue;
  Tasks tasks;
  tasks.push(queue, 0);
  explore::Thread producer([&] { tasks.push(queue, 3); });
  std::size_t popped = 0;
  tasks.push(queue, 1);
  popped += tasks.pop_all(queue);
  tasks.push(queue, 2);
  popped += tasks.pop_all(queue);
  producer.join();
  popped += tasks.pop_all(queue);
  explore::check(popped == 4 && queue.accepted() == 4, "all came out");
});

// A slow producer takes the first ticket of a segment that is used again. Its slot is empty.
const Scenario late_ticket("task_queue/late_ticket", [] {
  test::Audited<TaskQueue> queue;
  Tasks tasks;
  std::size_t popped = 0;
  tasks.push(queue, 0);
  tasks.push(queue, 1);
  explore::Thread producer([&] { tasks.push(queue, 5); });
  explore::Thread other([&] {
    popped += tasks.pop_all(queue);
    tasks.push(queue, 2);
    popped += tasks.pop_all(queue);
    tasks.push(queue, 3);
    tasks.push(queue, 4);
  });
  producer.join();
  other.join();
  popped += tasks.pop_all(queue);
  explore::check(popped == 6 && queue.accepted() == 6, "all came out");
});

// A thread that only looks comes to a segment that one made and another one showed.
const Scenario looks_empty("task_queue/looks_empty", [] {
  test::Audited<TaskQueue> queue;
  Tasks tasks;
  for (std::size_t i = 0; i < TaskQueue::segment_tasks; ++i) tasks.push(queue, i);
  std::size_t popped = 0;
  explore::Thread producer([&] { tasks.push(queue, 2); });
  explore::Thread consumer([&] { popped = tasks.pop_all(queue); });
  explore::outcome(queue.looks_empty() ? 1 : 0);
  producer.join();
  consumer.join();
  popped += tasks.pop_all(queue);
  explore::check(popped == 3 && queue.looks_empty(), "all came out");
});

const Scenario two_consumers("task_queue/two_consumers", [] {
  test::Audited<TaskQueue> queue;
  Tasks tasks;
  tasks.push(queue, 0);
  tasks.push(queue, 1);
  std::size_t mine = 0;
  std::size_t theirs = 0;
  std::size_t number = 0;
  explore::Thread other([&] {
    std::size_t taken = 0;
    theirs = tasks.pop(queue, taken) ? 1 : 0;
  });
  mine = tasks.pop(queue, number) ? 1 : 0;
  other.join();
  mine += tasks.pop_all(queue);
  explore::check(mine + theirs == 2, "all came out");
});

// What is accepted is exactly what came before the close.
const Scenario close("task_queue/close", [] {
  test::Audited<TaskQueue> queue;
  Tasks tasks;
  std::uint64_t accepted = 0;
  explore::Thread producer([&] {
    for (std::size_t i = 0; i < 3; ++i) accepted += tasks.push(queue, i) ? 1 : 0;
  });
  queue.close();
  const std::uint64_t at_close = queue.accepted();
  producer.join();
  explore::check(at_close == accepted && queue.accepted() == accepted, "the count is exact");
  explore::check(tasks.pop_all(queue) == accepted && !queue.has_tickets(), "all came out");
  explore::check(!tasks.push(queue, 3), "closed is closed");
  explore::outcome(accepted);
});

}}  // namespace task_queue_scenarios
