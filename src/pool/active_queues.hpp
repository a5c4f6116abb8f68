// SPDX-License-Identifier: MIT
//
// The queues of the mode `active`, a pair for each worker, and which of them a submitter takes.
//
// Submitters stay with one worker until the next one has less to do. This is about speed only: idle
// workers rob the others.
//
// Thread-safe; see PingPongTasks for the pairs. Order: none.
// Blocks, allocates: as TaskQueue. Closed: a submitter that was refused once is refused for ever.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/internal/relaxed.hpp>

#include "task_queue.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// What waits for one worker of the mode `active`: a public queue, which submitters fill, and a
// private one, which the worker empties. When the private one is empty it swaps the two, so while
// there is much to do submitters and worker write to different memory.
//
// Which of the two is public is a word for submitters and no promise: a submitter that hands over
// while they are swapped puts its task into the private one, where it is found as well. So nothing
// depends on the swap but speed, and all that holds for TaskQueue holds here.
//
// Concurrency: reserve(), close(), accepted(), load() by anybody; claim() by the worker, rob() by
//   anybody, next to it. Order: none, because of the swap.
// Blocks, allocates: as TaskQueue.
class alignas(sync::destructive_span) PingPongTasks {
 public:
  // As TaskQueue's. Counted in load() from here on.
  Task* reserve() {
    Task* const task = queues_[which()].reserve();
    if (task != nullptr) load_.add(1);
    return task;
  }

  void close() noexcept {
    for (SmallTaskQueue& queue : queues_) queue.close();
  }
  std::uint64_t accepted() const noexcept { return queues_[0].accepted() + queues_[1].accepted(); }
  bool has_tickets() const noexcept { return queues_[0].has_tickets() || queues_[1].has_tickets(); }

  // How many wait, about.
  std::int64_t load() const noexcept { return load_.get(); }

  // The worker takes tasks, as TaskQueue::claim() does.
  template <class NodeSource>
  std::size_t claim(std::size_t most, NodeSource&& into) noexcept {
    const std::uint32_t mine = 1 - which();
    std::size_t count = queues_[mine].claim(most, into);
    if (count == 0 && !queues_[1 - mine].looks_empty()) {
      // equivalent(swap): where submitters go is a hint: both queues are looked at
      public_.set(mine);
      count = queues_[1 - mine].claim(most, into);
    }
    return took(count);
  }

  // Another one does, of either.
  template <class NodeSource>
  std::size_t rob(std::size_t most, NodeSource&& into) noexcept {
    std::size_t count = 0;
    for (SmallTaskQueue& queue : queues_) {
      if (count == 0 && !queue.looks_empty()) count = queue.claim(most, into);
    }
    return took(count);
  }

 private:
  std::uint32_t which() const noexcept { return public_.get(); }
  std::size_t took(std::size_t tasks) noexcept {
    if (tasks != 0) load_.add(-static_cast<std::int64_t>(tasks));
    return tasks;
  }

  std::array<SmallTaskQueue, 2> queues_;
  alignas(sync::destructive_span) sync::relaxed<std::uint32_t> public_;  // which one
  sync::relaxed<std::int64_t> load_;
};

class ActiveQueues {
 public:
  explicit ActiveQueues(std::size_t workers) : pairs_(workers) {}

  std::size_t size() const noexcept { return pairs_.size(); }
  PingPongTasks& of(std::size_t worker) noexcept { return pairs_[worker]; }

  Task* reserve() {
    if (closed_.get()) return nullptr;
    Task* const task = choose().reserve();
    if (task == nullptr) closed_.set(true);
    return task;
  }

  void close() noexcept {
    for (PingPongTasks& pair : pairs_) pair.close();
  }

  std::uint64_t accepted() const noexcept {
    std::uint64_t sum = 0;
    for (const PingPongTasks& pair : pairs_) sum += pair.accepted();
    return sum;
  }

  bool has_tickets() const noexcept {
    for (const PingPongTasks& pair : pairs_) {
      if (pair.has_tickets()) return true;
    }
    return false;
  }

 private:
  PingPongTasks& choose() noexcept {
    std::size_t index = chosen_.get();
    const std::size_t other = index + 1 < pairs_.size() ? index + 1 : 0;
    if (pairs_[other].load() < pairs_[index].load()) {
      index = other;
      chosen_.set(index);
    }
    return pairs_[index];
  }

  std::vector<PingPongTasks> pairs_;  // by worker
  alignas(sync::destructive_span) sync::relaxed<std::size_t> chosen_;  // a hint
  // order: a thread that was refused by one of the queues has set it, so sees it.
  sync::relaxed<bool> closed_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
