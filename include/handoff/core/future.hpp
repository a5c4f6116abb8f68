// SPDX-License-Identifier: MIT
//
// A result to come: of a task, or of an operation that goes on elsewhere.
//
//   handoff::Future<std::string> f = pool.submit(describe, 1, 2, 3);
//   std::string s = f.get();                              // the result, or what describe() threw
//   auto length = pool.submit(read, path).then([](Text t) { return t.size(); });
//   auto text = pool.submit(read, path).on_failure([](std::exception_ptr) { return Text(); });
//   Text t = co_await pool.submit(read, path);            // in any coroutine
//
// For: one result for one reader. R may be void, a reference, or any type that can be moved. Not
// for: several readers (SharedFuture), many tasks that end together (TaskGroup).
//
// Contract: executor tier.
// - Concurrency: one thread at a time, as a std::unique_ptr. It may outlive its executor.
// - Order: what came before submit() happens before the task. The task, and the end of its closure
//   and arguments, happens before get() returns.
// - Blocks: wait() and get(), not the destructor. Outside of tasks they spin a little, then sleep.
// - Inside a task of any executor wait() and get() run the task that they wait for, if it has not
//   begun; for a result of then() or when_all(), the tasks behind it. They run nothing else. So
//   tasks may wait for Futures to any depth, on one worker too.
// - If nothing is left to run, and what is missing comes from another executor or from none, a
//   stand-in works meanwhile, as in blocking() (pool/blocking.hpp). For tasks of the same pool
//   alone there is none, unless the waiting task has handed over others that nobody has begun.
// - wait() with a deadline or a stop token neither runs a task nor gets a stand-in, so inside a
//   task it holds up a worker. A std::future (to_std.hpp) does the same. Put such waits into
//   blocking().
// - What follows a result (then(), co_await, senders) runs on the thread that makes it, before that
//   call returns. Where sixteen such calls lie inside each other, or the stack is short, it runs
//   when the call around it ends or waits.
// - Coroutines: co_await gives what get() gives. If the result is ready, the coroutine goes on at
//   once. An exception that leaves a resumed coroutine ends the program. Do not destroy a coroutine
//   that awaits. If its promise has unhandled_stopped(), as in std::execution, it is stopped where
//   get() would throw NotRun (stopped); so a Future is a sender there.
// - Allocates: nothing; submit() did, once. then(): once; twice if its function returns a Future.
// - Exceptions: get() rethrows what the task threw; unread it is unheard (on_unheard.hpp). For a
//   dropped task it throws NotRun: stopped after a cancel, a close or a stop token; timed_out if it
//   expired. An empty Future is misuse; so is NotRun without exceptions.
//
// Waits inside tasks: docs/guide/pools.md. How it works: docs/design/future.md.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/executor.hpp>
#include <handoff/core/internal/future_state.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/raw_box.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/sanitizer.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
struct FutureAccess;
}  // namespace detail

template <class R>
class FutureAwaiter;

template <class R>
class [[nodiscard("take the result, or post() what nobody waits for")]] Future {
 public:
  using value_type = R;

