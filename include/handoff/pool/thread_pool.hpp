// SPDX-License-Identifier: MIT
//
// Threads that run tasks.
//
//   handoff::ThreadPool pool;                  // as many threads as there are CPUs for it
//   auto f = pool.submit(describe, 1, 2, 3);   // handoff::Future<std::string>
//   pool.post([] { ... });                     // no result, no allocation
//   pool.post(redraw, {.priority = handoff::Priority::high});
//   handoff::parallel_for(pool, 0, n, [&](std::size_t i) { ... });  // pool/parallel_for.hpp
//   handoff::Tally tally = pool.close(handoff::Closing::finish);
//
// For: tasks of many kinds and sizes, tasks that make tasks; with the mode `cached`, tasks that
// sleep or wait for input most of their time. Not for: one loop that runs again and again (a
// ThreadTeam starts it faster).
//
// Contract: executor tier; run() and start() belong to the bulk tier.
// - Concurrency: thread-safe. Inside a task of this pool wait(), close() and destruction are
//   misuse: the task would wait for itself. When the destructor begins, no other call may be going
//   on.
// - Order: what came before a hand-over happens before the task. In the modes `fixed` and `cached`
//   tasks of one priority begin in the order of their hand-over. In `stealing` and `active` tasks
//   have no order.
// - Blocks: wait() and close(), until the tasks are done; post() and submit(), only on a full pool
//   with OnFull::wait. A wait() without a limit runs tasks meanwhile.
// - Allocates: post() nothing for a closure of up to 48 bytes, once the queue has grown to what is
//   needed; the pool keeps that memory. submit() allocates once. If a call throws std::bad_alloc,
//   or what the copy of a function threw, nothing was handed over. If the function is moved, and
//   that throws, its place counts as cancelled.
// - Full: only with a capacity. Inside a task of this pool OnFull::wait acts as run_here, so a pool
//   cannot block itself. If sixteen such tasks run inside each other, or the stack is short, the
//   next one goes into the queue beyond the capacity.
// - Closed: while the pool drains it refuses new tasks from its own tasks too. TaskGroups and loops
//   of those tasks go on.
// - Exceptions: an exception goes to the task's Future or TaskGroup; without one, to on_error;
//   without that, the next wait() rethrows the first; others, and one that no wait() took, are
//   unheard (core/on_unheard.hpp). The task counts as failed, and other tasks go on.
//
// Which mode and which call, later tasks, the end: docs/guide/pools.md, docs/guide/shutdown.md. How
// it works: docs/design/thread_pool.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/bulk.hpp>
#include <handoff/core/closing.hpp>
#include <handoff/core/executor.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/internal/future_work.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/limited.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/internal/raw_box.hpp>
#include <handoff/core/kernel.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/core/on_full.hpp>
#include <handoff/core/priority.hpp>
#include <handoff/core/run_options.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/until.hpp>
#include <handoff/pool/detail/closure_maker.hpp>
#include <handoff/pool/detail/engine.hpp>
#include <handoff/pool/detail/future_kind.hpp>
#include <handoff/pool/detail/pool_run.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/pool/detail/task_place.hpp>
#include <handoff/pool/detail/timed_task.hpp>
#include <handoff/pool/detail/worker.hpp>
#include <handoff/pool/statistics.hpp>
#include <handoff/pool/task_options.hpp>
#include <handoff/pool/thread_pool_options.hpp>
#include <handoff/pool/timer_handle.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/internal/sanitizer.hpp>
#include <handoff/sync/stop_token.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
template <class F>
concept IsTask = std::is_invocable_v<std::decay_t<F>&>;
template <class... Args>
concept AreTaskOptions =
    (sizeof...(Args) == 1) && (std::is_same_v<std::remove_cvref_t<Args>, TaskOptions> && ...);
template <class Waits>
concept IsAfter = requires { typename std::remove_cvref_t<Waits>::WaitedFor; };
}  // namespace detail

class ThreadPool {
 public:
  // The most threads of a pool.
  static constexpr std::size_t max_width = 4096;

