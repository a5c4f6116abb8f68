// SPDX-License-Identifier: MIT
//
// The way into a pool for threads that are not its workers: an unbounded queue of tasks, first in,
// first out.
//
// A chain of segments. A producer takes a ticket from the last segment with one fetch_add, makes
// its task in that slot, and publishes it by the slot's kind; so a submit is one read-modify-write
// and a cache line. Consumers move tasks out in batches, one consumer at a time under a mutex,
// which is paid for once a batch. A segment whose tasks are all gone is used again, the last freed
// first.
//
// Invariants
//   TQ-1  At most one segment has tickets left, the last of the chain: a segment is linked, under
//         producers_, only when the one before has none left; a segment at rest has none.
//   TQ-2  Segments are freed with the queue only: a producer that holds an old pointer finds no
//         ticket there, or finds a ticket of the last segment, which is as good.
//   TQ-3  head_ and below are changed under consumers_, the chain and the spares under producers_.
//
// Concurrency: reserve(), close(), accepted() by anybody; claim(), drop_all() by
//   anybody, one after another. Order: each producer's tasks come out in its order.
// Blocks: a producer for another one that adds a segment; claim() never, it gives up.
// Allocates: reserve(), a segment where no spare is left; std::bad_alloc leaves all as it was.
// Proof: docs/design/thread_pool.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/pause.hpp>
#include <handoff/sync/internal/prefetch.hpp>
#include <handoff/sync/mutex.hpp>

#include "../sync/internal/seen_sanitizer.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <std::size_t kSegmentTasks>
class BasicTaskQueue {
 public:
  static constexpr std::size_t segment_tasks = kSegmentTasks;

  BasicTaskQueue()
      : head_(add_segment()), last_(head_.read()), next_task_(head_.read()->tasks.data()) {
    // equivalent(swap): nobody sees the queue before it is made
    // order: relaxed, nobody else is here yet.
    head_.read()->tickets.store(0, sync::order::relaxed);
  }
  ~BasicTaskQueue() {
    // equivalent(negate): each segment ends the next one by itself, only deeper on the stack
    // equivalent(return_early) all: each segment ends the next one by itself, only deeper on the
    // stack
    while (segments_) segments_ = std::move(segments_->made_before);
  }
  BasicTaskQueue(const BasicTaskQueue&) = delete;
  BasicTaskQueue& operator=(const BasicTaskQueue&) = delete;

  // A place for a task, which the caller makes and publishes at once; null once closed. From here
  // on the task is accepted. Throws std::bad_alloc.
  Task* reserve() {
    for (;;) {
      // order: acquire pairs with the release in append(): the segment is made.
      Segment& segment = *last_.load(sync::order::acquire);
      // order: seq_cst. As an acquire it pairs with the release in append(): the slots are empty
      // again. And it comes before the look whether anybody must be woken, against has_tickets() in
      // a worker that first says that it no longer looks for work.
      const std::uint64_t ticket = segment.tickets.fetch_add(1, sync::order::seq_cst);
      if (ticket < segment_tasks) [[likely]]
        return &segment.tasks[ticket];
      if ((ticket & kClosed) != 0) return nullptr;
      append(segment);
    }
  }

  // No reserve() that begins after this succeeds.
  void close() noexcept {
    const sync::Lock lock(producers_);
    if (closed_.read()) return;
    closed_.write() = true;
    // order: relaxed, one word has one history; the counts are read under the lock.
    const std::uint64_t before = last()->tickets.fetch_or(kClosed, sync::order::relaxed);
    in_last_.write() = detail::min<std::uint64_t>(before, segment_tasks);
  }

  // How many tasks were ever accepted.
  std::uint64_t accepted() const noexcept {
    const sync::Lock lock(producers_);
    if (closed_.read()) return in_full_segments_.read() + in_last_.read();
    return in_full_segments_.read() + detail::min<std::uint64_t>(given_out(*last()), segment_tasks);
  }

  // Moves out tasks in a row, oldest first, `most` at most: into(task) for each, which gets the
  // node to move to, or null to stop. None if another consumer is at it.
  template <class NodeSource>
  std::size_t claim(std::size_t most, NodeSource&& into) noexcept {
    if (looks_empty() || !lock_consumers()) return 0;
    std::size_t count = 0;
    for (; count < most; ++count) {
      Task* const task = head_task();
      if (task == nullptr) break;
      Task* const node = into();
      if (node == nullptr) break;
      // The slots come one after the other from the cache of the CPU that filled them.
      sync::prefetch_to_read(task + kAhead);
      task->move_to(*node);
      // order: relaxed, the next producer of this slot comes by the tickets of its segment, which
      // are given out anew behind producers_.
      task->kind.store(nullptr, sync::order::relaxed);
      ++head_index_.write();
    }
    if (count != 0) show_next();
    consumers_.unlock();
    return count;
  }

  // True if the next claim() would surely find nothing; a look, for a worker that waits.
  bool looks_empty() const noexcept {
    // order: acquire pairs with the release in pop_head(): the slot is the one that is next.
    const Task* const next = next_task_.load(sync::order::acquire);
    // order: relaxed, a look; claim() acquires.
    return next != nullptr && next->kind.load(sync::order::relaxed) == nullptr;
  }

