// SPDX-License-Identifier: MIT
//
// How a worker takes tasks out of queues and of other workers' deques: what the modes have in
// common.
//
// Concurrency: each worker for itself. Blocks, throws: never. Allocates: nodes for what is claimed.
// Proof: docs/design/thread_pool.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

#include <handoff/config.hpp>
#include <handoff/core/status.hpp>
#include <handoff/pool/detail/group_tasks.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/pool/detail/work_calls.hpp>
#include <handoff/pool/detail/worker.hpp>
#include <handoff/probe/internal/hook.hpp>
#include <handoff/queue/steal_deque.hpp>
#include <handoff/sync/internal/atomic.hpp>

#include "../probe/internal/probes.hpp"
#include "crew.hpp"
#include "task_queue.hpp"
#include "waiting_room.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class Claimer {
 public:
  static constexpr std::uint32_t paused = 1;  // in `notes`: no task is to begin

  Claimer(Crew& crew, WaitingRoom& room, WorkCalls& calls,
          const sync::atomic<std::uint32_t>& notes) noexcept
      : crew_(crew), room_(room), calls_(calls), notes_(notes) {}

  // Takes tasks, `most` at most, by take(most, into): returns the oldest, the others go into the
  // worker's empty deque, oldest on top. Null if there was none, or no node for one.
  template <class Take>
  Task* claim_by(Take&& take, Worker& worker, std::size_t most) noexcept {
    std::array<Task*, Worker::batch_most> claimed;  // no initial value: only `count` are used
    std::size_t tried = 0;
    const std::size_t count =
        take(most, [&]() noexcept { return claimed[tried++] = node_of(worker); });
    if (count == 0) return nullptr;
    room_.give_back(count);
    if (count == 1) return claimed[0];
    for (std::size_t i = count - 1; i > 0; --i) worker.claimed.push(claimed[i]);
    // Until now nobody could see them: a worker that fell asleep meanwhile has found nothing.
    calls_.call_for_pushed();
    return claimed[0];
  }

  // ... of a queue.
  template <class Queue>
  Task* claim_batch(Queue& queue, Worker& worker) noexcept {
    return claim_by(
        [&queue](std::size_t count, auto&& into) noexcept { return queue.claim(count, into); },
        worker, Worker::batch_most);
  }

  // One task of a queue, without what a batch needs.
  template <class Queue>
  Task* claim_one(Queue& queue, Worker& worker) noexcept {
    Task* const task = claim_unbounded(queue, worker);
    if (task != nullptr) room_.give_back(1);
    return task;
  }

  // ... for which the pool's capacity is none.
  template <class Queue>
  Task* claim_unbounded(Queue& queue, Worker& worker) noexcept {
    Task* node = nullptr;
    const auto into = [&]() noexcept { return node = node_of(worker); };
    return queue.claim(1, into) != 0 ? node : nullptr;
  }

  // Takes the oldest task of somebody else. The search begins with the worker that had some last
  // time.
  Task* steal(Worker& thief) noexcept {
    const std::size_t count = crew_.in_use();
    std::size_t index = thief.victim;
    for (std::size_t tried = 0; tried < count; ++tried, ++index) {
      if (index >= count) index = 0;
      Worker* const victim = crew_.at(index);
      if (victim == nullptr || victim == &thief) continue;
      for (StealDeque<Task*>* const deque : {&victim->spawned, &victim->claimed}) {
        Task* task = nullptr;
        if (deque->empty() || deque->steal(task) != Status::ok) continue;
        thief.victim = static_cast<std::uint32_t>(index);
        HANDOFF_PROBE(task_steal, thief.index, task);
        probe::moment(probe::Kind::steal);
        thief.stolen.add();
        if (GroupTasks* const group = task->group.read()) group->stolen_by(thief);
        return task;
      }
    }
    return nullptr;
  }

 private:
  // For one task more, which has been found. Null: no memory, or a pause; the task stays where it
  // is until then.
  Task* node_of(Worker& worker) noexcept {
    // order: relaxed. A pause before it was handed over came with the task, which was acquired.
    if ((notes_.load(sync::order::relaxed) & paused) != 0) [[unlikely]]
      return nullptr;
    try {
      return worker.nodes.take();
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }

  Crew& crew_;
  WaitingRoom& room_;
  WorkCalls& calls_;
  const sync::atomic<std::uint32_t>& notes_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
