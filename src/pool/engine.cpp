// SPDX-License-Identifier: MIT
//
// The life of workers: running, searching, sleeping; and of the pool: waiting, closing, counting.
#include <algorithm>
#include <handoff/core/detail/future_state.hpp>
#include <handoff/core/detail/status_of.hpp>
#include <handoff/core/detail/take_one.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/pool/detail/engine.hpp>
#include <handoff/pool/detail/group_tasks.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/cpu_budget.hpp>
#include <handoff/sync/detail/pause.hpp>
#include <new>
#include <optional>
#include <system_error>

#include "../probe/probes.hpp"
#include "task_source.hpp"
#include "wait_watch.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

using sync::order;

Crew::Crew(Engine& engine, std::size_t width) : engine_(engine), seats_made_(0), seats_taken_(0) {
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

void Crew::end_spare(Worker& seat) noexcept {
  seat.sitting = 0;
  seat.spare = false;
  leave_seat(seat);
}

bool Crew::somebody_sits() const noexcept {
  // order: seq_cst, against the fetch_add in take_seat(): who sat down before it looked whether
  // anybody searches is seen by whoever stopped searching before this look.
  return seats_taken_.load(order::seq_cst) != 0;
}

namespace {

// For a CPU, of tasks that wait for something else half of the time and more.
constexpr std::size_t kCachedPerCpu = 4;

std::size_t width_of(const ThreadPoolOptions& options, std::size_t cpus) {
  constexpr std::size_t max_width = 4096;
  std::size_t width = options.width;
  if (width == 0) {
    width = cpus;
    if (options.mode == PoolMode::cached) width = std::max(width * kCachedPerCpu, options.core);
  }
  if (width > max_width) misuse("ThreadPool: a width above ThreadPool::max_width was asked for");
  return width;
}

std::size_t core_of(const ThreadPoolOptions& options, std::size_t width, std::size_t cpus) {
  if (options.mode != PoolMode::cached) return width;
  if (options.core > width) misuse("ThreadPool: a core above the width was asked for");
  if (options.core != 0) return options.core;
  return std::min(cpus, width);
}

std::unique_ptr<TaskSource> make_source(const ThreadPoolOptions& options, Crew& crew) {
  switch (options.mode) {
    case PoolMode::stealing: return make_stealing(crew, options.capacity != 0);
    case PoolMode::fixed: return make_fixed(crew);
    case PoolMode::active: return make_active(crew, options.capacity != 0);
    case PoolMode::cached: return make_cached(crew);
  }
  misuse("ThreadPool: a mode that there is not was asked for");
}

}  // namespace

Engine::Engine(const ThreadPoolOptions& options)
    : FutureHost(static_cast<bool>(options.on_wait_cycle)),
      options_(options),
      capacity_(options_.capacity),
      with_cpu_(sync::cpu_budget().width()),
      crew_(*this, width_of(options_, with_cpu_)),
      source_(make_source(options_, crew_)),
      keeps_local_(source_->keeps_local()),
      core_(core_of(options_, crew_.width(), with_cpu_)),
      where_(sync::CpuSet::of_this_thread()),
      threads_(crew_.size()),
      present_(0),
      started_(0),
      stand_ins_(0),
      surplus_(0),
      lent_(0),
      places_(static_cast<std::int64_t>(std::min<std::size_t>(capacity_, INT64_MAX))),
      quitting_(false),
      notes_(0),
      dropping_(kKeep),
      visitors_(0) {
  if (options_.on_full == OnFull::grow || options_.on_full == OnFull::overwrite_oldest) {
    misuse("ThreadPool: on_full is reject, wait or run_here; it grows when capacity is 0");
  }
  if (watches()) keep_wait_book();
  try {
    start();
  } catch (...) {
    stop_workers();
    throw;
  }
}

void Engine::start() {
  const bool grows = options_.mode == PoolMode::cached;
  for (std::size_t i = crew_.width(); i > core_; --i) {
    sleepers_.begin_absent(crew_.worker(i - 1).place);
  }
  width_ = grows ? crew_.width() : 0;
  for (std::size_t i = 0; i < core_; ++i) {
    try {
      start(i, false);
    } catch (const std::system_error&) {
      if (i == 0) throw;  // nobody would ever run a task
      // Fewer workers are a slower pool, not a broken one; width() tells. Or they come later.
      if (!grows) return;
      sleepers_.begin_absent(crew_.worker(i).place);
      continue;
    }
    if (!grows) width_ = i + 1;
  }
}

// Gives the worker a thread. `called`: it counts as searching already.
void Engine::start(std::size_t index, bool called) {
  sync::ThreadOptions thread{.name = options_.name, .cpus = called ? &where_ : nullptr};
  if (!options_.cpus.empty()) thread.cpu = options_.cpus[index % options_.cpus.size()];
  threads_[index].join();  // the worker's last one is about to end
  Worker& worker = *crew_.at(index);
  sync::atomic<std::size_t>& count = worker.spare ? stand_ins_ : present_;
  count.fetch_add(1, order::relaxed);  // order: relaxed, a number
  started_.fetch_add(1, order::relaxed);  // order: relaxed, a number
  try {
    threads_[index] = sync::Thread(thread, [this, &worker, called]() noexcept {
      worker.spare ? stand_in(worker) : serve(worker, called);
    });
  } catch (...) {
    count.fetch_sub(1, order::relaxed);  // order: relaxed, a number
    started_.fetch_sub(1, order::relaxed);  // order: relaxed, a number
    throw;
  }
}

void Engine::wake_one() noexcept {
  if (Sleepers::Place* const absent = sleepers_.wake_one()) [[unlikely]]
    start_absent(*absent);
}

// If there is no thread to be had the others go on without; nobody asks again for some time.
void Engine::start_absent(Sleepers::Place& place) noexcept {
  try {
    start_called(place);
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
}

void Engine::start_called(Sleepers::Place& place) {
  try {
    const sync::Lock lock(calling_);
    // order: relaxed, set before stop_workers() takes the lock
    if (!quitting_.load(order::relaxed)) return start(place.number, true);
  } catch (...) {
    not_started(place);
    throw;
  }
  not_started(place);
}

void Engine::not_started(Sleepers::Place& place) noexcept {
  sleepers_.put_back(place);
  if (is_somebody_wanted()) {
    sleepers_.wake_present();
  }
}

Engine::~Engine() {
  (void)close(drain);
  delete side_queues_.made();
  if (Timers* const timers = timers_.made()) timers->release();
}

Timers* Engine::timers() {
  return timers_.get(calling_, [this]() -> std::unique_ptr<Timers, Timers::Release> {
    if (unqueued_.closed()) return nullptr;  // close_queues() may have been here
    const auto hand_over = [](void* self, TimedTask& due) {
      static_cast<Engine*>(self)->hand_over_due(due);
    };
    return std::unique_ptr<Timers, Timers::Release>(
        new Timers({this, hand_over, options_.name, where_}));
  });
}

// Takes a place even if there is none: a moment that has come cannot wait for room.
void Engine::hand_over_due(TimedTask& due) {
  if (capacity_ != 0) places_.fetch_sub(1, order::relaxed);  // order: relaxed, a number
  Placement placement;
  try {
    placement = reserve_outside();
  } catch (...) {
    if (capacity_ != 0) give_places(1);
    throw;
  }
  // The queue is closed after the timers, so there is a task.
  ::new (static_cast<void*>(placement.task->storage)) TimedTask*(&due);
  publish(placement, TimedKind::kind);
}

// After unqueued_.close(), which those see who would make what is not there.
void Engine::close_queues() noexcept {
  Timers* timers = nullptr;
  SideQueues* queues = nullptr;
  {
    const sync::Lock lock(calling_);
    timers = timers_.made();
    queues = side_queues_.made();
  }
  if (timers != nullptr) timers->close();  // first, as its thread hands over
  source_->close();
  if (queues != nullptr) queues->close();
}

Placement Engine::reserve_bounded(Worker* worker, Priority priority) {
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
    placement = priority == Priority::normal ? reserve_outside() : reserve_beside(priority);
  } catch (...) {
    give_places(1);
    throw;
  }
  if (placement.task == nullptr) give_places(1);
  return placement;
}

Placement Engine::reserve_aside(Priority priority) {
  return capacity_ == 0 ? reserve_beside(priority) : reserve_bounded(worker_here(), priority);
}

Placement Engine::reserve_beside(Priority priority) {
  SideQueues* const queues = side_queues();
  return placed(queues != nullptr ? queues->reserve(priority) : nullptr);
}

// The worker is woken, or gets a thread, before the ticket is taken; as it is expected, it neither
// sleeps nor ends in between.
Placement Engine::reserve_for(std::size_t index) {
  SideQueues* const queues = side_queues();
  if (queues == nullptr) return placed(nullptr);
  struct Expecting {
    SideQueues& queues;
    std::size_t index;
    ~Expecting() { queues.expect_no_more(index); }
  };
  queues->expect(index);
  const Expecting expecting{*queues, index};
  Sleepers::Place& place = crew_.worker(index).place;
  if (sleepers_.call(place)) {
    start_called(place);
  } else {
    sleepers_.wake(place);
  }
  Placement placement = placed(queues->reserve_for(index));
  placement.told = true;
  return placement;
}

// Made at their first use. Null once closed. Throws std::bad_alloc.
SideQueues* Engine::side_queues() {
  return side_queues_.get(calling_, [this]() -> std::unique_ptr<SideQueues> {
    if (unqueued_.closed()) return nullptr;  // close_queues() may have been here
    auto queues = std::make_unique<SideQueues>(crew_.width());
    // order: relaxed, a worker that does not see it yet sees it after its next look for tasks.
    notes_.fetch_or(kSideQueues, order::relaxed);
    return queues;
  });
}

std::uint64_t Engine::accepted() const noexcept {
  std::uint64_t sum = unqueued_.accepted() + source_->accepted();
  if (const SideQueues* const queues = side_queues_.look()) sum += queues->accepted();
  for (std::size_t i = 0; i < crew_.in_use(); ++i) {
    if (const Worker* const worker = crew_.at(i)) sum += worker->accepted.read();
  }
  return sum;
}

bool Engine::take_place() noexcept { return take_one(places_) != 0; }

void Engine::give_places(std::size_t count) noexcept {
  places_.fetch_add(static_cast<std::int64_t>(count), order::relaxed);  // order: relaxed, a number
  room_.notify_some(static_cast<std::uint32_t>(count));
}

void Engine::serve(Worker& worker, bool called) noexcept {
  do {
    workplace() = &worker;
    HANDOFF_PROBE(worker_begin, worker.index);
    begin_service(worker, called);
    Task* task = called ? look(worker) : next(worker);
    for (; task != nullptr; task = next(worker)) run(worker, *task);
    if (options_.on_stop) options_.on_stop(worker.index);
    HANDOFF_PROBE(worker_end, worker.index);
    workplace() = nullptr;
    called = true;  // if it stays, it searches
  } while (!may_end(worker));
}

// A hook takes its time, and may wait for tasks of the pool: so meanwhile nobody is to rely on this
// worker's search.
void Engine::begin_service(const Worker& worker, bool called) noexcept {
  if (!options_.on_start) return;
  if (called) {
    (void)sleepers_.end_search();
    if (is_somebody_wanted()) {
      sleepers_.wake_present();
    }
  }
  options_.on_start(worker.index);
  if (called) sleepers_.begin_search();
}

// For a worker that blocks, until it is back, and then until no task is left here that others would
// have to steal.
void Engine::stand_in(Worker& seat) noexcept {
  workplace() = &seat;
  HANDOFF_PROBE(worker_begin, seat.index);
  begin_service(seat, true);
  Task* task = look(seat);
  while (task != nullptr) {
    run(seat, *task);
    const bool nothing_here = seat.spawned.was_empty() && seat.claimed.was_empty();
    task = nothing_here && take_surplus() ? nullptr : next(seat);
  }
  if (options_.on_stop) options_.on_stop(seat.index);
  HANDOFF_PROBE(worker_end, seat.index);
  workplace() = nullptr;
  stand_ins_.fetch_sub(1, order::relaxed);  // order: relaxed, a number
  crew_.end_spare(seat);
  tell_idle();
}

bool Engine::take_surplus() noexcept { return take_one(surplus_) != 0; }

bool Engine::lend() noexcept {
  Worker* const seat = crew_.take_seat();
  if (seat == nullptr) return false;
  seat->base = seat->spawned.height();
  seat->sitting = 1;  // so that no group gives it up
  seat->spare = true;
  lent_.fetch_add(1, order::relaxed);  // order: relaxed, a number
  sleepers_.begin_absent(seat->place);
  if (is_somebody_wanted()) wake_one();
  return true;
}

// One stand-in is as good as another.
void Engine::take_back() noexcept {
  if (Sleepers::Place* const absent = sleepers_.withdraw_from(crew_.width())) {
    crew_.end_spare(*crew_.at(absent->number));
  } else {
    surplus_.fetch_add(1, order::relaxed);  // order: relaxed, the lock below orders it
    sleepers_.wake_from(crew_.width());
  }
}

bool Engine::may_end(Worker& worker) noexcept {
  // order: relaxed, as in look().
  if (quitting_.load(order::relaxed)) return true;
  const auto stay = [this, &worker]() noexcept {
    return is_work_or_end() || has_own_tasks(worker);
  };
  if (sleepers_.leave(worker.place, stay)) return true;
  present_.fetch_add(1, order::relaxed);  // order: relaxed, a number
  return false;
}

// Whether one of the threads beyond the core, this one, is to end.
bool Engine::take_leave() noexcept {
  std::size_t present = present_.load(order::relaxed);  // order: relaxed, the exchange decides
  while (present > core_) {
    // order: relaxed, a number.
    if (present_.compare_exchange_weak(present, present - 1, order::relaxed, order::relaxed)) {
      return true;
    }
  }
  return false;
}

// Null when the thread ends.
Task* Engine::next(Worker& worker) noexcept {
  Task* const task = take(worker);
  return task != nullptr ? task : search(worker);
}

// Null if there is none to begin.
Task* Engine::take(Worker& worker) noexcept {
  // order: relaxed, a task that slips through has begun in time
  const std::uint32_t notes = notes_.load(order::relaxed);
  if (notes != 0) [[unlikely]]
    return take_noted(worker, notes);
  return source_->next(worker);
}

Task* Engine::take_noted(Worker& worker, std::uint32_t notes) noexcept {
  if ((notes & kPaused) != 0) return nullptr;
  const SideQueues* const queues = side_queues_.look();
  if (queues == nullptr) return source_->next(worker);
  Task* task = nullptr;
  if (queues->high() != nullptr) task = claim(*queues->high(), worker, 1);
  SmallTaskQueue* const own = queues->own(worker.index);
  if (task == nullptr && own != nullptr) task = claim_unbounded(*own, worker);
  if (task == nullptr) task = source_->next(worker);
  if (task == nullptr && queues->low() != nullptr) task = claim(*queues->low(), worker, 1);
  return task;
}

Task* Engine::search(Worker& worker) noexcept {
  sleepers_.begin_search();
  return look(worker);
}

// The worker counts as searching.
Task* Engine::look(Worker& worker) noexcept {
  tell_idle();
  for (auto slept = Sleepers::Slept::not_at_all;;) {
    const bool hopes = slept != Sleepers::Slept::too_long && expects_more(worker);
    sync::Backoff backoff(hopes ? sync::spin_policy() : sync::Spin::never);
    do {
      if (Task* const task = take(worker)) {
        found_work(worker);
        return task;
      }
      // order: relaxed, nothing comes with it, and the end of the thread is joined.
      if (quitting_.load(order::relaxed)) {
        (void)sleepers_.end_search();
        return nullptr;
      }
    } while (backoff.snooze());
    const bool goes =
        worker.spare ? take_surplus() : slept == Sleepers::Slept::too_long && take_leave();
    if (goes) {
      found_work(worker);  // what came meanwhile relied on this search
      return nullptr;
    }
    // order: relaxed, a number; one thread too many is here for a while, or a sleep is cut short.
    const bool surplus = !worker.spare && present_.load(order::relaxed) > core_;
    const sync::Deadline deadline =
        surplus ? sync::deadline_after(options_.idle_time) : sync::no_deadline;
    worker.sleeps.add();
    const auto stay_awake = [this, &worker]() noexcept {
      // order: relaxed, see Sleepers::wake_from().
      if (worker.spare && surplus_.load(order::relaxed) != 0) return true;
      return is_work_or_end() || (!is_paused() && has_own_tasks(worker));
    };
    HANDOFF_PROBE(worker_sleep, worker.index);
    slept = sleep(worker, stay_awake, deadline);
    HANDOFF_PROBE(worker_wake, worker.index);
    // What kept us awake may be a task that its submitter, on this very CPU, is about to publish.
    if (slept == Sleepers::Slept::not_at_all) sync::yield();
  }
}

// Whether it is worth while to spin. Work that came alone, after a long time, is followed by
// nothing for a long time: then spinning would only take the CPU from whoever waits for that work,
// if it is this one, and the yields at its end the right to have it at once when next woken.
bool Engine::expects_more(const Worker& worker) const noexcept {
  if (worker.index >= with_cpu_) return false;
  return !worker.rested || worker.finished() - worker.finished_when_woken > 1;
}

template <class StayAwake>
Sleepers::Slept Engine::sleep(Worker& worker, const StayAwake& stay_awake,
                              sync::Deadline deadline) noexcept {
  // Ten times what it costs to spin in vain; the time that a wake-up takes is part of it.
  constexpr std::chrono::microseconds long_time{200};
  const auto by_seq_cst = [this](std::uint64_t asleep) noexcept {
    return only_outsiders_hand_over(asleep);
  };
  const auto since = sync::clock::now();
  const auto slept = sleepers_.sleep(worker.place, by_seq_cst, stay_awake, deadline);
  worker.rested = sync::clock::now() - since >= long_time;
  worker.finished_when_woken = worker.finished();
  return slept;
}

bool Engine::is_work_or_end() const noexcept {
  // order: relaxed. The wake_all() after the store comes before a worker was listed, under the same
  // lock, so that it is seen here; or after, and wakes it.
  if (quitting_.load(order::relaxed)) return true;
  if (is_paused()) return false;
  if (deques_have_work() || source_->has_tasks()) return true;
  const SideQueues* const queues = side_queues_.look();
  return queues != nullptr && queues->has_tasks();
}

bool Engine::is_somebody_wanted() noexcept {
  return sleepers_.wanted_for([this]() noexcept { return is_work_or_end(); });
}

bool Engine::is_paused() const noexcept {
  // order: relaxed, behind the fence that comes before each look; partner is the one in resume()
  return (notes_.load(order::relaxed) & kPaused) != 0;
}

bool Engine::has_own_tasks(const Worker& worker) const noexcept {
  const SideQueues* const queues = side_queues_.look();
  return queues != nullptr && queues->has_tasks_for(worker.index);
}

// Whoever pauses pretends to search: so nobody is woken meanwhile.
void Engine::pause() noexcept {
  const sync::Lock lock(pausing_);
  if (never_paused_.read() || is_paused()) return;
  sleepers_.begin_search();
  notes_.fetch_or(kPaused, order::relaxed);  // order: relaxed, else one more task begins
}

// Ends the search as if it had found work.
void Engine::resume() noexcept {
  const sync::Lock lock(pausing_);
  if (!is_paused()) return;
  // order: relaxed, a fence comes before the look
  notes_.fetch_and(~std::uint32_t{kPaused}, order::relaxed);
  (void)sleepers_.end_search();
  if (is_somebody_wanted()) wake_one();
  for (std::size_t i = 0; i < crew_.width(); ++i) {
    if (has_own_tasks(crew_.worker(i))) sleepers_.wake(crew_.worker(i).place);
  }
}

PoolStatistics Engine::statistics() const {
  PoolStatistics now;
  now.workers.resize(crew_.size());
  for (std::size_t i = 0; i < crew_.in_use(); ++i) {
    const Worker* const worker = crew_.at(i);
    if (worker == nullptr) continue;
    now.workers[i] = {.run = worker->finished(),
                      .handed_over = worker->accepted.read(),
                      .stolen = worker->stolen.read(),
                      .sleeps = worker->sleeps.read()};
  }
  // order: relaxed, both: numbers.
  now.threads = present_.load(order::relaxed) + stand_ins_.load(order::relaxed);
  now.started = started_.load(order::relaxed);  // order: relaxed, a number
  now.lent = lent_.load(order::relaxed);  // order: relaxed, a number
  now.from_outside = source_->accepted();
  if (const SideQueues* const queues = side_queues_.look()) now.from_outside += queues->accepted();
  now.run_by_caller = unqueued_.finished();
  return now;
}

// Who searched and found looks whether others should come too. Tasks that were handed over while
// somebody searched woke nobody: they are this one's business.
void Engine::found_work(const Worker& worker) noexcept {
  const auto left = sleepers_.end_search();
  if (left.nobody_searches && left.asleep != 0 && is_more_work(worker, left.asleep)) {
    wake_one();
  }
}

bool Engine::is_more_work(const Worker& worker, std::uint64_t asleep) noexcept {
  if (!worker.claimed.was_empty() || source_->has_tasks()) return true;
  const SideQueues* const queues = side_queues_.look();
  if (queues != nullptr && queues->has_tasks()) return true;
  if (only_outsiders_hand_over(asleep + 1)) return false;
  sync::asymmetric_fence_heavy();  // partner is the light half in publish()
  return deques_have_work();
}

// With so many asleep, the caller counted with them: nobody else can make a task in a
// deque. Those that come by a queue come by a seq_cst operation.
bool Engine::only_outsiders_hand_over(std::uint64_t asleep) const noexcept {
  return asleep >= crew_.width() && !crew_.somebody_sits();
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

// Of a group, whose owner may wait for it.
void Engine::run_watched(Worker& worker, Task& task) noexcept {
  const WatchedRun watched(task.group.read(), "a task of a TaskGroup");
  perform_and_count(worker, task);
}

// Called deep inside tasks, so a new thread each time costs nothing against what lies above it.
bool Engine::on_new_stack(const Rest& rest) noexcept {
  Workplace* const here = workplace();
  try {
    const sync::Thread next({.name = options_.name}, [&rest, here]() noexcept {
      workplace() = here;
      rest.call(rest.function);
      workplace() = nullptr;
    });
  } catch (const std::system_error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;  // joined
}

void Engine::run_to_end(Worker& worker, Task& task) noexcept {
  if (watches() && task.group.read() != nullptr) [[unlikely]]
    return run_watched(worker, task);
  perform_and_count(worker, task);
}

void Engine::perform_and_count(Worker& worker, Task& task) noexcept {
  GroupTasks* const group = task.group.read();
  const std::int64_t base = std::exchange(worker.base, worker.spawned.height());
  ++worker.depth;
  HANDOFF_PROBE(task_begin, worker.index, &task);
  const Outcome outcome = perform(task, group);
  HANDOFF_PROBE(task_end, worker.index, &task, static_cast<int>(outcome));
  --worker.depth;
  worker.base = base;
  worker.nodes.give(&task);
  worker.count(outcome);
  if (group != nullptr) group->finished(worker, outcome);
}

Outcome Engine::perform(Task& task, GroupTasks* group) noexcept {
  // order: relaxed, nothing comes with it; a task that slips through has begun in time.
  const std::uint32_t dropping = dropping_.load(order::relaxed);
  if (dropping != kKeep) [[unlikely]] {
    return task.drop(dropping == kCancel ? Outcome::cancelled : Outcome::expired);
  }
  if (group != nullptr && group->cancelled()) [[unlikely]]
    return task.drop(Outcome::cancelled);
  try {
    return task.run();
  } catch (...) {
    keep_failure(group);
    return Outcome::failed;
  }
}

// Of the exception that is being handled.
void Engine::keep_failure(GroupTasks* group) noexcept {
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

void Engine::visit(FutureState& task) noexcept {
  if (Worker* const mine = worker_here()) return mine->count(task.make_as_task());
  visitors_.fetch_add(1, order::relaxed);  // order: relaxed, the task keeps the pool alive
  count_unqueued(task.make_as_task());
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
    seat->outer = std::exchange(workplace(), seat);
  }
  ++seat->sitting;
  return seat;
}

void Engine::stand_up(Worker& seat) noexcept {
  if (--seat.sitting != 0) return;
  Workplace** link = &workplace();
  while (*link != &seat) link = &(*link)->outer;
  *link = std::exchange(seat.outer, nullptr);
  crew_.leave_seat(seat);
  tell_idle();
}

void Engine::help_until_idle(Worker& worker) noexcept {
  sync::Backoff backoff;
  for (;;) {
    if (Task* const task = take(worker)) {
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
  std::optional<WatchedWait> watched;
  if (is_watched_wait(deadline)) [[unlikely]]
    watched.emplace(*this).fall_asleep();
  const Status waited =
      status_of(idle_.await([this]() noexcept { return is_idle(); }, deadline, stop));
  watched.reset();
  if (waited != Status::ok) return waited;
  std::exception_ptr failure;
  {
    const sync::Lock lock(failures_);
    failure = std::exchange(pending_failure_, nullptr);
  }
  if (failure) std::rethrow_exception(std::move(failure));
  return Status::ok;
}

// A wait of a task of another pool, or of who has a seat there, that does not end by itself.
bool Engine::is_watched_wait(sync::Deadline deadline) const noexcept {
  return deadline == sync::no_deadline && watching(workplace()) != nullptr && !is_idle();
}

// True if there was a moment during this call at which nothing was unfinished. First what is
// finished, then what was accepted: both only grow, so if they are equal they were equal in
// between; and a task is counted as accepted before it can be counted as finished.
bool Engine::is_idle() const noexcept {
  std::uint64_t finished = unqueued_.finished();
  for (std::size_t i = 0; i < crew_.in_use(); ++i) {
    if (const Worker* const worker = crew_.at(i)) finished += worker->finished();
  }
  return finished == accepted();
}

Tally Engine::close(const Closing& closing) {
  const Worker* const here = worker_here();
  if (here != nullptr && (here->depth != 0 || !here->guest)) {
    misuse("ThreadPool: closed or destroyed inside one of its own tasks");
  }
  const sync::Lock lock(closing_);
  if (!threads_.empty()) {
    unqueued_.close();
    close_queues();
    room_.notify_all();
    {
      const sync::Lock pause_lock(pausing_);
      never_paused_.write() = true;
    }
    resume();
    const auto idle = [this]() noexcept { return is_idle(); };
    // order: relaxed, both: a task that does not see it yet has begun in time.
    if (!closing.begins_more) dropping_.store(kCancel, order::relaxed);
    std::optional<WatchedWait> watched;
    const auto watch = [&](sync::Deadline deadline) noexcept {
      if (is_watched_wait(deadline)) watched.emplace(*this).fall_asleep_quietly();
    };
    watch(closing.deadline);
    if (idle_.await(idle, closing.deadline) != sync::Wakeup::notified) {
      dropping_.store(kExpire, order::relaxed);  // order: relaxed, as above
      watch(sync::no_deadline);
      (void)idle_.await(idle);
    }
    watched.reset();
    stop_workers();
    drop_leftovers();
    // order: acquire pairs with the release in end_visit().
    while (visitors_.load(order::acquire) != 0) sync::yield();
  }
  return tally();
}

void Engine::stop_workers() noexcept {
  quitting_.store(true, order::relaxed);  // order: relaxed, see look()
  {
    const sync::Lock lock(calling_);
  }  // nobody starts a thread from here on
  sleepers_.forget_absent();
  sleepers_.wake_all();
  threads_.clear();  // joins
}

// Everything has been counted; but entries may be left of tasks that were run by who waited for
// them.
void Engine::drop_leftovers() noexcept {
  Worker& worker = crew_.worker(0);
  while (Task* const task = take(worker)) run(worker, *task);
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
  tally.accepted = accepted();
  if (Timers* const timers = timers_.made()) {
    const Timers::Figures figures = timers->figures();
    tally.accepted += figures.waiting + figures.cancelled;
    tally.cancelled += figures.cancelled;
  }
  tally.pending = tally.accepted - tally.done - tally.failed - tally.cancelled - tally.expired;
  const sync::Lock lock(failures_);
  tally.first_failure = first_failure_;
  return tally;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
