// SPDX-License-Identifier: MIT
//
// A pool is put together here, waited for, closed and counted.
#include <algorithm>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/future_state.hpp>
#include <handoff/core/internal/status_of.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/pool/detail/closure_maker.hpp>
#include <handoff/pool/detail/engine.hpp>
#include <handoff/pool/task_options.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/cpu_budget.hpp>
#include <handoff/sync/internal/this_thread.hpp>
#include <memory>

#include "../sync/internal/seen_sanitizer.hpp"
#include "engine_parts.hpp"
#include "timers.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

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

}  // namespace

EngineParts::EngineParts(Engine& engine, const ThreadPoolOptions& given, std::size_t cpus)
    : options(given),
      crew(engine, width_of(options, cpus)),
      room(options.capacity),
      threads(options, crew, core_of(options, crew.width(), cpus)),
      backlog(options, crew, room, threads, unqueued),
      completion(crew, backlog, unqueued),
      runner(options, failures),
      search(options, cpus, {crew, threads, backlog, runner, completion}) {
  if (options.capacity == 0) {
    misuse("ThreadPool: a capacity of 0 holds no task; without a bound it is handoff::unbounded");
  }
  if (options.on_full == OnFull::grow || options.on_full == OnFull::overwrite_oldest) {
    misuse("ThreadPool: on_full is reject, wait or run_here; it grows when capacity is unbounded");
  }
}

Engine::Engine(const ThreadPoolOptions& options)
    : parts_(std::make_unique<EngineParts>(*this, options, sync::recent_cpu_budget().width())),
      admission_(*parts_) {
  try {
    parts_->threads.start(parts_->search);
  } catch (...) {
    parts_->threads.stop();
    throw;
  }
}

// In a fork the parts stay: their locks may be held by threads that are not there.
Engine::~Engine() {
  if (!origin_.is_here()) {
    static_cast<void>(parts_.release());
    return;
  }
  end_tasks(Closing::finish);
  if (Timers* const timers = parts_->timers.made()) timers->release();
}

std::size_t Engine::width() const noexcept { return parts_->threads.width(); }
std::size_t Engine::capacity() const noexcept { return parts_->options.capacity; }
std::size_t Engine::indices() const noexcept { return parts_->crew.size(); }

bool Engine::lend() noexcept { return parts_->threads.lend(); }
void Engine::take_back() noexcept { parts_->threads.take_back(); }

void Engine::tell_idle() noexcept { parts_->completion.tell(); }
void Engine::note_failure(const std::exception_ptr& failure) noexcept {
  parts_->failures.note(failure);
}

void Engine::pause() noexcept { parts_->backlog.pause(); }
void Engine::resume() noexcept { parts_->backlog.resume(); }

Worker* Engine::sit_down() noexcept { return parts_->crew.sit_down(worker_here()); }

void Engine::stand_up(Worker& guest) noexcept {
  if (parts_->crew.stand_up(guest)) tell_idle();
}

void Engine::visit(FutureState& task) noexcept {
  if (Worker* const mine = worker_here()) return mine->count(task.make_as_task());
  parts_->completion.begin_visit();
  parts_->completion.end_visit(task.make_as_task());
}

void Engine::call_on_stack(const Workplace::Call& call) noexcept {
  parts_->runner.with_stack([&call]() noexcept { call.function(call.argument); });
}

// ---- The way in, as options say -----------------------------------------------------------------

Reservation Engine::reserve(const TaskOptions& options) {
  if (!options.worker) return admission_.reserve(worker_here(), options.priority);
  check_worker(*options.worker);
  return admission_.reserve_for(*options.worker);
}

Reservation Engine::try_reserve(const TaskOptions& options) {
  if (!options.worker) return admission_.try_reserve(worker_here(), options.priority);
  check_worker(*options.worker);
  return admission_.try_reserve_for(*options.worker);
}

void Engine::check_worker(std::size_t index) const {
  if (index >= width()) misuse("ThreadPool: TaskOptions::worker is not below width()");
}

// ---- Timers -------------------------------------------------------------------------------------

Timers* Engine::timers_for(const TaskOptions& options) {
  if (options.worker) check_worker(*options.worker);
  // Now: nobody makes them once the pool is closed, and what is due must find a place all the same.
  const bool aside = options.worker || options.priority != Priority::normal;
  if (aside && parts_->backlog.side_queues() == nullptr) return nullptr;
  return parts_->timers.get(
      parts_->making_timers, [this]() -> std::unique_ptr<Timers, Timers::Release> {
        if (parts_->unqueued.closed()) return nullptr;  // close_timers() may have been here
        const auto hand_over = [](void* self, TimedTask& due) {
          static_cast<Engine*>(self)->hand_over_due(due);
        };
        const auto failed = [](void* self, const char* name) noexcept {
          static_cast<Engine*>(self)->runner().tell_failure(name);
        };
        return std::unique_ptr<Timers, Timers::Release>(
            new Timers({this, hand_over, parts_->options.name, parts_->threads.where(), failed}));
      });
}

void Engine::hand_over_due(TimedTask& due) {
  const TaskOptions& options = due.options();
  TaskPlace place = options.worker ? admission_.reserve_for(*options.worker)
                                   : admission_.reserve_due(options.priority);
  place.fill(PointerMaker<TimedTask>(&due, TimedKind::kind)).publish();
}

// After parts_->unqueued.close(), which a thread that would make what is not there sees.
void Engine::close_timers() noexcept {
  Timers* timers = nullptr;
  {
    const sync::Lock lock(parts_->making_timers);
    timers = parts_->timers.made();
  }
  if (timers != nullptr) timers->close();
}

