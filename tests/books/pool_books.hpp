// SPDX-License-Identifier: MIT
//
// The books of pool/.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <handoff/pool/detail/engine.hpp>
#include <handoff/pool/detail/sleepers.hpp>
#include <handoff/pool/thread_pool.hpp>

#include "books/books.hpp"
#include "books/queue_books.hpp"
#include "pool/engine_parts.hpp"
#include "pool/side_queues.hpp"
#include "pool/task_queue.hpp"
#include "pool/task_store.hpp"
#include "pool/timers.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Each segment is in the chain or spare, once; only the chain's last one has tickets left; a slot
// is full if, and only if, its ticket was given out and nobody has claimed it. All that was
// reserved has been published.
template <std::size_t kSegmentTasks>
struct Books<BasicTaskQueue<kSegmentTasks>> {
  using Queue = BasicTaskQueue<kSegmentTasks>;
  using Segment = typename Queue::Segment;

  static std::string fault(const Queue& queue) {
    std::size_t segments = 0;
    for (const Segment* each = queue.segments_.get(); each != nullptr;
         each = each->made_before.get()) {
      ++segments;
    }
    const Segment* const last = test::now(queue.last_);
    std::size_t found = 0;
    std::uint64_t waiting = 0;
    std::size_t first_full = queue.head_index_.read();
    if (first_full > kSegmentTasks) return "TaskQueue: the head is behind its segment";
    for (const Segment* each = queue.head_.read(); each != nullptr; each = test::now(each->next)) {
      if (++found > segments) return "TaskQueue: a segment is in the chain twice";
      const std::size_t end = each == last ? in_last(queue) : kSegmentTasks;
      if (each != last && has_tickets(*each)) return "TaskQueue: tickets before the last segment";
      if (first_full > end) return "TaskQueue: the head is behind the last ticket";
      if (!holds(*each, first_full, end)) return "TaskQueue: slots that are full do not match";
      waiting += end - first_full;
      first_full = 0;
      if (each == last && test::now(each->next) != nullptr) {
        return "TaskQueue: segments behind the last one";
      }
      if (each != last && test::now(each->next) == nullptr) {
        return "TaskQueue: the head does not lead to the last segment";
      }
    }
    for (const Segment* each = queue.spares_; each != nullptr; each = each->next_spare) {
      if (++found > segments) return "TaskQueue: a segment is spare twice, or in the chain too";
      if (has_tickets(*each)) return "TaskQueue: a spare segment has tickets";
      if (!holds(*each, 0, 0)) return "TaskQueue: a spare segment holds a task";
    }
    if (found != segments) return "TaskQueue: a segment is lost";
    if (queue.accepted() < waiting) return "TaskQueue: more tasks than were accepted";
    return queue.in_full_segments_.read() % kSegmentTasks == 0 ? next_fault(queue)
                                                               : "TaskQueue: a segment's part";
  }

 private:
  static std::size_t in_last(const Queue& queue) {
    const std::uint64_t tickets =
        queue.closed_.read() ? queue.in_last_.read() : test::now(test::now(queue.last_)->tickets);
    return static_cast<std::size_t>(std::min<std::uint64_t>(tickets, kSegmentTasks));
  }
  static bool has_tickets(const Segment& segment) {
    return test::now(segment.tickets) < kSegmentTasks;
  }
  // Tasks from `first` to before `end`, and nowhere else.
  static bool holds(const Segment& segment, std::size_t first, std::size_t end) {
    for (std::size_t i = 0; i < kSegmentTasks; ++i) {
      const bool full = test::now(segment.tasks[i].kind) != nullptr;
      if (full != (i >= first && i < end)) return false;
    }
    return true;
  }
  static std::string next_fault(const Queue& queue) {
    const std::size_t index = queue.head_index_.read();
    const Task* const next = index < kSegmentTasks ? &queue.head_.read()->tasks[index] : nullptr;
    return test::now(queue.next_task_) == next ? "" : "TaskQueue: who only looks looks elsewhere";
  }
};

// Where the nodes of a store are: a batch is whole, and no node is in two places.
class Nodes {
 public:
  // From the first one on, by spare.next.
  void add_row(Task* first, std::size_t count) {
    for (std::size_t i = 0; i < count && first != nullptr; ++i, first = first->spare.next) {
      found_.push_back(first);
    }
    whole_ = whole_ && first == nullptr;
  }
  void add(Task* node) { found_.push_back(node); }