  Future() noexcept = default;  // empty
  Future(Future&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  Future& operator=(Future&& other) noexcept {
    if (this != &other) {
      reset();
      state_ = std::exchange(other.state_, nullptr);
    }
    return *this;
  }
  ~Future() { reset(); }

  // False once it was moved from, taken by get() or continued by then().
  [[nodiscard]] bool valid() const noexcept { return state_ != nullptr; }

  // Whether get() would give the result, or throw, at once.
  [[nodiscard]] bool is_ready() const { return state().is_ready(); }

  // Until the result is ready. See the head comment for what happens inside a task.
  void wait() const {
    (void)state().wait(sync::no_deadline, {});
    sync::taken(&state());
  }
  // ok, timed_out or stopped. Neither helps nor lends, unless it may wait for ever.
  Status wait(const Until& until) const {
    if (state().is_ready()) return Status::ok;
    const Status said = state().wait(until.deadline(), until.stop_token());
    if (said == Status::ok) sync::taken(&state());
    return said;
  }

  // The result, once; empty afterwards.
  R get() {
    wait();
    const Future used = std::move(*this);
    return used.state_->take();
  }

  // Drops the task if it has not begun: get() then throws NotRun (stopped), and the executor counts
  // it as cancelled. False: it has begun, or no executor has it (then(), when_all(), an operation).
  bool cancel() noexcept { return state_ != nullptr && state_->cancel(); }

  // Asks all tasks behind this Future to stop, also those before then(), when_all() and when_any():
  // one that has not begun is dropped, as by cancel(); one that runs hears of it by the stop token
  // that it takes: submit([](sync::StopToken stop) { ... }). What they come to, get() still gives.
  // False: there is none that was not asked before. A StopCallback of such a token runs in here,
  // and must not wait for what follows its task.
  bool request_stop() noexcept { return state_ != nullptr && state_->request_stop(); }

  // The Future of function(result). It runs right behind the task, on its thread; or here if the
  // result is ready; or in a task that waits for it. If there is no result it does not run, and
  // what get() would have thrown is passed on. If the function returns a Future<U>, this is a
  // Future<U> too, with what that one comes to. Empty afterwards.
  template <class F>
  auto then(F&& function) &&;
  // The same, but the function runs as a task of `executor`, which must live until this Future is
  // ready. If the executor refuses it or ends without it, get() throws NotRun: full, closed; or
  // stopped. What the function throws is get()'s, and the executor counts its task as done.
  template <Executor E, class F>
  auto then(E& executor, F&& function) &&;
  template <class F>
  void then(F&&) & {
    static_assert(std::is_void_v<F>, "then: takes the Future away: std::move(future).then(f)");
  }

  // A Future of the same result. If there is none, it has what function(std::exception_ptr) returns
  // or throws, given what get() would have thrown; that runs where a function of then() would.
  // Empty afterwards.
  template <class F>
  Future on_failure(F&& function) &&;

  // The same result for many readers; include <handoff/core/shared_future.hpp>. Empty afterwards.
  auto share() &&;

  // The result, without blocking a thread. Empty afterwards.
  FutureAwaiter<R> operator co_await() { return FutureAwaiter<R>(std::move(*this)); }

  // The same result as a std::future; include <handoff/core/to_std.hpp>. Empty afterwards.
  auto to_std() &&;

  // The same as a sender of std::execution; include <handoff/core/future_sender.hpp>. Empty
  // afterwards.
  auto as_sender() &&;

 private:
  friend struct detail::FutureAccess;
  explicit Future(detail::FutureResult<R>* state) noexcept : state_(state) {}

  detail::FutureResult<R>& state() const {
    if (state_ == nullptr) misuse("Future: an empty one was used; see valid()");
    return *state_;
  }
  void reset() noexcept {
    if (state_ != nullptr) std::exchange(state_, nullptr)->leave();
  }

  detail::FutureResult<R>* state_ = nullptr;
};

namespace detail {

struct FutureAccess {
  template <class R>
  static Future<R> make(FutureResult<R>* state) noexcept {
    return Future<R>(state);
  }
  // The state of a Future; an empty one is misuse.
  template <class R>
  static FutureResult<R>& state(const Future<R>& future) {
    return future.state();
  }
  // Its share.
  template <class R>
  static StateOwner<R> release(Future<R>& future) {
    StateOwner<R> state(&future.state());
    future.state_ = nullptr;
    return state;
  }
  // ... for what follows it.
  template <class R>
  static SourceOwner<R> release_source(Future<R>& future) {
    return SourceOwner<R>(release(future).release());
  }
};

template <class F, class R>
concept TakesResult = (std::is_void_v<R> && std::is_invocable_v<F>) || std::is_invocable_v<F, R>;

template <class F, class R>
struct ThenResult {
  using type = KeptResult<F, R>;
};
template <class F>
struct ThenResult<F, void> {
  using type = KeptResult<F>;
};

// What then() makes of a result that is there.
template <class R, class F>
struct Follow {
  using Result = typename ThenResult<F, R>::type;
  static constexpr bool wants_failure = false;

