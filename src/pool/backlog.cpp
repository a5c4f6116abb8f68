// SPDX-License-Identifier: MIT
//
// The modes of a pool, which queue a worker looks into first, the pause, and the close of all
// queues.
#include "backlog.hpp"

#include <handoff/core/misuse.hpp>
#include <handoff/pool/thread_pool_options.hpp>

#include "active_queues.hpp"
#include "task_queue.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

using sync::order;

namespace {

// How many turns of a worker pass until it looks into the queues before its own deques: or tasks
// that go on making tasks would keep the others out.
constexpr std::uint32_t kQueuesFirst = 64;

// One queue for all tasks from outside: all modes but `active`.
//   `local` (`stealing`, without a capacity): tasks are claimed in batches, and tasks made by tasks
//     wait in the deque of the worker that made them. So a divided problem is worked on depth
//     first, and a task never waits for one particular thread.
//   Else tasks are claimed one by one, so they begin in the order in which they were handed over,
//     and one that blocks holds up nobody. What a task makes by a TaskGroup or a loop stays with
//     its worker all the same.
// A worker that finds nothing steals from the others. That threads of `cached` come and go is
// WorkerThreads' business, by the same rules as waking and sleeping.
class OneQueue final : public TaskSource {
 public:
  OneQueue(Claimer& claimer, bool local) : claimer_(claimer), local_(local) {}

  Task* reserve() override { return queue_.reserve(); }
  void close() noexcept override { queue_.close(); }
  std::uint64_t accepted() const noexcept override { return queue_.accepted(); }
  bool has_tasks() const noexcept override { return queue_.has_tickets(); }
  bool keeps_local() const noexcept override { return local_; }

  Task* next(Worker& worker) noexcept override {
    Task* task = nullptr;
    if (local_ && ++worker.tick % kQueuesFirst == 0) {
      if ((task = claimer_.claim_one(queue_, worker)) != nullptr) return task;
    }
    if (worker.spawned.pop(task) == Status::ok) return task;
    if (local_ && worker.claimed.pop(task) == Status::ok) return task;
    task = local_ ? claimer_.claim_batch(queue_, worker) : claimer_.claim_one(queue_, worker);
    return task != nullptr ? task : claimer_.steal(worker);
  }

 private:
  Claimer& claimer_;
  const bool local_;
  TaskQueue queue_;
};

// The mode `active`: each worker has a public queue, which submitters fill, those with less to do
// first, and a private one; it empties the private one in batches and then swaps the two. Idle
// workers steal from the others, from their deques first, then from their queues, so a task behind
// a long one is not stuck. Tasks made by tasks stay with their worker, as in `stealing`.
class Active final : public TaskSource {
 public:
  Active(Claimer& claimer, std::size_t workers, bool bounded)
      : claimer_(claimer),
        bounded_(bounded),
        batch_(bounded ? 1 : Worker::batch_most),
        queues_(workers) {}

  Task* reserve() override { return queues_.reserve(); }
  void close() noexcept override { queues_.close(); }
  std::uint64_t accepted() const noexcept override { return queues_.accepted(); }
  bool has_tasks() const noexcept override { return queues_.has_tickets(); }
  // equivalent(negate): only speed: which queue a worker's own task goes to
  bool keeps_local() const noexcept override { return !bounded_; }

  Task* next(Worker& worker) noexcept override {
    Task* task = nullptr;
    if (++worker.tick % kQueuesFirst == 0 && (task = claim_own(worker, 1)) != nullptr) return task;
    if (worker.spawned.pop(task) == Status::ok) return task;
    if (worker.claimed.pop(task) == Status::ok) return task;
    if ((task = claim_own(worker, batch_)) != nullptr) return task;
    if ((task = claimer_.steal(worker)) != nullptr) return task;
    return rob(worker);
  }

 private:
  Task* claim_own(Worker& worker, std::size_t most) noexcept {
    // equivalent(return_early) all: rob() comes by its own queue, too: speed
    if (worker.index >= queues_.size()) return nullptr;  // a guest
    const auto take = [&mine = queues_.of(worker.index)](std::size_t count, auto&& into) noexcept {
      return mine.claim(count, into);
    };
    return claimer_.claim_by(take, worker, most);
  }

  Task* rob(Worker& thief) noexcept {
    std::size_t index = thief.index;
    // equivalent(bound): one queue is looked at twice
    for (std::size_t tried = 0; tried < queues_.size(); ++tried) {
      if (++index >= queues_.size()) index = 0;
      const auto take = [&others = queues_.of(index)](std::size_t count, auto&& into) noexcept {
        return others.rob(count, into);
      };
      if (Task* const task = claimer_.claim_by(take, thief, batch_)) return task;
    }
    return nullptr;
  }