  std::size_t count() const noexcept { return found_.size(); }
  bool whole() const noexcept { return whole_; }
  bool has_twice() {
    std::sort(found_.begin(), found_.end());
    return std::adjacent_find(found_.begin(), found_.end()) != found_.end();
  }

 private:
  std::vector<Task*> found_;
  bool whole_ = true;
};

template <>
struct Books<TaskStore> {
  // Adds what lies in the store. How many nodes it has made.
  static std::size_t add(Nodes& nodes, const TaskStore& store) {
    std::size_t made = 0;
    for (const auto* each = store.chunks_.read().get(); each != nullptr; each = each->next.get()) {
      made += TaskStore::batch;
    }
    std::size_t in_batches = 0;
    for (Task* batch = store.batches_.read(); batch != nullptr && in_batches <= made;
         batch = batch->spare.next_batch) {
      nodes.add_row(batch, TaskStore::batch);
      in_batches += TaskStore::batch;
    }
    return made;
  }
  // Adds what lies in a cache.
  static void add(Nodes& nodes, const NodeCache& cache) {
    nodes.add_row(cache.first_, cache.count_);
  }

  // All nodes, those of the store and as many more, are in the store or in `nodes`, once.
  static std::string fault(const TaskStore& store, Nodes& nodes, std::size_t more = 0) {
    const std::size_t made = more + add(nodes, store);
    if (!nodes.whole()) return "TaskStore: a row of nodes is not as long as it was counted";
    if (nodes.has_twice()) return "TaskStore: a node is in two places";
    if (nodes.count() < made) return "TaskStore: a node is lost";
    if (nodes.count() > made) return "TaskStore: more nodes than were made";
    return {};
  }
  static std::string fault(const TaskStore& store) {
    Nodes nodes;
    return fault(store, nodes);
  }
};

// Nobody expects a worker, and each queue is whole.
template <>
struct Books<SideQueues> {
  static std::string fault(const SideQueues& queues) {
    for (const auto& own : queues.own_) {
      if (test::now(own.expected) != 0) return "SideQueues: a worker is expected for ever";
    }
    std::string fault;
    queues.for_each([&fault](const SmallTaskQueue* queue) {
      if (queue != nullptr && fault.empty()) fault = Books<SmallTaskQueue>::fault(*queue);
    });
    return fault;
  }
};

// The lists and the counts agree; so many search.
template <>
struct Books<Sleepers> {
  static std::string fault(const Sleepers& sleepers, std::uint64_t searching = 0) {
    using Listed = Sleepers::Listed;
    const std::uint64_t state = test::now(sleepers.state_);
    const std::uint64_t counted = Sleepers::sleeping(state);
    std::uint64_t listed = 0;
    for (const auto& [first, as] : {std::pair(&sleepers.top_, Listed::asleep),
                                    std::pair(&sleepers.absent_, Listed::absent)}) {
      for (const Sleepers::Place* each = first->read(); each != nullptr;
           each = each->below_.read()) {
        if (++listed > counted) return "Sleepers: more in the lists than were counted";
        if (each->listed_.read() != as) return "Sleepers: somebody is in the wrong list";
        if (each->bed_.was_waiting() > 1) return "Sleepers: two in a bed";
      }
    }
    if (listed != counted) return "Sleepers: somebody was counted and is in no list";
    if (Sleepers::searching(state) != searching) return "Sleepers: the count of those who search";
    return {};
  }
};

// A heap whose entries know their places, with as much room as there are tasks that are not over.
// The caller says how many of those have left the heap.
template <>
struct Books<Timers> {
  static std::string fault(Timers& timers, std::size_t outside = 0) {
    if (std::string fault = heap_fault(timers); !fault.empty()) return fault;
    const sync::Lock lock(timers.mutex_);
    const auto& book = timers.book_.read();
    if (book.coming != 0) return "Timers: somebody is coming for ever";
    if (book.tasks != book.heap.size() + outside) {
      return "Timers: the count of those that are not over";
    }
    if (!book.closed && book.heap.capacity() < book.tasks) return "Timers: no room to wait again";
    return {};
  }

