// SPDX-License-Identifier: MIT
//
// The life of workers: running, searching, sleeping; and of the pool: waiting, closing, counting.
#include <algorithm>
#include <handoff/core/misuse.hpp>
#include <handoff/pool/engine.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/cpu_budget.hpp>
#include <handoff/sync/pause.hpp>
#include <new>
#include <system_error>

namespace handoff::inline HANDOFF_ABI::detail {

using sync::order;

Crew::Crew(Engine& engine, std::size_t width)
    : engine_(engine), seats_made_(0), seats_taken_(0) {
  workers_.reserve(width);
  for (std::size_t i = 0; i < width; ++i) {
    workers_.push_back(std::make_unique<Worker>(engine, i, store_, false));
  }
}

Crew::~Crew() {
  // order: relaxed, all are gone
  for (Seat& seat : seats_) delete seat.worker.load(order::relaxed);
}

Worker* Crew::take_seat() noexcept {
  for (std::size_t i = 0; i < seats; ++i) {
    Worker* seat = at(width() + i);
    if (seat == nullptr) {
      const sync::Lock lock(making_);
      seat = at(width() + i);
      if (seat == nullptr) {
        try {
          seat = new Worker(engine_, width() + i, store_, true);
        } catch (const std::bad_alloc&) {
          return nullptr;
        }
        // order: release pairs with the acquire in at(): the seat is made.
        seats_[i].worker.store(seat, order::release);
        seats_made_.store(i + 1, order::relaxed);  // order: relaxed, see in_use()
      }
    }
    bool taken = false;
    // order: acquire pairs with the release in leave_seat(); relaxed on failure, the next one then.
    if (seat->taken.compare_exchange_strong(taken, true, order::acquire, order::relaxed)) {
      // order: seq_cst, comes before any task that is made on this seat; see somebody_sits().
      seats_taken_.fetch_add(1, order::seq_cst);
      return seat;
    }
  }
  return nullptr;
}

void Crew::leave_seat(Worker& seat) noexcept {
  seats_taken_.fetch_sub(1, order::relaxed);  // order: relaxed, too late is as good
  // order: release pairs with the acquire in take_seat()
  seat.taken.store(false, order::release);
}

bool Crew::somebody_sits() const noexcept {
  // order: seq_cst, against the fetch_add in take_seat(): who sat down before it looked whether
  // anybody searches is seen by whoever stopped searching before this look.
  return seats_taken_.load(order::seq_cst) != 0;
}

namespace {

std::size_t width_of(const ThreadPoolOptions& options) {
  constexpr std::size_t max_width = 4096;
  const std::size_t width = options.width == 0 ? sync::cpu_budget().width() : options.width;
  if (width > max_width) misuse("ThreadPool: a width above ThreadPool::max_width was asked for");
  return width;
}

std::unique_ptr<Scheduler> make_scheduler(const ThreadPoolOptions& options, Crew& crew) {
  switch (options.mode) {
    case PoolMode::stealing: return make_stealing(crew, options.capacity != 0);
    case PoolMode::fixed: return make_fixed(crew);
  }
  misuse("ThreadPool: a mode that there is not was asked for");
}

}  // namespace

Engine::Engine(const ThreadPoolOptions& options)
    : options_(options),
      capacity_(options_.capacity),
      crew_(*this, width_of(options_)),
      scheduler_(make_scheduler(options_, crew_)),
      keeps_local_(scheduler_->keeps_local()),
      with_cpu_(sync::cpu_budget().width()),
      places_(static_cast<std::int64_t>(std::min<std::size_t>(capacity_, INT64_MAX))),
      quitting_(false),
      dropping_(kKeep),
      visitors_(0) {
  if (options_.on_full == OnFull::grow || options_.on_full == OnFull::overwrite_oldest) {
    misuse("ThreadPool: on_full is reject, wait or run_here; it grows when capacity is 0");
  }
  try {
    start();
  } catch (...) {
    stop_workers();
    throw;
  }
}

void Engine::start() {
  threads_.reserve(crew_.width());
  for (std::size_t i = 0; i < crew_.width(); ++i) {
    sync::ThreadOptions thread{.name = options_.name};
    if (!options_.cpus.empty()) thread.cpu = options_.cpus[i % options_.cpus.size()];
    try {
      threads_.emplace_back(thread, [this, i]() noexcept { serve(crew_.worker(i)); });
    } catch (const std::system_error&) {
      if (i == 0) throw;  // nobody would ever run a task
      break;              // fewer workers are a slower pool, not a broken one; width() tells
    }
    width_ = i + 1;
  }
}

Engine::~Engine() { (void)close(drain); }

Placement Engine::reserve_bounded(Worker* worker) {
  while (!take_place()) {
    if (unqueued_.closed()) return {.status = Status::closed};
    if (options_.on_full == OnFull::reject) return {.status = Status::full};
    // A worker that waited for room might wait for itself.
    if (options_.on_full == OnFull::run_here || worker != nullptr) {
      if (!unqueued_.accept()) {
        tell_idle();  // its count was too high for a moment
        return {.status = Status::closed};
      }
      return {.status = Status::full, .run_here = true};
    }
    (void)room_.await([this]() noexcept {
      // order: relaxed, the place is taken by a read-modify-write.
      return places_.load(order::relaxed) > 0 || unqueued_.closed();
    });
  }
  Placement placement;
  try {
    placement = reserve_outside();
  } catch (...) {
    give_places(1);
    throw;
  }
  if (placement.task == nullptr) give_places(1);
  return placement;
}

bool Engine::take_place() noexcept {
  std::int64_t places = places_.load(order::relaxed);  // order: relaxed, the exchange decides
  while (places > 0) {
    // order: relaxed, a number; the queue orders the tasks.
    if (places_.compare_exchange_weak(places, places - 1, order::relaxed, order::relaxed)) {
      return true;
    }
  }
  return false;
}

void Engine::give_places(std::size_t count) noexcept {
  places_.fetch_add(static_cast<std::int64_t>(count), order::relaxed);  // order: relaxed, a number
  room_.notify_some(static_cast<std::uint32_t>(count));
}

void Engine::serve(Worker& worker) noexcept {
  worker_slot() = &worker;
  if (options_.on_start) options_.on_start(worker.index);
  while (Task* const task = next(worker)) run(worker, *task);
  if (options_.on_stop) options_.on_stop(worker.index);
  worker_slot() = nullptr;
}

// Null when the pool ends.
Task* Engine::next(Worker& worker) noexcept {
  Task* const task = scheduler_->next(worker);
  return task != nullptr ? task : search(worker);
}

Task* Engine::search(Worker& worker) noexcept {
  sleepers_.begin_search();
  tell_idle();
  const sync::Spin spin = worker.index < with_cpu_ ? sync::spin_policy() : sync::Spin::never;
  for (;;) {
    sync::Backoff backoff(spin);
    do {
      if (Task* const task = scheduler_->next(worker)) {
        found_work(worker);
        return task;
      }
      // order: relaxed, nothing comes with it, and the end of the thread is joined.
      if (quitting_.load(order::relaxed)) {
        (void)sleepers_.end_search();
        return nullptr;
      }
    } while (backoff.snooze());
    const bool slept = sleepers_.sleep(worker.place, [this]() noexcept {
      // order: relaxed. The wake_all() after the store comes before we were listed, under the same
      // lock, so that it is seen here; or after, and wakes us.
      if (quitting_.load(order::relaxed)) return true;
      return deques_have_work() || scheduler_->has_tasks();
    });
    // What kept us awake may be a task that its submitter, on this very CPU, is about to publish.
    if (!slept) sync::yield();
  }
}

// Who searched and found looks whether others should come too. Tasks that were handed over while
// somebody searched woke nobody: they are this one's business.
void Engine::found_work(const Worker& worker) noexcept {
  const auto left = sleepers_.end_search();
  if (left.nobody_searches && left.asleep != 0 && is_more_work(worker, left.asleep)) {
    sleepers_.wake_one();
  }
}

bool Engine::is_more_work(const Worker& worker, std::uint64_t asleep) noexcept {
  if (!worker.claimed.was_empty() || scheduler_->has_tasks()) return true;
  // If all others sleep, nobody else can have made a task.
  if (asleep + 1 >= crew_.width() && !crew_.somebody_sits()) return false;
  sync::asymmetric_fence_heavy();  // partner is the light half in publish()
  return deques_have_work();
}

bool Engine::deques_have_work() const noexcept {
  for (std::size_t i = 0; i < crew_.in_use(); ++i) {
    const Worker* const worker = crew_.at(i);
    if (worker == nullptr) continue;
    if (!worker->spawned.was_empty() || !worker->claimed.was_empty()) return true;
  }
  return false;
}

void Engine::run(Worker& worker, Task& task) noexcept {
  if (worker.depth == 0) {
    run_to_end(worker, task);
  } else {
    with_room([&]() noexcept { run_to_end(worker, task); });
  }
}

// Called deep inside tasks, so a new thread each time costs nothing against what lies above it.
bool Engine::on_new_stack(const Rest& rest) noexcept {
  Worker* const here = worker_slot();
  try {
    const sync::Thread next({.name = options_.name}, [&rest, here]() noexcept {
      worker_slot() = here;
      rest.call(rest.function);
      worker_slot() = nullptr;
    });
  } catch (const std::system_error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;  // joined
}

void Engine::run_to_end(Worker& worker, Task& task) noexcept {
  TaskGroup* const group = task.group.read();
  const std::int64_t base = std::exchange(worker.base, worker.spawned.height());
  ++worker.depth;
  const Outcome outcome = perform(task, group);
  --worker.depth;
  worker.base = base;
  worker.nodes.give(&task);
  worker.count(outcome);
  if (group != nullptr) group->finished(worker, outcome);
}

Outcome Engine::perform(Task& task, TaskGroup* group) noexcept {
  // order: relaxed, nothing comes with it; a task that slips through has begun in time.
  const std::uint32_t dropping = dropping_.load(order::relaxed);
  if (dropping != kKeep) [[unlikely]] {
    return task.drop(dropping == kCancel ? Outcome::cancelled : Outcome::expired);
  }
  if (group != nullptr && group->cancelled()) [[unlikely]] return task.drop(Outcome::cancelled);
  try {
    return task.run();
  } catch (...) {
    keep_failure(group);
    return Outcome::failed;
  }
}

// Of the exception that is being handled.
void Engine::keep_failure(TaskGroup* group) noexcept {
  const std::exception_ptr failure = std::current_exception();
  {
    const sync::Lock lock(failures_);
    if (!first_failure_) first_failure_ = failure;
    if (group == nullptr && !options_.on_error && !pending_failure_) pending_failure_ = failure;
  }
  if (group != nullptr) {
    group->keep_failure(failure);
  } else if (options_.on_error) {
    options_.on_error(failure);
  }
}

void Engine::note_failure(const std::exception_ptr& failure) noexcept {
  const sync::Lock lock(failures_);
  if (!first_failure_) first_failure_ = failure;
}

void Engine::run_refused(Task& task) noexcept {
  Outcome outcome = Outcome::failed;
  try {
    outcome = task.run();  // also if the pool is dropping tasks: this one has begun
  } catch (...) {
    keep_failure(nullptr);
  }
  count_unqueued(outcome);
}

void Engine::end_visit(Outcome outcome) noexcept {
  count_unqueued(outcome);
  // order: release pairs with the acquire in close(): this is the visitor's last step here.
  visitors_.fetch_sub(1, order::release);
}

void Engine::count_unqueued(Outcome outcome) noexcept {
  unqueued_.count(outcome);
  tell_idle();
}

Worker* Engine::sit_down() noexcept {
  Worker* seat = worker_here();
  if (seat == nullptr) {
    seat = crew_.take_seat();
    if (seat == nullptr) return nullptr;
    seat->base = seat->spawned.height();
    seat->outer = std::exchange(worker_slot(), seat);
  }
  ++seat->sitting;
  return seat;
}

void Engine::stand_up(Worker& seat) noexcept {
  if (--seat.sitting != 0) return;
  Worker** link = &worker_slot();
  while (*link != &seat) link = &(*link)->outer;
  *link = std::exchange(seat.outer, nullptr);
  crew_.leave_seat(seat);
  tell_idle();
}

void Engine::help_until_idle(Worker& worker) noexcept {
  sync::Backoff backoff;
  for (;;) {
    if (Task* const task = scheduler_->next(worker)) {
      run(worker, *task);
      backoff.reset();
    } else if (is_idle() || !backoff.snooze()) {
      return;
    }
  }
}

Status Engine::wait(sync::Deadline deadline, const sync::StopToken& stop) {
  Worker* const here = worker_here();
  if (here != nullptr && here->depth != 0) {
    misuse("ThreadPool: wait() inside one of its own tasks would wait for itself");
  }
  // Who helps may be held up by a task, so only those help who have the time.
  if (deadline == sync::no_deadline && !stop.stop_possible()) {
    if (Worker* const seat = sit_down()) {
      help_until_idle(*seat);
      stand_up(*seat);
    }
  }
  const sync::Wakeup wakeup =
      idle_.await([this]() noexcept { return is_idle(); }, deadline, stop);
  if (wakeup == sync::Wakeup::stopped) return Status::stopped;
  if (wakeup == sync::Wakeup::timed_out) return Status::timed_out;
  std::exception_ptr failure;
  {
    const sync::Lock lock(failures_);
    failure = std::exchange(pending_failure_, nullptr);
  }
  if (failure) std::rethrow_exception(std::move(failure));
  return Status::ok;
}

// True if there was a moment during this call at which nothing was unfinished. First what is
// finished, then what was accepted: both only grow, so if they are equal they were equal in
// between; and a task is counted as accepted before it can be counted as finished.
bool Engine::is_idle() const noexcept {
  std::uint64_t finished = unqueued_.finished();
  for (std::size_t i = 0; i < crew_.in_use(); ++i) {
    if (const Worker* const worker = crew_.at(i)) finished += worker->finished();
  }
  std::uint64_t accepted = unqueued_.accepted() + scheduler_->accepted();
  for (std::size_t i = 0; i < crew_.in_use(); ++i) {
    if (const Worker* const worker = crew_.at(i)) accepted += worker->accepted.read();
  }
  return finished == accepted;
}

Tally Engine::close(const Closing& closing) {
  const Worker* const here = worker_here();
  if (here != nullptr && (here->depth != 0 || !here->guest)) {
    misuse("ThreadPool: closed or destroyed inside one of its own tasks");
  }
  const sync::Lock lock(closing_);
  if (!threads_.empty()) {
    unqueued_.close();
    scheduler_->close();
    room_.notify_all();
    const auto idle = [this]() noexcept { return is_idle(); };
    // order: relaxed, both: a task that does not see it yet has begun in time.
    if (!closing.begins_more) dropping_.store(kCancel, order::relaxed);
    if (idle_.await(idle, closing.deadline) != sync::Wakeup::notified) {
      dropping_.store(kExpire, order::relaxed);  // order: relaxed, as above
      (void)idle_.await(idle);
    }
    stop_workers();
    drop_leftovers();
    // order: acquire pairs with the release in end_visit().
    while (visitors_.load(order::acquire) != 0) sync::yield();
  }
  return tally();
}

void Engine::stop_workers() noexcept {
  quitting_.store(true, order::relaxed);  // order: relaxed, see search()
  sleepers_.wake_all();
  threads_.clear();  // joins
}

// Everything has been counted; but entries may be left of tasks that were run by who waited for
// them.
void Engine::drop_leftovers() noexcept {
  Worker& worker = crew_.worker(0);
  while (Task* const task = scheduler_->next(worker)) run(worker, *task);
}

Tally Engine::tally() const {
  Tally tally;
  tally.done = unqueued_.read(Outcome::done);
  tally.failed = unqueued_.read(Outcome::failed);
  tally.cancelled = unqueued_.read(Outcome::cancelled);
  for (std::size_t i = 0; i < crew_.in_use(); ++i) {
    const Worker* const worker = crew_.at(i);
    if (worker == nullptr) continue;
    tally.done += worker->done.read();
    tally.failed += worker->failed.read();
    tally.cancelled += worker->cancelled.read();
    tally.expired += worker->expired.read();
  }
  tally.accepted = unqueued_.accepted() + scheduler_->accepted();
  for (std::size_t i = 0; i < crew_.in_use(); ++i) {
    if (const Worker* const worker = crew_.at(i)) tally.accepted += worker->accepted.read();
  }
  tally.pending = tally.accepted - tally.done - tally.failed - tally.cancelled - tally.expired;
  const sync::Lock lock(failures_);
  tally.first_failure = first_failure_;
  return tally;
}

}  // namespace handoff::inline HANDOFF_ABI::detail