// ---- Waiting ------------------------------------------------------------------------------------

void Engine::help_until_idle(Worker& worker) noexcept {
  sync::Backoff backoff;
  for (;;) {
    if (Task* const task = parts_->backlog.take(worker)) {
      parts_->runner.run(worker, *task);
      backoff.reset();
      // equivalent(negate): only speed: a worker that stops looking sleeps until it is told
    } else if (parts_->completion.is_idle() || !backoff.snooze()) {
      return;
    }
  }
}

Status Engine::wait(sync::Deadline deadline, const sync::StopToken& stop) {
  Worker* const here = worker_here();
  if (here != nullptr && here->depth != 0) {
    misuse("ThreadPool: wait() inside one of its own tasks would wait for itself");
  }
  // A thread that helps may be held up by a task, so only threads with no deadline or stop help.
  if (deadline == sync::no_deadline && !stop.stop_possible()) {
    if (Worker* const seat = sit_down()) {
      sync::tell_taken(&seat->taken);
      help_until_idle(*seat);
      sync::tell_given(&seat->taken);
      stand_up(*seat);
    }
  }
  const Status waited = status_of(parts_->completion.await(deadline, stop));
  if (waited != Status::ok) return waited;
  if (std::exception_ptr failure = parts_->failures.take()) {
    std::rethrow_exception(std::move(failure));
  }
  return Status::ok;
}

// ---- The end ------------------------------------------------------------------------------------

namespace {

// One close after the other; but a closure that a close ends may close again, on the same thread.
class ClosingTurn {
 public:
  explicit ClosingTurn(EngineParts& parts) noexcept
      // order: relaxed, the own thread finds what it wrote, and others something else.
      : parts_(parts), outer_(parts.closer.load(sync::order::relaxed) == sync::this_thread_id()) {
    if (outer_) return;
    parts.closing.lock();
    parts.closer.store(sync::this_thread_id(), sync::order::relaxed);  // order: relaxed, see above
  }
  ~ClosingTurn() {
    if (outer_) return;
    parts_.closer.store(nullptr, sync::order::relaxed);  // order: relaxed, see above
    parts_.closing.unlock();
  }
  ClosingTurn(const ClosingTurn&) = delete;
  ClosingTurn& operator=(const ClosingTurn&) = delete;

 private:
  EngineParts& parts_;
  const bool outer_;  // this thread is in a close already
};

}  // namespace

bool Engine::end() noexcept {
  const Worker* const here = worker_here();
  if (!origin_.is_here() || (here != nullptr && here->depth != 0)) return false;
  end_tasks(Closing::finish);
  parts_->unqueued.end();
  return true;
}

Tally Engine::close(const Closing& closing) {
  if (!origin_.is_here()) return {};
  end_tasks(closing);
  return tally();
}

void Engine::end_tasks(const Closing& closing) {
  const Worker* const here = worker_here();
  // Or in a stop that with_timeout() requests, on the thread of the timers.
  if ((here != nullptr && (here->depth != 0 || !here->guest)) || Timers::served_here() == this) {
    misuse("ThreadPool: closed or destroyed inside one of its own tasks");
  }
  const ClosingTurn turn(*parts_);
  parts_->unqueued.close();
  close_timers();  // before the queues, as its thread submits
  if (!parts_->threads.is_over()) {  // asked when no closure can close any more
    parts_->backlog.close();  // equivalent(swap): a wait for room asks neither
    if (!closing.begins_more || closing.is_late()) {
      parts_->runner.drop_rest(closing.begins_more ? Outcome::expired : Outcome::cancelled);
    }
    // equivalent(swap): two kinds of sleepers that do not know each other
    parts_->room.tell_closed();
    parts_->backlog.resume_for_good();
    finish(closing);
    parts_->threads.stop();
    // equivalent(swap): visitors and leftovers do not know each other, and both are done before it
    // returns
    drop_leftovers();
    parts_->completion.await_visitors();
  }
  parts_->failures.end({.type = "ThreadPool", .name = parts_->options.name});
}

// Until nothing is unfinished. What has not begun by the deadline expires.
void Engine::finish(const Closing& closing) noexcept {
  if (parts_->completion.await(closing.deadline) == sync::Wakeup::notified) return;
  parts_->runner.drop_rest(Outcome::expired);
  (void)parts_->completion.await(sync::no_deadline);
}

// Everything has been counted; but entries may be left of tasks that were run by threads that
// waited for them.
void Engine::drop_leftovers() noexcept {
  Worker& worker = parts_->crew.worker(0);
  while (Task* const task = parts_->backlog.take(worker)) parts_->runner.run(worker, *task);
}

Tally Engine::tally() const {
  Tally tally = parts_->completion.tally();
  if (Timers* const timers = parts_->timers.made()) {
    const Timers::Figures figures = timers->figures();
    // equivalent(swap) all: two sums; two members of one answer
    tally.accepted += figures.waiting + figures.cancelled;
    tally.cancelled += figures.cancelled;
  }
  tally.pending = tally.accepted - tally.done - tally.failed - tally.cancelled - tally.expired;
  tally.first_failure = parts_->failures.first();
  return tally;
}

PoolStatistics Engine::statistics() const {
  PoolStatistics now;
  parts_->crew.add_to(now);  // equivalent(swap) all: different figures
  parts_->threads.add_to(now);
  now.from_outside = parts_->backlog.accepted();
  now.run_by_caller = parts_->unqueued.finished();
  return now;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