  // Throws std::system_error if the system refuses the first thread, or one of `cpus` is none that
  // it may run on; if it refuses another thread, the pool works with those it got. Throws
  // std::bad_alloc. Either way nothing is left behind.
  explicit ThreadPool(const ThreadPoolOptions& options = {})
      : engine_(std::make_unique<detail::Engine>(options)) {}
  // With this many threads: ThreadPool pool(4).
  explicit ThreadPool(std::size_t width) : ThreadPool(ThreadPoolOptions{.width = width}) {}
  ThreadPool(ThreadPool&&) noexcept = default;
  ThreadPool& operator=(ThreadPool&&) noexcept = default;

  // Calls function() once, on one of the threads. Throws NotRun if refused.
  template <class F>
  void post(F&& function) {
    static_assert(detail::IsTask<F>, "a task takes no arguments: capture what it needs");
    if constexpr (detail::CopyMayThrow<F>) {
      post(std::decay_t<F>(function));
    } else {
      detail::ClosureMaker<std::decay_t<F>> maker;
      detail::TaskPlace place = engine_->reserve();
      accepted(place.status());
      place.fill(maker, std::forward<F>(function)).publish();
    }
  }
  template <class F>
  void post(F&& function, const TaskOptions& options) {
    static_assert(detail::IsTask<F>, "a task takes no arguments: capture what it needs");
    const auto reserve = [&] { return engine_->reserve(options); };
    accepted(hand_over(reserve, detail::copied_first<F>(function), options), options.name);
  }

  // The same, and neither waits for room nor runs the function here. ok, full or closed.
  template <class F>
  Status try_post(F&& function) {
    static_assert(detail::IsTask<F>, "a task takes no arguments: capture what it needs");
    if constexpr (detail::CopyMayThrow<F>) {
      return try_post(std::decay_t<F>(function));
    } else {
      detail::ClosureMaker<std::decay_t<F>> maker;
      detail::TaskPlace place = engine_->try_reserve();
      if (place) place.fill(maker, std::forward<F>(function)).publish();
      return place.status();
    }
  }
  template <class F>
  Status try_post(F&& function, const TaskOptions& options) {
    static_assert(detail::IsTask<F>, "a task takes no arguments: capture what it needs");
    const auto reserve = [&] { return engine_->try_reserve(options); };
    return hand_over(reserve, detail::copied_first<F>(function), options);
  }

  // try_post() of each callable of the range, moved; returns the iterator to the first that was
  // refused, which is unmoved.
  template <std::input_iterator It, std::sentinel_for<It> S>
  [[nodiscard]] It try_post_all(It first, S last) {
    for (; first != last; ++first) {
      if (try_post(std::move(*first)) != Status::ok) break;
    }
    return first;
  }

  // Calls function(args...) once, with copies of them, and keeps the result; or, if it takes one,
  // function(sync::StopToken, args...), with a token that Future::request_stop() stops. Throws
  // NotRun if refused.
  template <class F, class... Args>
    requires(!detail::AreTaskOptions<Args...> && !detail::IsAfter<F>)
  auto submit(F&& function, Args&&... args) {
    static_assert(detail::IsWork<std::decay_t<F>, std::decay_t<Args>...>,
                  "submit: the function takes the arguments that follow it; for T& use std::ref()");
    static_assert((std::is_constructible_v<std::decay_t<Args>, Args> && ...),
                  "submit: keeps copies of the arguments: std::move() those that have none");
    using Result = detail::WorkResult<std::decay_t<F>, std::decay_t<Args>...>;
    using Work = detail::FutureWork<Result, std::decay_t<F>, std::decay_t<Args>...>;
    const auto reserve = [this] { return engine_->reserve(); };
    Status said = Status::ok;
    Future<Result> future =
        submit_work<Result, Work>(reserve, said, false, detail::copied_first<F>(function),
                                  detail::copied_first<Args>(args)...);
    accepted(said);
    return future;
  }
  // The same with the results of Futures as arguments, once they are there:
  // submit(after(std::move(a), std::move(b)), function); include <handoff/graph/after.hpp>.
  template <detail::IsAfter Waits, class F>
  auto submit(Waits&& results, F&& function) {
    return std::forward<Waits>(results).submit_to(*this, std::forward<F>(function));
  }
  // With options; the function has its arguments as captures.
  template <class F>
  auto submit(F&& function, const TaskOptions& options) {
    static_assert(detail::IsWork<std::decay_t<F>>,
                  "submit: with options the function takes no arguments: capture what it needs");
    const auto reserve = [&] { return engine_->reserve(options); };
    Status said = Status::ok;
    auto future = submit_limited(reserve, said, detail::copied_first<F>(function), options);
    accepted(said, options.name);
    return future;
  }