  static Result make(F&& function, FutureResult<R>& before) {
    if constexpr (std::is_void_v<R>) {
      // equivalent(delete): of nothing there is nothing to take, and a failure was taken before
      before.take();
      return detail::invoke(std::move(function));
    } else {
      return detail::invoke(std::move(function), before.take());
    }
  }
};

// What on_failure() makes of a result that is there, or not.
template <class R, class F>
struct Replace {
  using Result = R;
  static constexpr bool wants_failure = true;

  static R make(F&& function, FutureResult<R>& before) {
    if (!before.has_failed()) return before.take();
    return detail::invoke(std::move(function), before.failure());
  }
};

// Made by Step of `before`, when that is there.
template <class R, class F, class Step>
class Continuation final : public FutureResult<typename Step::Result> {
 public:
  using Result = typename Step::Result;

  template <class Given>
  Continuation(FutureResult<R>* before, Given&& function)
      : FutureResult<Result>(nullptr),
        function_(std::in_place, std::forward<Given>(function)),
        before_(SourceOwner<R>(before)) {}

  static FutureState::Next call(void* self) noexcept {
    return static_cast<Continuation*>(self)->follow();
  }

 private:
  Outcome compute() noexcept override {
    const sync::Turn turn(this);
    FutureResult<R>& before = *before_.read();
    if (Step::wants_failure || !this->take_failure_of(before)) {
      (void)this->keep([&]() -> Result { return Step::make(std::move(*function_), before); });
    }
    discard();
    return Outcome::elsewhere;
  }
  void discard() noexcept override {
    const sync::Turn turn(this);
    function_.reset();  // equivalent(swap): which of the two ends first is promised to nobody
    before_.write().reset();
  }
  void destroy() noexcept override { RawBox<Continuation>::destroy(this); }
  FutureState::Way* way() noexcept override { return &way_; }
  FutureState* source(std::size_t index) noexcept override {
    const sync::Turn turn(this);
    return index == 0 ? before_.read().get() : nullptr;
  }

  std::optional<F> function_;
  sync::cell<SourceOwner<R>> before_;
  FutureState::Way way_;
};

// Made by Step of `before`, when that is there, in a task of an executor.
template <class R, class F, class Step, class E>
class HandedContinuation final : public FutureResult<typename Step::Result> {
 public:
  using Result = typename Step::Result;

  template <class Given>
  HandedContinuation(FutureResult<R>* before, Given&& function, E& executor)
      : FutureResult<Result>(nullptr),
        function_(std::in_place, std::forward<Given>(function)),
        executor_(executor),
        before_(*before) {
    this->set_handed();
  }

  static FutureState::Next call(void* self) noexcept {
    static_cast<HandedContinuation*>(self)->hand_over();
    return {};
  }

 private:
  // Destroyed uncalled it is dropped.
  class Handed {
   public:
    explicit Handed(HandedContinuation* next) noexcept : next_(next) {}
    Handed(Handed&& other) noexcept : next_(std::exchange(other.next_, nullptr)) {}
    Handed& operator=(Handed&&) = delete;
    ~Handed() {
      if (next_ != nullptr) next_->drop(Status::stopped);
    }
    void operator()() noexcept { std::exchange(next_, nullptr)->run(); }
    // Whether nobody has taken it; then it is given up.
    bool take_back() noexcept { return std::exchange(next_, nullptr) != nullptr; }

   private:
    HandedContinuation* next_;
  };