  // What holds at any time: their own thread may be at work.
  static std::string heap_fault(Timers& timers) {
    const sync::Lock lock(timers.mutex_);
    const auto& book = timers.book_.read();
    const auto& heap = book.heap;
    std::uint64_t waiting = 0;
    for (std::size_t i = 0; i < heap.size(); ++i) {
      const TimedTask::Times& times = heap[i]->times_.read();
      if (times.place != i) return "Timers: a task does not know its place in the heap";
      if (times.state != TimedTask::State::waiting) return "Timers: one in the heap does not wait";
      if (times.number > book.numbers) return "Timers: a number that was never given";
      if (times.is_counted) ++waiting;
      if (i == 0) continue;
      if (comes_before(*heap[i], *heap[(i - 1) / 2])) return "Timers: the heap is out of order";
    }
    return book.figures.waiting == waiting ? "" : "Timers: the count of those that wait";
  }

 private:
  static bool comes_before(const TimedTask& a, const TimedTask& b) {
    const TimedTask::Times& first = a.times_.read();
    const TimedTask::Times& second = b.times_.read();
    return first.when != second.when ? first.when < second.when : first.number < second.number;
  }
};

// Of a pool that was closed: all is counted and given back, and nobody is left anywhere.
template <>
struct Books<Engine> {
  static std::string fault(const Engine& engine) {
    if (!engine.parts_->threads.is_over()) return "Engine: not closed";
    if (!engine.parts_->completion.is_idle()) {
      return "Engine: a task is not finished, or was not counted";
    }
    if (engine.tally().pending != 0) return "Engine: the tally says that a task is pending";
    if (engine.parts_->backlog.source().has_tasks()) return "Engine: the queue holds a task";
    if (test::now(engine.parts_->completion.visitors_) != 0) return "Engine: a visitor never left";
    if (test::now(engine.parts_->threads.stand_ins_) != 0) return "Engine: a stand-in never left";
    const std::int64_t capacity = engine.parts_->room.capacity_;
    if (capacity != 0 && test::now(engine.parts_->room.places_) != capacity) {
      return "Engine: a place is lost";
    }
    if (test::now(engine.parts_->threads.present_) > engine.parts_->crew.width()) {
      return "Engine: more than there are";
    }
    if (test::now(engine.parts_->threads.present_) > test::now(engine.parts_->threads.started_)) {
      return "Engine: a worker counts as present whose thread never started";
    }
    if (engine.parts_->completion.idle_.was_waiting() != 0)
      return "Engine: somebody waits for its end";
    if (engine.parts_->room.freed_.was_waiting() != 0) return "Engine: somebody waits for room";
    std::string fault = Books<Sleepers>::fault(engine.parts_->threads.sleepers());
    if (fault.empty()) fault = crew_fault(engine.parts_->crew);
    const SideQueues* const queues = engine.parts_->backlog.side_queues_.made();
    if (queues != nullptr && fault.empty()) fault = Books<SideQueues>::fault(*queues);
    return fault;
  }

 private:
  static std::string crew_fault(const Crew& crew) {
    if (test::now(crew.slots_taken_) != 0) return "Engine: a slot is counted as taken";
    Nodes nodes;
    std::size_t workers = 0;
    for (std::size_t i = 0; i < crew.size(); ++i) {
      const Worker* const worker = crew.at(i);
      if (worker == nullptr) continue;
      ++workers;
      if (std::string fault = worker_fault(*worker); !fault.empty()) return fault;
      Books<TaskStore>::add(nodes, worker->nodes);
    }
    return Books<TaskStore>::fault(crew.store_, nodes, workers);
  }

  static std::string worker_fault(const Worker& worker) {
    if (worker.depth != 0) return "Engine: a worker is in a task";
    if (worker.sitting != 0 || test::now(worker.taken)) return "Engine: a slot is taken";
    if (worker.spare) return "Engine: a slot is a stand-in's";
    if (worker.outer != nullptr) return "Engine: a slot knows its last guest";
    if (worker.blocking != 0) return "Engine: a worker blocks";
    if (worker.joined.was_waiting() != 0) return "Engine: a worker waits for its tasks";
    for (const auto* const deque : {&worker.spawned, &worker.claimed}) {
      if (!deque->empty()) return "Engine: a deque holds a task";
      if (std::string fault = Books<StealDeque<Task*>>::fault(*deque); !fault.empty()) {
        return fault;
      }
    }
    return {};
  }
};

}}}  // namespace handoff::HANDOFF_ABI::detail

namespace handoff::test {

// A pool that is closed and audited at the end of the scope. What its tasks wait for must be there
// until then.
class AuditedPool : public ThreadPool {
 public:
  using ThreadPool::ThreadPool;
  ~AuditedPool() {
    (void)close();
    audit(detail::engine_of(*this));
  }
};

}  // namespace handoff::test