  // The same, and neither waits for room nor runs the function here: ok, and `future` is that of
  // the task; or full or closed.
  template <class R, class F>
  Status try_submit(Future<R>& future, F&& function, const TaskOptions& options = {}) {
    static_assert(detail::IsWork<std::decay_t<F>>,
                  "try_submit: the function takes no arguments: capture what it needs");
    static_assert(std::is_same_v<R, detail::WorkResult<std::decay_t<F>>>,
                  "try_submit: the Future is one of what the function returns");
    const auto reserve = [&] { return engine_->try_reserve(options); };
    Status said = Status::ok;
    Future<R> made = submit_limited(reserve, said, detail::copied_first<F>(function), options);
    if (said == Status::ok) future = std::move(made);
    return said;
  }

  // Calls function() once, as soon as a worker is free from that moment on. Those of one moment are
  // handed over in the order in which they were asked for. Throws NotRun if closed, and
  // std::system_error if the system refuses the thread that waits; then nothing was taken. The
  // handle calls it off, and need not be kept. The options hold from the moment on: a stop before
  // it leaves the function where it is until then.
  template <class F>
  TimerHandle post_at(sync::Deadline moment, F&& function, const TaskOptions& options = {}) {
    static_assert(detail::IsTask<F>, "a task takes no arguments: capture what it needs");
    return timed(moment, sync::clock::duration::zero(), options, std::forward<F>(function));
  }
  template <class Rep, class Period, class F>
  TimerHandle post_after(std::chrono::duration<Rep, Period> delay, F&& function,
                         const TaskOptions& options = {}) {
    static_assert(detail::IsTask<F>, "a task takes no arguments: capture what it needs");
    return post_at(sync::deadline_after(delay), std::forward<F>(function), options);
  }

  // Calls function() again and again until the handle or a close() ends it, for the first time when
  // a period has passed. The rate is fixed: runs are due at multiples of the period. None begins
  // while the one before it goes on: those whose moments pass meanwhile are left out, and the next
  // one is due at the first multiple that is still to come. (For a pause between end and beginning,
  // let the function ask for post_after().) Each run counts as a task. One that throws is
  // treated as any task that throws, and the next one comes. The first run that options.until
  // keeps from beginning ends the series. A period of nothing is misuse.
  template <class Rep, class Period, class F>
  TimerHandle post_every(std::chrono::duration<Rep, Period> period, F&& function,
                         const TaskOptions& options = {}) {
    static_assert(detail::IsTask<F>, "a task takes no arguments: capture what it needs");
    if (!(period > period.zero())) {
      misuse("ThreadPool: post_every() with a period of nothing or less");
    }
    return timed(sync::deadline_after(period), detail::whole_nanoseconds(period), options,
                 std::forward<F>(function));
  }

  // Calls body(IndexRange) for blocks that cover [0, count) once, on several threads at once.
  // Returns what became of the indices; rethrows the first failure when all have been run.
  template <class Body>
  Tally run(std::size_t count, const Body& body, const RunOptions& options = {}) {
    static_assert(std::is_invocable_v<const Body&, IndexRange>,
                  "run: the body takes a handoff::IndexRange; parallel_for() takes single indices");
    const sync::Waited waited(host());
    Tally tally = with_block_call(body, [&](BlockCall call, const void* work) {
      return detail::run_in_pool(*engine_, count, call, work, options);
    });
    if (tally.first_failure) std::rethrow_exception(std::move(tally.first_failure));
    return tally;
  }

