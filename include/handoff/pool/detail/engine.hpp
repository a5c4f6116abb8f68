// SPDX-License-Identifier: MIT
//
// The inside of a ThreadPool: workers, what wakes them, what counts them, how they end. Not for
// users. Which task a worker takes next is its TaskSource's decision (one a mode).
//
// Invariants
//   TP-1  Every accepted task is counted once, by the worker that finished it, after its closure
//         was destroyed and before anybody who waits for it hears.
//   TP-2  A worker sleeps only if, after it was known to sleep, there was no task it could have
//         taken.
//   TP-3  A task that waits for tasks it made can always run those that have not begun: they are in
//         its worker's deque, above the height at which it began.
//
// Proof: docs/design/thread_pool.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/closing.hpp>
#include <handoff/core/detail/books.hpp>
#include <handoff/core/detail/future_host.hpp>
#include <handoff/core/detail/outcome.hpp>
#include <handoff/core/detail/workplace.hpp>
#include <handoff/core/priority.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/pool/detail/late.hpp>
#include <handoff/pool/detail/side_queues.hpp>
#include <handoff/pool/detail/sleepers.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/pool/detail/task_queue.hpp>
#include <handoff/pool/detail/timers.hpp>
#include <handoff/pool/detail/unqueued_tasks.hpp>
#include <handoff/pool/detail/worker.hpp>
#include <handoff/pool/statistics.hpp>
#include <handoff/pool/thread_pool_options.hpp>
#include <handoff/sync/detail/atomic.hpp>
#include <handoff/sync/detail/cell.hpp>
#include <handoff/sync/detail/fence.hpp>
#include <handoff/sync/detail/stack.hpp>
#include <handoff/sync/detail/thread.hpp>
#include <handoff/sync/stop_token.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

class ThreadPool;

namespace detail {

class Engine;
Engine& engine_of(ThreadPool& pool) noexcept;

// Everybody who may hold tasks of a pool.
class Crew {
 public:
#if defined(HANDOFF_EXPLORE)
  static constexpr std::size_t seats = 1;  // a model has room for few atomics
#else
  static constexpr std::size_t seats = 64;
#endif

  Crew(Engine& engine, std::size_t width);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  std::size_t width() const noexcept { return workers_.size(); }
  Worker& worker(std::size_t index) noexcept { return *workers_[index]; }

  // Workers and seats; at() is null for a seat that nobody ever had.
  std::size_t size() const noexcept { return workers_.size() + seats; }
  std::size_t seats_taken() const noexcept {
    return seats_taken_.load(sync::order::relaxed);  // order: relaxed, a number
  }
  Worker* at(std::size_t index) const noexcept {
    if (index < workers_.size()) return workers_[index].get();
    // order: acquire pairs with the release in take_seat(): the seat is made.
    return seats_[index - workers_.size()].worker.load(sync::order::acquire);
  }

  // Of size(), those who may hold tasks now.
  std::size_t in_use() const noexcept {
    // order: relaxed. at() acquires; who knows of a seat reads no smaller number.
    return workers_.size() + seats_made_.load(sync::order::relaxed);
  }

  // Null if all are taken or the memory is.
  Worker* take_seat() noexcept;
  void leave_seat(Worker& seat) noexcept;
  void end_spare(Worker& seat) noexcept;
  bool somebody_sits() const noexcept;

 private:
  template <class>
  friend struct Books;

  struct Seat {
    sync::atomic<Worker*> worker{nullptr};
  };

  Engine& engine_;
  TaskStore store_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::array<Seat, seats> seats_;
  sync::atomic<std::size_t> seats_made_;
  sync::atomic<std::size_t> seats_taken_;
  sync::Mutex making_;
};

// What makes a mode: where tasks wait, and which one a worker takes next.
class TaskSource {
 public:
  virtual ~TaskSource() = default;

  // A place for a task; null once closed. Throws std::bad_alloc.
  virtual Task* reserve() = 0;
  virtual void close() noexcept = 0;
  virtual std::uint64_t accepted() const noexcept = 0;

  // The next task for a worker that runs none; null if it found none.
  virtual Task* next(Worker& worker) noexcept = 0;

  // Whether there is a task, or a place for one that will be there at once.
  virtual bool has_tasks() const noexcept = 0;

