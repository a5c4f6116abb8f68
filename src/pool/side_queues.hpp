// SPDX-License-Identifier: MIT
//
// The queues of a pool beside that of its mode: tasks of each priority but normal, and those that
// one worker has to run.
//
// Most pools have no such tasks. So each queue is made when somebody first asks for it, and until
// then costs a look at a null pointer where a worker is about to sleep.
//
// Concurrency: anybody. Order: first in, first out in each queue.
// Blocks, allocates: as TaskQueue. Closed: as TaskQueue; a queue that is not there is closed too.
// Proof: docs/design/thread_pool.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/priority.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/mutex.hpp>

#include "late.hpp"
#include "task_queue.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class SideQueues {
 public:
  explicit SideQueues(std::size_t workers) : own_(workers) {}
  ~SideQueues() {
    for_each([](SmallTaskQueue* queue) { delete queue; });
  }
  SideQueues(const SideQueues&) = delete;
  SideQueues& operator=(const SideQueues&) = delete;

  // Null once closed. Throws std::bad_alloc.
  Task* reserve(Priority priority) {
    const std::size_t which = at(priority);
    return reserve_in(of_[which], std::uint32_t{1} << which);
  }
  Task* reserve_for(std::size_t worker) { return reserve_in(own_[worker].queue, 0); }

  // While somebody expects a worker it neither sleeps nor ends.
  void expect(std::size_t worker) noexcept {
    // order: relaxed, the lock under which the worker is then called orders it.
    own_[worker].expected.fetch_add(1, sync::order::relaxed);
  }
  void expect_no_more(std::size_t worker) noexcept {
    // order: release pairs with the acquire in has_tasks_for(): the ticket.
    own_[worker].expected.fetch_sub(1, sync::order::release);
  }

  // Null: not made.
  SmallTaskQueue* of_priority(Priority priority) const noexcept { return of_[at(priority)].made(); }
  SmallTaskQueue* own(std::size_t worker) const noexcept {
    return worker < own_.size() ? own_[worker].queue.made() : nullptr;
  }

  // Whether there is a task, or a place for one, that any worker may take.
  bool has_tasks() const noexcept {
    // order: seq_cst, as Late::look(), which it saves.
    const std::uint32_t made = made_.load(sync::order::seq_cst);
    for (std::size_t i = 0; made != 0 && i < of_.size(); ++i) {
      if ((made >> i & 1) != 0 && has_tickets(of_[i])) return true;
    }
    return false;
  }
  // ... or that this one has to, now or soon.
  bool has_tasks_for(std::size_t worker) const noexcept {
    if (worker >= own_.size()) return false;
    // order: acquire pairs with the release in expect_no_more().
    return own_[worker].expected.load(sync::order::acquire) != 0 || has_tickets(own_[worker].queue);
  }

  void close() noexcept {
    const sync::Lock lock(making_);
    // equivalent(swap): both under the lock, and a queue that is there is closed itself
    closed_.write() = true;
    for_each([](SmallTaskQueue* queue) {
      if (queue != nullptr) queue->close();
    });
  }

  std::uint64_t accepted() const noexcept {
    std::uint64_t sum = 0;
    for_each([&sum](const SmallTaskQueue* queue) {
      if (queue != nullptr) sum += queue->accepted();
    });
    return sum;
  }

 private:
  template <class>
  friend struct Books;

  using Queue = Late<SmallTaskQueue>;
  struct Own {
    Queue queue;
    sync::atomic<std::uint32_t> expected{0};
  };

  static constexpr std::size_t at(Priority priority) noexcept {
    return priority == Priority::low ? 2 : static_cast<std::size_t>(priority);
  }

  static bool has_tickets(const Queue& late) noexcept {
    const SmallTaskQueue* const queue = late.look();
    return queue != nullptr && queue->has_tickets();
  }

  Task* reserve_in(Queue& late, std::uint32_t bit) {
    SmallTaskQueue* const queue = late.get(making_, [&]() -> std::unique_ptr<SmallTaskQueue> {
      if (closed_.read()) return nullptr;
      auto made = std::make_unique<SmallTaskQueue>();
      made_.fetch_or(bit, sync::order::seq_cst);  // order: seq_cst, before what comes into it
      return made;
    });
    return queue != nullptr ? queue->reserve() : nullptr;
  }

  template <class F>
  void for_each(F&& visit) const noexcept {
    // equivalent(swap) all: sums, closes and ends of single queues, in any order
    for (const Queue& queue : of_) visit(queue.made());
    for (const Own& own : own_) visit(own.queue.made());
  }

  std::array<Queue, 3> of_;  // urgent, high, low
  sync::atomic<std::uint32_t> made_{0};  // which of them
  std::vector<Own> own_;  // by worker
  sync::Mutex making_;
  sync::cell<bool> closed_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
