// SPDX-License-Identifier: MIT
//
// What the modes have in common: claiming from a queue, stealing, and the single queue.
#pragma once

#include <array>
#include <handoff/pool/detail/engine.hpp>
#include <handoff/pool/detail/group_tasks.hpp>
#include <new>

#include "../probe/probes.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// For one task more of the worker's own. Null: no memory; the task stays where it is until then.
inline Task* node_of(Worker& worker) noexcept {
  try {
    return worker.nodes.take();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

// Takes tasks, `most` at most, by take(most, into): returns the oldest, the others go into the
// worker's empty deque, oldest on top. Null if there was none, or no memory to hold one.
template <class Take>
Task* claim_by(Take&& take, Worker& worker, std::size_t most) noexcept {
  std::array<Task*, Worker::batch_most> claimed;  // no initial value: only `count` are used
  std::size_t tried = 0;
  const std::size_t count =
      take(most, [&]() noexcept { return claimed[tried++] = node_of(worker); });
  if (count == 0) return nullptr;
  worker.engine.free_places(count);
  if (count == 1) return claimed[0];
  for (std::size_t i = count - 1; i > 0; --i) worker.claimed.push(claimed[i]);
  // Until now nobody could see them: who fell asleep meanwhile has found nothing.
  worker.engine.call_for_pushed();
  return claimed[0];
}

// ... of a queue.
template <class Queue>
Task* claim(Queue& queue, Worker& worker, std::size_t most) noexcept {
  return claim_by(
      [&queue](std::size_t count, auto&& into) noexcept { return queue.claim(count, into); },
      worker, most);
}

// One task of a queue for which the pool's capacity is none.
inline Task* claim_unbounded(SmallTaskQueue& queue, Worker& worker) noexcept {
  Task* node = nullptr;
  const auto into = [&worker, &node]() noexcept { return node = node_of(worker); };
  return queue.claim(1, into) != 0 ? node : nullptr;
}

// Takes the oldest task of somebody else. The search begins with whoever had some last time.
inline Task* steal(Crew& crew, Worker& thief) noexcept {
  const std::size_t count = crew.in_use();
  std::size_t index = thief.victim;
  for (std::size_t tried = 0; tried < count; ++tried, ++index) {
    if (index >= count) index = 0;
    Worker* const victim = crew.at(index);
    if (victim == nullptr || victim == &thief) continue;
    for (StealDeque<Task*>* const deque : {&victim->spawned, &victim->claimed}) {
      Task* task = nullptr;
      if (deque->was_empty() || deque->steal(task) != Status::ok) continue;
      thief.victim = static_cast<std::uint32_t>(index);
      HANDOFF_PROBE(task_steal, thief.index, task);
      thief.stolen.add();
      if (GroupTasks* const group = task->group.read()) group->stolen_by(thief);
      return task;
    }
  }
  return nullptr;
}

// One queue for all tasks, taken one by one. What a task makes by a TaskGroup or a loop stays with
// its worker, which waits for it, and can be stolen by workers that find nothing in the queue.
class OneQueue : public TaskSource {
 public:
  explicit OneQueue(Crew& crew) : crew_(crew) {}

  Task* reserve() final { return queue_.reserve(); }
  void close() noexcept final { queue_.close(); }
  std::uint64_t accepted() const noexcept final { return queue_.accepted(); }
  bool has_tasks() const noexcept final { return queue_.has_tickets(); }
  bool keeps_local() const noexcept final { return false; }

  Task* next(Worker& worker) noexcept final {
    Task* task = nullptr;
    if (worker.spawned.pop(task) == Status::ok) return task;
    if ((task = claim(queue_, worker, 1)) != nullptr) return task;
    return steal(crew_, worker);
  }

 private:
  Crew& crew_;
  TaskQueue queue_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