  // What the pool keeps of a started run.
  class BulkStorage {
    friend class ThreadPool;
    detail::PoolRun run_;
  };

  // Begins a run and returns. ok: work.ended() will be called, once; full, closed: it will not.
  // Both references must hold until then. BulkOperation makes this from two functions.
  Status start(std::size_t count, BulkWork& work, BulkStorage& storage,
               const RunOptions& options = {}) {
    return storage.run_.start(*engine_, count, work, options);
  }

  // parallel_for.hpp of this room has a loop for pools.
  using OwnLoop = void;

  // Until nothing is unfinished. The caller helps, if it may wait for ever. Rethrows the first
  // failure, since the last call, of tasks with neither Future nor TaskGroup nor on_error.
  void wait() {
    const sync::Waited waited(host());
    (void)engine_->wait(sync::no_deadline, {});
  }
  // ok, stopped or timed_out.
  Status wait(const Until& until) {
    const sync::Waited waited(host());
    return engine_->wait(until.deadline(), until.stop_token());
  }

  // co_await schedule() goes on as a task of this pool; include <handoff/pool/coroutine.hpp>.
  auto schedule(Priority priority = Priority::normal) noexcept;

  // As a scheduler of std::execution; include <handoff/pool/scheduler.hpp>.
  auto get_scheduler() noexcept;

  // Until resume() the workers begin no task. A worker that is just taking one may still begin it:
  // a task from before the pause, or one that another task made. What has begun goes on, and so do
  // the tasks of its groups and loops that it runs itself while it waits. wait() waits. close()
  // resumes for good. Any number of times, from any thread: the last call counts.
  void pause() noexcept { engine_->pause(); }
  void resume() noexcept { engine_->resume(); }

  // See the head comment.
  Tally close(const Closing& closing = Closing::finish) {
    const sync::Waited waited(host());
    return engine_->close(closing);
  }

  // What became of the tasks so far. Exact when nothing is being handed over.
  [[nodiscard]] Tally tally() const { return engine_->tally(); }

  // What the workers have been doing.
  [[nodiscard]] PoolStatistics statistics() const { return engine_->statistics(); }

  // Threads: what was asked for, or fewer where the system refused them; of `cached` the most there
  // may be at a time.
  [[nodiscard]] std::size_t width() const noexcept { return engine_->width(); }

  // How many tasks may wait to begin; `unbounded`: any number.
  [[nodiscard]] std::size_t capacity() const noexcept { return engine_->capacity(); }

  // The calling thread's index in this pool: below width() for its own threads, below index_count()
  // for a thread that helps; std::nullopt for others, which compares as less than any index.
  [[nodiscard]] std::optional<std::size_t> worker_index() const noexcept {
    const detail::Worker* const worker = engine_->worker_here();
    if (worker == nullptr) return std::nullopt;
    return worker->index;
  }

  // One more than the largest worker_index(); of a pool of this width that is still to be made.
  [[nodiscard]] std::size_t index_count() const noexcept { return engine_->indices(); }
  [[nodiscard]] static std::size_t index_count(std::size_t width) noexcept {
    return detail::min(width, max_width) + detail::Worker::most_guests;
  }

 private:
  friend detail::Engine& detail::engine_of(ThreadPool& pool) noexcept;

  const detail::FutureHost* host() const noexcept { return engine_.get(); }

  static void accepted(Status status, const char* name = "") {
    if (status != Status::ok) [[unlikely]]
      refused(status, name);
  }
  [[noreturn, gnu::cold, gnu::noinline]] static void refused(Status why, const char* name = "") {
    raise(NotRun(why, name));
  }

  static detail::Limits limits_of(const TaskOptions& options) {
    return {.until = options.until, .name = options.name};
  }

