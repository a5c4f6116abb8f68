// SPDX-License-Identifier: MIT
//
// Tasks whose result is a std::future and nothing else.
//
//   std::future<int> f = submit_std(pool, work);
//
// For: interfaces that ask for a std::future; cheaper than submit(work).to_std(). Not for: waiting
// inside a task, where a std::future does not help (core/to_std.hpp).
// A header of its own, because <future> is large.
//
// Contract: executor tier.
// - Concurrency, order: as ThreadPool::submit(). The std::future becomes ready on the thread that
//   ran the task.
// - Blocks: as submit(). Unlike one from std::async, the std::future's destructor does not.
// - Allocates: the promise, and more only for closures above 16 bytes.
// - Full, closed: throws NotRun. A task that was dropped gives NotRun.
// - Exceptions: what the task threw is the std::future's.
#pragma once

#include <exception>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/future_state.hpp>
#include <handoff/core/internal/future_work.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/core/status.hpp>
#include <handoff/pool/detail/closure_maker.hpp>
#include <handoff/pool/detail/engine.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/pool/detail/task_place.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/sync/internal/std_future.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {

// A closure with its arguments and the promise of its result, for one call or none.
//
// Invariant: while engine_ is not null call_ lives, and the promise is unkept.
template <class R, class F, class... Args>
class StdTask {
 public:
  template <class... Given>
  StdTask(Engine& engine, sync::StdPromise<R>& promise, Given&&... given)
      : call_(std::forward<Given>(given)...), promise_(std::move(promise)), engine_(&engine) {}
  StdTask(StdTask&& other) noexcept(std::is_nothrow_move_constructible_v<std::tuple<F, Args...>>)
      : call_(std::move(other.call_)), promise_(std::move(other.promise_)), engine_(other.engine_) {
    // equivalent(delete): the destructor of what was moved from does the same a moment later
    other.end_call();
  }
  ~StdTask() {
    // equivalent(return_early) all: a run, a drop or a move has ended the call before
    if (engine_ != nullptr) end_call();
  }

  // The closure ends before anybody hears: it may hold what the waiting thread is about to end.
  Outcome operator()() {
    const auto failed = [this, &engine = *engine_]() noexcept {
      if (engine_ != nullptr) end_call();
      engine.note_failure(std::current_exception());
      promise_.set_exception(std::current_exception());
    };
    return attempt([this] { call(); }, failed) ? Outcome::done : Outcome::failed;
  }

  void dropped(Outcome why) noexcept {
    end_call();
    promise_.set_exception(failure_of(reason_of(why)));
  }

 private:
  void call() {
    if constexpr (std::is_void_v<R>) {
      call_as_moved<R>(call_);
      end_call();
      promise_.set_value();
    } else {
      R made = call_as_moved<R>(call_);
      end_call();
      promise_.set_value(std::forward<R>(made));
    }
  }
  void end_call() noexcept {
    std::destroy_at(std::addressof(call_));  // equivalent(swap): nobody asks while the call ends
    engine_ = nullptr;
  }

  union {
    std::tuple<F, Args...> call_;
  };
  sync::StdPromise<R> promise_;
  Engine* engine_;
};

}  // namespace detail

// Calls function(args...) once on a thread of the pool, with copies of them.
template <class F, class... Args>
  requires std::is_invocable_v<std::decay_t<F>, std::decay_t<Args>...>
[[nodiscard]] auto submit_std(ThreadPool& pool, F&& function, Args&&... args) {
  using Result = detail::KeptResult<std::decay_t<F>, std::decay_t<Args>...>;
  using Work = detail::StdTask<Result, std::decay_t<F>, std::decay_t<Args>...>;
  detail::Engine& engine = detail::engine_of(pool);
  sync::StdPromise<Result> promise;
  sync::StdFuture<Result> future = promise.get_future();
  detail::ClosureMaker<Work> maker;
  detail::TaskPlace place = engine.reserve();
  if (!place) raise(NotRun(place.status()));
  place.fill(maker, engine, promise, std::forward<F>(function), std::forward<Args>(args)...)
      .publish();
  return future;
}

}}  // namespace handoff::HANDOFF_ABI