  // Whether there is a task, or a ticket for one.
  bool has_tickets() const noexcept {
    const sync::Lock lock(consumers_);
    const Segment* segment = head_.read();
    std::size_t index = head_index_.read();
    if (index == segment_tasks) {
      // order: seq_cst, with the store in append() and the fetch_add in reserve(), see there.
      segment = segment->next.load(sync::order::seq_cst);
      index = 0;
      if (segment == nullptr) return false;
    }
    // order: seq_cst, see reserve().
    const std::uint64_t tickets = segment->tickets.load(sync::order::seq_cst) & ~kClosed;
    return detail::min<std::uint64_t>(tickets, segment_tasks) > index && !is_over(*segment, index);
  }

 private:
  template <class>
  friend struct Books;

  static constexpr std::uint64_t kClosed = std::uint64_t{1} << 63;

  struct Segment {
    alignas(sync::destructive_span) sync::atomic<std::uint64_t> tickets{segment_tasks};
    sync::atomic<Segment*> next{nullptr};
    alignas(sync::destructive_span) std::array<Task, segment_tasks> tasks;
    std::unique_ptr<Segment> made_before;  // all segments there are
    Segment* next_spare = nullptr;
  };

  // Under producers_.
  Segment* last() const noexcept {
    return last_.load(sync::order::relaxed);  // order: relaxed, written under the lock
  }
  static std::uint64_t given_out(const Segment& segment) noexcept {
    // order: relaxed, it becomes less under the lock only; and a thread that knows of a task, as by
    // having seen it finished, reads no number without it.
    return segment.tickets.load(sync::order::relaxed);
  }
  // From here on there are tickets (TQ-1).
  static void open(Segment& segment) noexcept {
    // order: release pairs with the fetch_add in reserve(): the slots are empty.
    segment.tickets.store(0, sync::order::release);
  }

  // After close() tickets are still counted up by submitters that are refused.
  bool is_over(const Segment& segment, std::size_t index) const noexcept {
    const sync::Lock lock(producers_);
    return closed_.read() && last() == &segment && index >= in_last_.read();
  }

  Segment* add_segment() {
    const sync::MadeForAll unseen;
    auto made = std::make_unique<Segment>();
    made->made_before = std::move(segments_);
    segments_ = std::move(made);
    return segments_.get();
  }

  // `full` had no tickets left. By now it may be the last one again, with new tickets.
  void append(Segment& full) {
    const sync::Lock lock(producers_);
    if (last() != &full || closed_.read()) return;
    // equivalent(bound): a thread that asks again has taken another ticket by then
    if (given_out(full) < segment_tasks) return;
    Segment* fresh = spares_;
    if (fresh != nullptr) {
      spares_ = fresh->next_spare;
    } else {
      fresh = add_segment();
    }
    in_full_segments_.write() += segment_tasks;
    fresh->next.store(nullptr, sync::order::relaxed);  // order: relaxed, published below
    // order: seq_cst, see has_tickets(); as a release it publishes the empty slots to the consumer.
    full.next.store(fresh, sync::order::seq_cst);
    open(*fresh);
    // order: release pairs with the load in reserve().
    last_.store(fresh, sync::order::release);
  }

  // The oldest task that is there; null if none. Under consumers_.
  Task* head_task() noexcept {
    if (head_index_.read() == segment_tasks && !next_segment()) return nullptr;
    Task& task = head_.read()->tasks[head_index_.read()];
    // order: acquire pairs with the release in Task::publish().
    return task.kind.load(sync::order::acquire) != nullptr ? &task : nullptr;
  }

  bool next_segment() noexcept {
    Segment* const done = head_.read();
    // order: acquire pairs with the store in append().
    Segment* const next = done->next.load(sync::order::acquire);
    if (next == nullptr) return false;
    head_.write() = next;
    head_index_.write() = 0;
    show_next();
    const sync::Lock lock(producers_);
    done->next_spare = spares_;
    spares_ = done;
    return true;
  }

  // Tells looks_empty() where to look.
  void show_next() noexcept {
    const std::size_t index = head_index_.read();
    Task* const next = index < segment_tasks ? &head_.read()->tasks[index] : nullptr;
    // order: release pairs with the acquire in looks_empty().
    next_task_.store(next, sync::order::release);
  }

  // A consumer holds the lock for less than a thief would need, unless it lost its CPU.
  bool lock_consumers() noexcept {
    // equivalent(bound): one try more or less before it waits for the lock: speed
    for (int tries = 0; tries < kLockTries; ++tries) {
      if (consumers_.try_lock()) return true;
      sync::pause();
    }
    return false;
  }

  static constexpr int kLockTries = 16;
  static constexpr std::size_t kAhead = 8;

  // The producers' side.
  std::unique_ptr<Segment> segments_;
  Segment* spares_ = nullptr;
  mutable sync::Mutex producers_;
  sync::cell<bool> closed_;
  sync::cell<std::uint64_t> in_full_segments_;  // accepted in the segments before last_
  sync::cell<std::uint64_t> in_last_;  // and in last_, once closed

  // The consumers' side.
  alignas(sync::destructive_span) mutable sync::Mutex consumers_;
  sync::cell<Segment*> head_;
  sync::cell<std::size_t> head_index_;  // of the next task in head_

  alignas(sync::destructive_span) sync::atomic<Segment*> last_;
  // The next task to come out, or null where its segment is not there yet.
  alignas(sync::destructive_span) sync::atomic<Task*> next_task_;
};

#if defined(HANDOFF_EXPLORE)
using TaskQueue = BasicTaskQueue<2>;  // a model has room for few atomics
using SmallTaskQueue = TaskQueue;
#else
using TaskQueue = BasicTaskQueue<1024>;
using SmallTaskQueue = BasicTaskQueue<64>;  // where a pool has many
#endif

}}}  // namespace handoff::HANDOFF_ABI::detail