  // The closure is no larger than the options need.
  template <class Reserve, class F>
  static Status hand_over(const Reserve& reserve, F&& function, const TaskOptions& options) {
    using Function = std::decay_t<F>;
    if (options.until.has_deadline() || *options.name != 0) {
      using Closure = detail::Limited<detail::Limits, Function>;
      return hand_over_as<Closure>(reserve, detail::LimitedOf<detail::Limits, F>{
                                                limits_of(options), std::forward<F>(function)});
    }
    if (const sync::StopToken& stop = options.until.stop_token(); stop.stop_possible()) {
      using Closure = detail::Limited<detail::StopLimit, Function>;
      return hand_over_as<Closure>(
          reserve, detail::LimitedOf<detail::StopLimit, F>{{stop}, std::forward<F>(function)});
    }
    return hand_over_as<Function>(reserve, std::forward<F>(function));
  }
  template <class Closure, class Reserve, class Given>
  static Status hand_over_as(const Reserve& reserve, Given&& given) {
    detail::ClosureMaker<Closure> maker;
    detail::TaskPlace place = reserve();
    if (place) place.fill(maker, std::forward<Given>(given)).publish();
    return place.status();
  }

  // Empty if refused. `pinned`: nobody but the worker that it is handed to may begin it.
  template <class Result, class Work, class Reserve, class... Given>
  Future<Result> submit_work(const Reserve& reserve, Status& said, bool pinned, Given&&... given) {
    detail::RawBox<Work> box;
    detail::TaskPlace place = reserve();
    said = place.status();
    if (said != Status::ok) [[unlikely]]
      return {};
    Work* const work = box.make(engine_.get(), std::forward<Given>(given)...);
    if (pinned) work->leave_to_task();
    const detail::TaskKind& kind =
        pinned ? detail::PinnedFutureKind::kind : detail::FutureKind::kind;
    place.fill(detail::PointerMaker<detail::FutureState>(work, kind)).publish();
    return detail::FutureAccess::make<Result>(work);
  }

  template <class Reserve, class F>
  auto submit_limited(const Reserve& reserve, Status& said, F&& function,
                      const TaskOptions& options) {
    using Result = detail::WorkResult<std::decay_t<F>>;
    using Work = detail::LimitedWork<Result, std::decay_t<F>>;
    return submit_work<Result, Work>(reserve, said, options.worker.has_value(), limits_of(options),
                                     std::forward<F>(function));
  }

  template <class F>
  TimerHandle timed(sync::Deadline moment, sync::clock::duration period, const TaskOptions& options,
                    F&& function) {
    detail::Timers* const timers = engine_->timers_for(options);
    detail::TimedTask* const task =
        timers == nullptr
            ? nullptr
            : detail::add_timed(*timers, moment, period, options, std::forward<F>(function));
    if (task == nullptr) refused(Status::closed, options.name);
    return TimerHandle(*task);
  }

  std::unique_ptr<detail::Engine> engine_;
};

static_assert(Executor<ThreadPool> && Bulk<ThreadPool>);

namespace detail {
inline Engine& engine_of(ThreadPool& pool) noexcept { return *pool.engine_; }
template <class E>
struct LoopOn;  // of core/parallel_for.hpp
}  // namespace detail

// Without the header of the loops: says so.
template <class Pool, class... Given>
  requires(std::is_same_v<Pool, ThreadPool> && !requires { sizeof(detail::LoopOn<Pool>); })
Tally parallel_for(Pool&, Given&&...) {
  static_assert(sizeof(Pool) == 0, "parallel_for: include <handoff/pool/parallel_for.hpp>");
  return {};
}

// A pool for the whole program, with the defaults, made at its first use. It drains when the
// program's static objects end, after those that were made later than it. From then on post(),
// submit() and start() run the task on the calling thread, try_post() says `closed`, and timers are
// refused. exit() inside one of its tasks leaves it as it is.
ThreadPool& default_pool();

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