  // Whether what a worker's tasks hand over goes to the worker's own deque.
  virtual bool keeps_local() const noexcept = 0;
};

// One file each in src/pool. `bounded`: tasks leave the queue one by one, when they begin.
std::unique_ptr<TaskSource> make_stealing(Crew& crew, bool bounded);
std::unique_ptr<TaskSource> make_active(Crew& crew, bool bounded);
std::unique_ptr<TaskSource> make_fixed(Crew& crew);
std::unique_ptr<TaskSource> make_cached(Crew& crew);

// Where a task goes: made by reserve(), used up by publish().
struct Placement {
  Task* task = nullptr;  // null: refused, see status
  Worker* worker = nullptr;  // whose deque; null: the pool's queue
  Status status = Status::ok;
  bool run_here = false;  // refused, but the caller is to run it
  bool told = false;  // who is to run it knows already
};

class Engine final : public FutureHost {
 public:
  explicit Engine(const ThreadPoolOptions& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  std::size_t width() const noexcept { return width_; }
  std::size_t indices() const noexcept { return crew_.size(); }
  std::size_t seats_taken() const noexcept { return crew_.seats_taken(); }

  // What the calling thread is in this pool; null: nothing.
  Worker* worker_here() const noexcept {
    Workplace* place = workplace();
    while (place != nullptr && &place->host != this) place = place->outer;
    return static_cast<Worker*>(place);
  }

  // Handing over: reserve, make the closure in `task`, publish.
  Placement reserve() {
    Worker* const worker = worker_here();
    if (worker != nullptr && worker->depth != 0 && keeps_local_) return reserve_local(*worker);
    return capacity_ == 0 ? reserve_outside() : reserve_bounded(worker);
  }
  Placement reserve(Priority priority) {
    return priority == Priority::normal ? reserve() : reserve_aside(priority);
  }
  // For this worker alone. Throws std::system_error if there is no thread to be had for it.
  Placement reserve_for(std::size_t index);
  Placement reserve_in(Worker& worker) {  // for a group: never refused
    worker.spawned.reserve();
    Task* const task = worker.nodes.take();
    task->group.write() = nullptr;
    return {.task = task, .worker = &worker};
  }
  void publish(const Placement& placement, const TaskKind& kind) noexcept {
    Worker* const worker = placement.worker;
    if (worker == nullptr) {
      TaskQueue::publish(*placement.task, kind);
    } else {
      placement.task->kind.store(&kind, sync::order::relaxed);  // order: relaxed, pushed below
      worker->accepted.add();
      worker->spawned.push(placement.task);
      return call_for_pushed();
    }
    if (sleepers_.wanted()) [[unlikely]] {
      if (!placement.told) wake_one();
    }
  }

  // Tasks have come into the deque of a worker, this thread: somebody is called for them, unless
  // somebody searches, as this one may do itself.
  void call_for_pushed() noexcept {
    // order: light half; partner is the heavy half before a look for work in src/pool/engine.cpp:
    // either that look finds the tasks, or the line below finds the worker asleep.
    sync::asymmetric_fence_light();
    if (sleepers_.wanted()) [[unlikely]]
      wake_one();
  }

  // A task that found no place, under OnFull::run_here.
  void run_refused(Task& task) noexcept;

  // `count` tasks have left the queue: there is room for others.
  void free_places(std::size_t count) noexcept {
    if (capacity_ != 0) [[unlikely]]
      give_places(count);
  }

  void tell_cycle(const WaitCycle& cycle) const { options_.on_wait_cycle(cycle); }

  // Runs a task of this pool on a thread that works for it.
  void run(Worker& worker, Task& task) noexcept;

  // Calls function() as the worker that the calling thread is: on the stack of a new thread if this
  // one's is short. If there is no thread to be had it goes on where it is.
  template <class F>
  void with_room(F&& function) noexcept {
    if (!sync::stack_is_short() ||
        !on_new_stack({&function, [](void* f) noexcept {
                         (*static_cast<std::remove_reference_t<F>*>(f))();
                       }})) [[likely]] {
      function();
    }
  }

  // Runs one of the tasks that were made by the task that runs here; false if none is left.
  bool run_own(Worker& worker) noexcept {
    Task* task = nullptr;
    if (worker.spawned.height() <= worker.base || worker.spawned.pop(task) != Status::ok) {
      return false;
    }
    run(worker, *task);
    return true;
  }

  // As the host of Futures. A thread that does not work for this pool is a visitor from before it
  // runs the task until it has been counted.
  void visit(FutureState& task) noexcept override;
  void note_failure(const std::exception_ptr& failure) noexcept override;
  std::size_t hands() const noexcept override { return width_ + crew_.seats_taken(); }

  // A thread from outside works for the pool, until it has stood up as often as it sat down. Null:
  // it cannot, and has to wait idly.
  Worker* sit_down() noexcept;
  void stand_up(Worker& seat) noexcept;

  Crew& crew() noexcept { return crew_; }

  // The thread of one of our workers is about to block: lets another one work for it, when there is
  // work. False: there is nobody to be had.
  bool lend() noexcept;
  // It goes on.
  void take_back() noexcept;

  // Until resume() no worker begins a task that it has not taken yet. Nothing after close().
  void pause() noexcept;
  void resume() noexcept;

  // Makes them at their first use. Null once closed. Throws std::bad_alloc.
  Timers* timers();

  PoolStatistics statistics() const;

  // Nothing of the pool is unfinished, or somebody may believe so: tells those who wait.
  void tell_idle() noexcept { idle_.notify_all(); }

  // Until nothing is unfinished; rethrows the first failure since the last time.
  Status wait(sync::Deadline deadline, const sync::StopToken& stop);
  Tally close(const Closing& closing);
  Tally tally() const;

 private:
  template <class>
  friend struct Books;

  enum Dropping : std::uint32_t { kKeep, kCancel, kExpire };
  // What a worker has to know before it takes a task; nothing, most of the time.
  enum Notes : std::uint32_t { kPaused = 1, kSideQueues = 2 };

  Placement reserve_local(Worker& worker) {
    if (unqueued_.closed()) return {.status = Status::closed};
    return reserve_in(worker);
  }
  Placement reserve_outside() { return placed(source_->reserve()); }
  static Placement placed(Task* task) noexcept {
    if (task == nullptr) return {.status = Status::closed};
    task->group.write() = nullptr;
    return {.task = task};
  }
  Placement reserve_aside(Priority priority);
  Placement reserve_beside(Priority priority);
  // What with_room() calls elsewhere.
  struct Rest {
    void* function;
    void (*call)(void* function) noexcept;
  };

  Placement reserve_bounded(Worker* worker, Priority priority = Priority::normal);
  void hand_over_due(TimedTask& due);
  void close_queues() noexcept;
  bool take_place() noexcept;
  void give_places(std::size_t count) noexcept;

  void start();
  void start(std::size_t index, bool called);
  void wake_one() noexcept;
  void start_absent(Sleepers::Place& place) noexcept;
  void start_called(Sleepers::Place& place);
  void not_started(Sleepers::Place& place) noexcept;
  void begin_service(const Worker& worker, bool called) noexcept;
  void serve(Worker& worker, bool called) noexcept;
  void stand_in(Worker& seat) noexcept;
  bool take_surplus() noexcept;
  bool may_end(Worker& worker) noexcept;
  bool take_leave() noexcept;
  Task* next(Worker& worker) noexcept;
  Task* take(Worker& worker) noexcept;
  Task* take_noted(Worker& worker, std::uint32_t notes) noexcept;
  Task* search(Worker& worker) noexcept;
  Task* look(Worker& worker) noexcept;
  bool is_paused() const noexcept;
  bool is_work_or_end() const noexcept;
  bool is_somebody_wanted() noexcept;
  bool has_own_tasks(const Worker& worker) const noexcept;
  SideQueues* side_queues();
  std::uint64_t accepted() const noexcept;
  void found_work(const Worker& worker) noexcept;
  bool is_more_work(const Worker& worker, std::uint64_t asleep) noexcept;
  bool only_outsiders_hand_over(std::uint64_t asleep) const noexcept;
  bool expects_more(const Worker& worker) const noexcept;
  template <class StayAwake>
  Sleepers::Slept sleep(Worker& worker, const StayAwake& stay_awake,
                        sync::Deadline deadline) noexcept;
  bool deques_have_work() const noexcept;
  void help_until_idle(Worker& worker) noexcept;
  bool on_new_stack(const Rest& rest) noexcept;
  void run_to_end(Worker& worker, Task& task) noexcept;
  void run_watched(Worker& worker, Task& task) noexcept;
  void perform_and_count(Worker& worker, Task& task) noexcept;
  Outcome perform(Task& task, GroupTasks* group) noexcept;
  void count_unqueued(Outcome outcome) noexcept;
  void keep_failure(GroupTasks* group) noexcept;
  bool is_idle() const noexcept;
  bool is_watched_wait(sync::Deadline deadline) const noexcept;
  void stop_workers() noexcept;
  void drop_leftovers() noexcept;

  const ThreadPoolOptions options_;
  const std::size_t capacity_;
  const std::size_t with_cpu_;  // workers that can run at the same moment; asked once, it is slow
  Crew crew_;
  std::unique_ptr<TaskSource> source_;
  bool keeps_local_;
  const std::size_t core_;  // threads that stay
  const sync::CpuSet where_;  // the constructor's thread may run, and so may ours
  std::vector<sync::Thread> threads_;  // by index; changed by who calls an absent worker
  std::size_t width_ = 0;  // the most that run at a time
  sync::atomic<std::size_t> present_;  // workers that have a thread
  sync::atomic<std::uint64_t> started_;  // threads, ever
  sync::Mutex calling_;  // for who gives a thread to an absent worker
  sync::atomic<std::size_t> stand_ins_;  // threads that stand in for blocked ones
  sync::atomic<std::size_t> surplus_;  // stand-ins whose workers are back
  sync::atomic<std::uint64_t> lent_;  // stand-ins, ever

  Sleepers sleepers_;
  sync::EventCount idle_;  // who waits until nothing is unfinished
  sync::EventCount room_;  // who waits for a place
  sync::atomic<std::int64_t> places_;
  Late<Timers> timers_;
  UnqueuedTasks unqueued_;  // of which the close is for all that come by no queue
  sync::atomic<bool> quitting_;
  sync::atomic<std::uint32_t> notes_;  // Notes
  Late<SideQueues> side_queues_;
  sync::Mutex pausing_;
  sync::cell<bool> never_paused_;  // any more; under pausing_
  sync::atomic<std::uint32_t> dropping_;  // Dropping

  sync::atomic<std::uint32_t> visitors_;

  sync::Mutex closing_;
  mutable sync::Mutex failures_;
  std::exception_ptr first_failure_;  // of all
  std::exception_ptr pending_failure_;  // that wait() will rethrow
};

}  // namespace detail
}}  // namespace handoff::HANDOFF_ABI