  Claimer& claimer_;
  const bool bounded_;
  const std::size_t batch_;
  ActiveQueues queues_;
};

// `bounded`: tasks leave the queue one by one, when they begin.
std::unique_ptr<TaskSource> make_source(PoolMode mode, bool bounded, Claimer& claimer,
                                        std::size_t workers) {
  switch (mode) {
    case PoolMode::active: return std::make_unique<Active>(claimer, workers, bounded);
    case PoolMode::stealing: return std::make_unique<OneQueue>(claimer, !bounded);
    case PoolMode::fixed:
    case PoolMode::cached: return std::make_unique<OneQueue>(claimer, false);
  }
  misuse("ThreadPool: a mode that there is not was asked for");
}

}  // namespace

Backlog::Backlog(const ThreadPoolOptions& options, Crew& crew, WaitingRoom& room,
                 WorkerThreads& threads, const UnqueuedTasks& unqueued)
    : crew_(crew),
      threads_(threads),
      unqueued_(unqueued),
      claimer_(crew, room, threads, notes_),
      source_(make_source(options.mode, room.is_bounded(), claimer_, crew.width())),
      notes_(0),
      starvation_limit_(options.starvation_limit) {}

Backlog::~Backlog() { delete side_queues_.made(); }

SideQueues* Backlog::side_queues() {
  return side_queues_.get(making_, [this]() -> std::unique_ptr<SideQueues> {
    if (unqueued_.closed()) return nullptr;  // close() may have been here
    auto queues = std::make_unique<SideQueues>(crew_.width());
    // order: relaxed, a worker that does not see it yet sees it after its next look for tasks.
    notes_.fetch_or(kSideQueues, order::relaxed);
    return queues;
  });
}

// After the close, which a thread that would make the side queues sees.
void Backlog::close() noexcept {
  SideQueues* queues = nullptr;
  {
    const sync::Lock lock(making_);
    queues = side_queues_.made();
  }
  source_->close();
  if (queues != nullptr) queues->close();
}

std::uint64_t Backlog::accepted() const noexcept {
  const SideQueues* const queues = side_queues_.look();
  return source_->accepted() + (queues != nullptr ? queues->accepted() : 0);
}

Task* Backlog::take_noted(Worker& worker, std::uint32_t notes) noexcept {
  if ((notes & kPaused) != 0) return nullptr;
  const SideQueues* const queues = side_queues_.look();
  if (queues == nullptr) return source_->next(worker);
  return worker.turns.next(starvation_limit_, [&](std::size_t of) noexcept {
    return take_of(static_cast<TaskClass>(of), worker, *queues);
  });
}

Task* Backlog::take_of(TaskClass which, Worker& worker, const SideQueues& queues) noexcept {
  const auto claim = [&](Priority priority) noexcept {
    SmallTaskQueue* const queue = queues.of_priority(priority);
    return queue != nullptr ? claimer_.claim_one(*queue, worker) : nullptr;
  };
  switch (which) {
    case TaskClass::urgent: return claim(Priority::urgent);
    case TaskClass::high: return claim(Priority::high);
    case TaskClass::for_worker: {
      SmallTaskQueue* const own = queues.own(worker.index);
      return own != nullptr ? claimer_.claim_unbounded(*own, worker) : nullptr;
    }
    case TaskClass::normal: return source_->next(worker);
    case TaskClass::low: return claim(Priority::low);
  }
  return nullptr;
}

bool Backlog::queues_have_tasks() const noexcept {
  if (source_->has_tasks()) return true;
  const SideQueues* const queues = side_queues_.look();
  return queues != nullptr && queues->has_tasks();
}

bool Backlog::has_tasks_for(const Worker& worker) const noexcept {
  const SideQueues* const queues = side_queues_.look();
  return queues != nullptr && queues->has_tasks_for(worker.index);
}

// A thread that pauses pretends to search: so nobody is woken meanwhile.
void Backlog::pause() noexcept {
  const sync::Lock lock(pausing_);
  if (never_paused_.read() || is_paused()) return;
  // equivalent(swap): only speed: a worker that is woken between the two finds nothing it may take
  threads_.sleepers().begin_search();
  notes_.fetch_or(kPaused, order::relaxed);  // order: relaxed, a task from before may begin yet
}

// Ends the search as if it had found work.
void Backlog::resume() noexcept {
  const sync::Lock lock(pausing_);
  if (!is_paused()) return;
  // order: relaxed, a fence comes before the look
  // equivalent(swap): the look for tasks comes after both
  notes_.fetch_and(~std::uint32_t{kPaused}, order::relaxed);
  (void)threads_.sleepers().end_search();
  if (threads_.is_somebody_wanted()) threads_.wake_one();
  for (std::size_t i = 0; i < crew_.width(); ++i) {
    Worker& worker = crew_.worker(i);
    if (has_tasks_for(worker)) threads_.sleepers().wake(worker.place);
  }
}

void Backlog::resume_for_good() noexcept {
  {
    const sync::Lock lock(pausing_);
    never_paused_.write() = true;
  }
  resume();
}

}}}  // namespace handoff::HANDOFF_ABI::detail