  // Behind an executor's yes it may be gone.
  void hand_over() noexcept {
    sync::taken(this);
    if (this->take_failure_of(before_)) return end();
    Handed task(this);
    Status said = Status::ok;
    std::exception_ptr thrown;
    // Full is a failure, which is heard. Closed is none: nobody wants the work any more.
    const auto post = [&] {
      said = executor_.try_post(std::move(task));
      if (said == Status::full) thrown = failure_of(said);
    };
    (void)attempt(post, [&thrown]() noexcept { thrown = std::current_exception(); });
    if ((said == Status::ok && !thrown) || !task.take_back()) return;
    if (!thrown) return drop(said);
    this->set_error(std::move(thrown));
    end();
  }
  void run() noexcept {
    (void)this->keep([this]() -> Result { return Step::make(std::move(*function_), before_); });
    end();
  }
  void drop(Status why) noexcept {
    this->set_not_run(why);
    end();
  }
  void end() noexcept {
    FutureResult<R>& before = before_;  // behind given() a reader may end this
    function_.reset();
    before.end_result();
    sync::given(this);
    this->finish_behind(before);
  }
  // For the holder that the end was left to.
  Outcome compute() noexcept override {
    before_.leave_heard();
    return Outcome::elsewhere;
  }
  void destroy() noexcept override { RawBox<HandedContinuation>::destroy(this); }
  FutureState::Way* way() noexcept override { return &way_; }
  FutureState* source(std::size_t index) noexcept override {
    const sync::Turn turn(this);
    return index == 0 ? &before_ : nullptr;
  }

  std::optional<F> function_;
  E& executor_;
  FutureResult<R>& before_;  // its Future's share is ours until the end
  FutureState::Way way_;
};

// The result of the Future that is the result of `outer`.
template <class U>
class Unwrapped final : public FutureResult<U> {
 public:
  explicit Unwrapped(FutureResult<Future<U>>* outer)
      : FutureResult<U>(nullptr), outer_(SourceOwner<Future<U>>(outer)) {}

  // Once the Future is there.
  static FutureState::Next reach_inner(void* self) noexcept {
    sync::taken(self);
    auto& unwrapped = *static_cast<Unwrapped*>(self);
    FutureResult<Future<U>>& outer = *unwrapped.outer_.read();
    if (outer.has_failed()) return unwrapped.follow();
    Future<U> future = outer.take();
    if (!future.valid()) return unwrapped.follow();
    FutureResult<U>* const inner = FutureAccess::release(future).release();
    // order: release pairs with the acquire in source(): the state.
    unwrapped.inner_.store(inner, sync::order::release);
    // Behind this call it may be gone, unless it returns false.
    return inner->continue_later({&end, self}) ? FutureState::Next{} : unwrapped.follow();
  }

 private:
  static FutureState::Next end(void* self) noexcept {
    return static_cast<Unwrapped*>(self)->follow();
  }

  FutureResult<U>* inner() const noexcept {
    // order: acquire pairs with the release in reach_inner().
    return inner_.load(sync::order::acquire);
  }
  Outcome compute() noexcept override {
    const sync::Turn turn(this);
    const SourceOwner<U> inner(this->inner());
    inner_.store(nullptr, sync::order::relaxed);  // order: relaxed, nobody looks any more
    const SourceOwner<Future<U>> outer = std::move(outer_.write());
    if (inner == nullptr) {
      if (!this->take_failure_of(*outer)) {
        (void)this->keep([]() -> U { misuse("then: the function returned an empty Future"); });
      }
    } else if (!this->take_failure_of(*inner)) {
      (void)this->keep([&inner]() -> U { return inner->take(); });
    }
    return Outcome::elsewhere;
  }
  void destroy() noexcept override { RawBox<Unwrapped>::destroy(this); }
  FutureState::Way* way() noexcept override { return &way_; }
  FutureState* source(std::size_t index) noexcept override {
    const sync::Turn turn(this);
    if (index == 0) return outer_.read().get();
    return index == 1 ? inner() : nullptr;
  }

