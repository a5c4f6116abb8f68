// SPDX-License-Identifier: MIT
//
// The queues of a pool beside that of its mode: tasks of high and of low priority, and those that
// one worker has to run.
//
// Most pools have no such tasks. So each queue is made when somebody first asks for it, and until
// then costs a look at a null pointer where a worker is about to sleep.
//
// Concurrency: anybody. Order: first in, first out in each queue.
// Blocks, allocates: as TaskQueue. Closed: as TaskQueue; a queue that is not there is closed too.
// Proof: docs/design/thread_pool.md.
#pragma once

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
  Task* reserve(Priority priority) { return reserve_in(of(priority)); }
  Task* reserve_for(std::size_t worker) { return reserve_in(own_[worker].queue); }

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
  SmallTaskQueue* high() const noexcept { return high_.made(); }
  SmallTaskQueue* low() const noexcept { return low_.made(); }
  SmallTaskQueue* own(std::size_t worker) const noexcept {
    return worker < own_.size() ? own_[worker].queue.made() : nullptr;
  }

  // Whether there is a task, or a place for one, that any worker may take.
  bool has_tasks() const noexcept { return has_tickets(high_) || has_tickets(low_); }
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

  Queue& of(Priority priority) noexcept { return priority == Priority::high ? high_ : low_; }

  static bool has_tickets(const Queue& late) noexcept {
    const SmallTaskQueue* const queue = late.look();
    return queue != nullptr && queue->has_tickets();
  }

  Task* reserve_in(Queue& late) {
    SmallTaskQueue* const queue = late.get(
        making_, [this] { return closed_.read() ? nullptr : std::make_unique<SmallTaskQueue>(); });
    return queue != nullptr ? queue->reserve() : nullptr;
  }

  template <class F>
  void for_each(F&& visit) const noexcept {
    visit(high_.made());  // equivalent(swap): sums, closes and ends of single queues, in any order
    visit(low_.made());
    for (const Own& own : own_) visit(own.queue.made());
  }

  Queue high_;
  Queue low_;
  std::vector<Own> own_;  // by worker
  sync::Mutex making_;
  sync::cell<bool> closed_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