  sync::cell<SourceOwner<Future<U>>> outer_;
  sync::atomic<FutureResult<U>*> inner_{nullptr};
  FutureState::Way way_;
};

template <class R>
struct InnerResult {};
template <class U>
struct InnerResult<Future<U>> {
  using type = U;
};

// The Future of what Continued makes of it. Of a Future's Future: of what that one comes to.
template <class Continued, class R, class... Given>
auto continue_by(Future<R>&& future, Given&&... given) {
  using Result = typename Continued::Result;
  FutureResult<R>& before = FutureAccess::state(future);
  // Its share is the continuation's, once that is made.
  const auto continued = [&](RawBox<Continued>& box) {
    Continued* const next = box.make(&before, std::forward<Given>(given)...);
    (void)FutureAccess::release(future).release();
    return next;
  };
  RawBox<Continued> box;
  if constexpr (requires { typename InnerResult<Result>::type; }) {
    using Inner = typename InnerResult<Result>::type;
    RawBox<Unwrapped<Inner>> outer_box;
    Continued* const next = continued(box);
    auto* const unwrapped = outer_box.make(next);
    auto result = FutureAccess::make<Inner>(unwrapped);
    (void)next->continue_later({&Unwrapped<Inner>::reach_inner, unwrapped});  // it has not begun
    before.continue_with({&Continued::call, next});
    return result;
  } else {
    Continued* const next = continued(box);
    auto result = FutureAccess::make<Result>(next);
    before.continue_with({&Continued::call, next});
    return result;
  }
}

}  // namespace detail

template <class R>
template <class F>
auto Future<R>::then(F&& function) && {
  static_assert(detail::TakesResult<std::decay_t<F>, R>,
                "then: the function takes the result; of a Future<void> nothing");
  using Function = std::decay_t<F>;
  using Continued = detail::Continuation<R, Function, detail::Follow<R, Function>>;
  return detail::continue_by<Continued>(std::move(*this), std::forward<F>(function));
}

template <class R>
template <Executor E, class F>
auto Future<R>::then(E& executor, F&& function) && {
  static_assert(detail::TakesResult<std::decay_t<F>, R>,
                "then: the function takes the result; of a Future<void> nothing");
  using Function = std::decay_t<F>;
  using Continued = detail::HandedContinuation<R, Function, detail::Follow<R, Function>, E>;
  return detail::continue_by<Continued>(std::move(*this), std::forward<F>(function), executor);
}

template <class R>
template <class F>
Future<R> Future<R>::on_failure(F&& function) && {
  static_assert(std::is_invocable_r_v<R, std::decay_t<F>, std::exception_ptr>,
                "on_failure: the function takes a std::exception_ptr and returns a result");
  using Function = std::decay_t<F>;
  using Continued = detail::Continuation<R, Function, detail::Replace<R, Function>>;
  return detail::continue_by<Continued>(std::move(*this), std::forward<F>(function));
}

// What co_await makes of a Future. Lives in the coroutine's frame.
template <class R>
class [[nodiscard]] FutureAwaiter {
 public:
  // Takes the Future; an empty one is misuse.
  explicit FutureAwaiter(Future<R>&& future) : state_(detail::FutureAccess::release(future)) {}

  // A stop is left to await_suspend(), which knows whether the coroutine wants to hear of it.
  bool await_ready() const noexcept {
    return state_->is_ready() && state_->not_run() != Status::stopped;
  }

  // `Handle`: a std::coroutine_handle. This may be gone before continue_later() returns.
  template <class Handle>
  bool await_suspend(Handle coroutine) {
    coroutine_ = coroutine.address();
    detail::FutureState& state = *state_;
    sync::given(this);
    if (state.continue_later({&resume<Handle>, this})) return true;
    return stop(coroutine);
  }

  R await_resume() {
    const detail::StateOwner<R> state = std::move(state_);
    return state->take();
  }

 private:
  template <class Handle>
  static detail::FutureState::Next resume(void* self) noexcept {
    sync::taken(self);
    auto& awaiter = *static_cast<FutureAwaiter*>(self);
    const Handle coroutine = Handle::from_address(awaiter.coroutine_);
    if (!awaiter.stop(coroutine)) coroutine.resume();
    return {};
  }

  // False: it goes on.
  template <class Handle>
  bool stop(Handle coroutine) noexcept {
    if constexpr (requires { coroutine.promise().unhandled_stopped().resume(); }) {
      if (state_->not_run() == Status::stopped) {
        coroutine.promise().unhandled_stopped().resume();
        return true;
      }
    }
    return false;
  }

  detail::StateOwner<R> state_;
  void* coroutine_ = nullptr;
};

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
