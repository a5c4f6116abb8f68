// SPDX-License-Identifier: MIT
//
// The result of a task, to come.
//
//   handoff::Future<std::string> f = pool.submit(describe, 1, 2, 3);
//   std::string s = f.get();                              // the result, or what describe() threw
//   auto length = pool.submit(read, path).then([](Text t) { return t.size(); });
//
// For: one result of one task, for one reader. Not for: many tasks that end together (TaskGroup).
// R may be void, a reference, or any type that can be moved; it need not be default constructible.
//
// Contract: executor tier.
// - Concurrency: a Future belongs to one thread at a time, like a std::unique_ptr. It may outlive
//   its pool, and the task may outlive it.
// - Order: what came before submit() happens before the task; the task, and the end of its closure
//   and arguments, happens before get() returns.
// - Blocks: wait() and get(). Inside a task of any pool they help: if the task has not begun it
//   runs right there, wherever it is queued; else what the waiting task has handed over itself
//   runs, as long as there is any. What then() and when_all() made hangs on the tasks behind it:
//   those run, and then it, right there. So futures may be waited for in tasks to any depth, on one
//   worker too. Outside they only wait, spinning a little, then asleep. The destructor does not
//   wait.
// - Blocks without help: wait_until() and wait_for(), which could not keep their word if they ran a
//   task. Inside a task they hold up a worker; on the only one a wait for what is queued behind it
//   lasts until the deadline, and without one until the stop. Nor does a std::future help
//   (to_std.hpp); for that there is blocking().
// - Never ends: a circle of waits, and a wait with a stop token alone for what nobody is free to
//   begin. ThreadPoolOptions::on_wait_cycle tells of both.
// - Allocates: nothing; submit() allocated once, for the task, its result and this.
// - Closed, stopped: a task that was dropped gives NotRun (stopped: cancelled, by a close or by its
//   stop token; timed_out: expired).
// - Exceptions: get() rethrows what the task threw. get(), wait() or then() on an empty Future is
//   misuse.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/detail/invoke.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/core/status.hpp>
#include <handoff/pool/detail/engine.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/detail/atomic.hpp>
#include <handoff/sync/detail/cell.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/stop_token.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

template <class R>
class Future;

namespace detail {

// What a task and its Future share. Each has a share in it; who gives back the last one ends it.
class FutureState {
 public:
  // What comes when a result is there. It returns what comes then, so that a long chain needs no
  // deep stack. Without a `call` nothing comes.
  struct Next {
    Next (*call)(void* argument) noexcept = nullptr;
    void* argument = nullptr;
  };

  // `engine`: of the pool whose task this is; null if it is no pool's, and comes by itself.
  explicit FutureState(Engine* engine) noexcept : engine_(engine), word_(0) {}
  FutureState(const FutureState&) = delete;
  FutureState& operator=(const FutureState&) = delete;

  // The task's side: each ends its share.
  Outcome run_as_task() noexcept;
  Outcome drop_as_task(Outcome why) noexcept;

  // The Future's side.
  bool is_ready() const noexcept {
    // order: acquire pairs with the releases in finish(): the result.
    return (word_.load(sync::order::acquire) & kReady) != 0;
  }
  // Throws what ThreadPoolOptions::on_wait_cycle throws.
  Status wait(sync::Deadline deadline, const sync::StopToken& stop);
  void leave() noexcept { give_back(kFutureGone); }

  // `next` is called once, when the result is there, on the thread that made it, or here and now.
  void continue_with(Next next) noexcept;

  // The book of waits is to hear of the result. False: it is there.
  bool watch() noexcept {
    // order: relaxed, one word has one history: either conclude() finds the bit or we find kReady.
    return (word_.fetch_or(kWatched, sync::order::relaxed) & kReady) == 0;
  }
  // The pool that has to begin it; null if somebody has, or none has to.
  const Engine* waits_for_begin() const noexcept {
    // order: relaxed, a hint.
    return (word_.load(sync::order::relaxed) & kClaimed) == 0 ? engine_ : nullptr;
  }

  // Of the task, for a person.
  virtual std::string_view name() const noexcept { return "what follows a task"; }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 protected:
  ~FutureState() = default;

  void set_error(std::exception_ptr error) noexcept { error_ = std::move(error); }

  // Of a state that follows others: its sources are ready, which is said once. Makes the result,
  // unless a task that waits for it looks at it just now, which then does.
  Next follow() noexcept;

  // One after the other.
  static void call_each(Next next) noexcept {
    while (next.call != nullptr) next = next.call(next.argument);
  }

  // The way of a task that waits, through the states that follow others down to tasks. Only for who
  // holds the state.
  struct Way {
    FutureState* above = nullptr;  // where it came from
    std::size_t next = 0;  // source to go to
  };

 private:
  enum Bits : std::uint32_t {
    kClaimed = 1,  // somebody makes the result
    kReady = 2,  // the result is there
    kAwaited = 4,  // a thread may sleep for it
    kContinued = 8,  // next_ has to be called
    kTaskGone = 16,  // the two shares
    kFutureGone = 32,
    kHeld = 64,  // a task that waits looks at the sources
    kWatched = 128,  // the book of waits knows this one
  };

  // Makes the result, or keeps what was thrown.
  virtual Outcome compute() noexcept = 0;
  // Ends the closure uncalled.
  virtual void discard() noexcept = 0;
  // Ends all of it.
  virtual void destroy() noexcept = 0;
  // Null: this one follows no others.
  virtual Way* way() noexcept { return nullptr; }
  // Those that it follows; null behind the last one. Only for who holds the state.
  virtual FutureState* source(std::size_t /*index*/) noexcept { return nullptr; }

  bool claim() noexcept {
    // order: relaxed. Both who may claim, the task and the Future, came by the closure otherwise.
    return (word_.fetch_or(kClaimed, sync::order::relaxed) & kClaimed) == 0;
  }
  Next conclude(std::uint32_t share) noexcept;
  void finish(std::uint32_t share) noexcept { call_each(conclude(share)); }
  void give_back(std::uint32_t share) noexcept;
  Outcome make() noexcept;
  bool hold() noexcept;
  void let_go(Worker& here) noexcept;
  template <class Visit>
  void visit_sources(Worker& here, Visit&& visit) noexcept;
  bool help(Worker& here) noexcept;
  void begin_here(Worker& here) noexcept;
  void run_here(Worker& here) noexcept;
  Status wait_watched(Worker& here, const sync::StopToken& stop);
  Status sleep(sync::Deadline deadline, const sync::StopToken& stop) noexcept;

  Engine* const engine_;
  sync::atomic<std::uint32_t> word_;
  sync::EventCount ready_;
  std::exception_ptr error_;
  sync::cell<Next> next_;
};

// Frees what RawBox made.
template <class State>
void destroy_boxed(State* state) noexcept {
  const typename BoxedKind<State>::Owner owner(state);
}

// The result of type R, once it is there.
template <class R>
class FutureResult : public FutureState {
 public:
  using FutureState::FutureState;

  R take() {
    rethrow();
    if constexpr (std::is_reference_v<R>) {
      return static_cast<R>(**result_);
    } else if constexpr (!std::is_void_v<R>) {
      return std::move(*result_);
    }
  }

 protected:
  ~FutureResult() = default;

  template <class Make>
  void emplace(Make&& make) {
    if constexpr (std::is_void_v<R>) {
      static_cast<void>(make());
    } else if constexpr (std::is_reference_v<R>) {
      R made = make();
      result_ = std::addressof(made);
    } else {
      result_.emplace(Maker<Make>{make});
    }
  }

 private:
  // Lets the result be made in its place, without a move.
  template <class Make>
  struct Maker {
    Make& make;
    operator R() const { return make(); }  // NOLINT(google-explicit-constructor)
  };
  struct Nothing {};
  using Kept = std::conditional_t<
      std::is_void_v<R>, Nothing,
      std::conditional_t<std::is_reference_v<R>, std::add_pointer_t<R>, std::remove_cv_t<R>>>;
  std::optional<Kept> result_;
};

template <class F>
constexpr std::string_view type_name() noexcept {
  std::string_view name = __PRETTY_FUNCTION__;  // "... [with F = the type; ...]", "... [F = ...]"
  if (const auto begin = name.find("F = "); begin != name.npos) name.remove_prefix(begin + 4);
  if (const auto end = name.find_last_of(";]"); end != name.npos) name = name.substr(0, end);
  if (const auto end = name.find("; "); end != name.npos) name = name.substr(0, end);
  return name;
}

// The function of a tuple with its arguments, each given away.
template <class R, class F, class... Args>
R call_as_moved(std::tuple<F, Args...>& call) {
  return std::apply(
      [](F& function, Args&... args) -> R {
        return detail::invoke(std::move(function), std::move(args)...);
      },
      call);
}

// ... and how it is made: a closure with its arguments, called once as std::async would.
template <class R, class F, class... Args>
class FutureWork final : public FutureResult<R> {
 public:
  template <class... Given>
  explicit FutureWork(Engine* engine, Given&&... given)
      : FutureResult<R>(engine), call_(std::in_place, std::forward<Given>(given)...) {}

  std::string_view name() const noexcept override { return type_name<F>(); }

 private:
  Outcome compute() noexcept override {
    if constexpr (is_stoppable<F>) {
      if (std::get<0>(*call_).stop.stop_requested()) {
        call_.reset();
        this->set_error(std::make_exception_ptr(NotRun(Status::stopped)));
        return Outcome::cancelled;
      }
    }
    Outcome outcome = Outcome::done;
    try {
      this->emplace([this]() -> R { return call_as_moved<R>(*call_); });
    } catch (...) {
      this->set_error(std::current_exception());
      outcome = Outcome::failed;
    }
    call_.reset();  // before anybody hears: it may hold what the waiting thread is about to end
    return outcome;
  }
  void discard() noexcept override { call_.reset(); }
  void destroy() noexcept override { destroy_boxed(this); }

  std::optional<std::tuple<F, Args...>> call_;
};

// A task that leads to a FutureState.
struct FutureKind {
  static Outcome run(Task& task) { return task.as<FutureState*>()->run_as_task(); }
  static Outcome drop(Task& task, Outcome why) noexcept {
    return task.as<FutureState*>()->drop_as_task(why);
  }
  [[gnu::visibility("hidden")]] static constexpr TaskKind kind{&run, &drop, nullptr};
};

struct FutureAccess;

}  // namespace detail

template <class R>
class [[nodiscard]] Future {
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

  [[nodiscard]] bool is_ready() const { return state().is_ready(); }

  void wait() const { (void)state().wait(sync::no_deadline, {}); }

  // ok, timed_out or stopped. Does not run the task here, which could take longer; see the head
  // comment for what that means inside a task.
  Status wait_until(sync::Deadline deadline, const sync::StopToken& stop = {}) const {
    return state().wait(deadline, stop);
  }
  template <class Rep, class Period>
  Status wait_for(std::chrono::duration<Rep, Period> time, const sync::StopToken& stop = {}) const {
    return wait_until(sync::deadline_after(time), stop);
  }

  // The result, once; empty afterwards.
  R get() {
    wait();
    const Future used = std::move(*this);
    return used.state_->take();
  }

  // The Future of function(result). It runs right behind the task, on its thread, or here if the
  // task is done, or in a task that is about to wait for it; not at all if the task failed, whose
  // exception is passed on. Empty afterwards.
  template <class F>
  auto then(F&& function) &&;

  // The same result as a std::future; include <handoff/pool/to_std.hpp>. Empty afterwards.
  auto to_std() &&;

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
  template <class R>
  static FutureState& state(const Future<R>& future) noexcept {
    return *future.state_;
  }
};

// The Future's share in a state.
struct LeaveState {
  void operator()(FutureState* state) const noexcept { state->leave(); }
};
template <class R>
using StateOwner = std::unique_ptr<FutureResult<R>, LeaveState>;

template <class F, class R>
struct ThenResult {
  using type = std::invoke_result_t<F, R>;
};
template <class F>
struct ThenResult<F, void> {
  using type = std::invoke_result_t<F>;
};

// function(result of `before`), when that is there.
template <class R, class F>
class Continuation final : public FutureResult<typename ThenResult<F, R>::type> {
 public:
  using Result = typename ThenResult<F, R>::type;

  template <class Given>
  Continuation(FutureResult<R>* before, Given&& function)
      : FutureResult<Result>(nullptr),
        function_(std::in_place, std::forward<Given>(function)),
        before_(StateOwner<R>(before)) {}

  std::string_view name() const noexcept override { return type_name<F>(); }

  static FutureState::Next call(void* self) noexcept {
    return static_cast<Continuation*>(self)->follow();
  }

 private:
  Outcome compute() noexcept override {
    try {
      this->emplace([this]() -> Result {
        FutureResult<R>& before = *before_.read();
        if constexpr (std::is_void_v<R>) {
          before.take();
          return detail::invoke(std::move(*function_));
        } else {
          return detail::invoke(std::move(*function_), before.take());
        }
      });
    } catch (...) {
      this->set_error(std::current_exception());
    }
    discard();
    return Outcome::elsewhere;
  }
  void discard() noexcept override {
    function_.reset();
    before_.write().reset();
  }
  void destroy() noexcept override { destroy_boxed(this); }
  FutureState::Way* way() noexcept override { return &way_; }
  FutureState* source(std::size_t index) noexcept override {
    return index == 0 ? before_.read().get() : nullptr;
  }

  std::optional<F> function_;
  sync::cell<StateOwner<R>> before_;
  FutureState::Way way_;
};

// Futures that are all ready. Each of them has this as what comes next.
template <class R>
class Gathering final : public FutureResult<std::vector<Future<R>>> {
 public:
  explicit Gathering(std::vector<Future<R>> futures)
      : FutureResult<std::vector<Future<R>>>(nullptr),
        futures_(std::move(futures)),
        missing_(futures_.read().size() + 1) {}

  void begin() noexcept {
    for (std::size_t i = 0; FutureState* const each = source(i); ++i) {
      each->continue_with({&Gathering::arrive, this});
    }
    // The one that was counted so that nobody could be the last one before now.
    this->call_each(arrive(this));
  }

 private:
  static FutureState::Next arrive(void* self) noexcept {
    auto& gathering = *static_cast<Gathering*>(self);
    // order: acq_rel, the last one sees what all others brought.
    if (gathering.missing_.fetch_sub(1, sync::order::acq_rel) != 1) return {};
    return gathering.follow();
  }

  Outcome compute() noexcept override {
    this->emplace([this] { return std::move(futures_.write()); });
    return Outcome::elsewhere;
  }
  void discard() noexcept override {}
  void destroy() noexcept override { destroy_boxed(this); }
  FutureState::Way* way() noexcept override { return &way_; }
  FutureState* source(std::size_t index) noexcept override {
    const std::vector<Future<R>>& futures = futures_.read();
    return index < futures.size() ? &FutureAccess::state(futures[index]) : nullptr;
  }

  sync::cell<std::vector<Future<R>>> futures_;
  sync::atomic<std::size_t> missing_;
  FutureState::Way way_;
};

}  // namespace detail

template <class R>
template <class F>
auto Future<R>::then(F&& function) && {
  using Next = detail::Continuation<R, std::decay_t<F>>;
  detail::FutureResult<R>& before = state();
  auto* const next = detail::RawBox<Next>().make(&before, std::forward<F>(function));
  state_ = nullptr;  // its share is the continuation's now
  auto future = detail::FutureAccess::make<typename Next::Result>(next);
  before.continue_with({&Next::call, next});
  return future;
}

// Ready when all of them are; the result is they themselves, in their order.
template <class R>
[[nodiscard]] Future<std::vector<Future<R>>> when_all(std::vector<Future<R>> futures) {
  for (const Future<R>& future : futures) (void)future.is_ready();  // misuse if one is empty
  auto* const gathering = detail::RawBox<detail::Gathering<R>>().make(std::move(futures));
  auto future = detail::FutureAccess::make<std::vector<Future<R>>>(gathering);
  gathering->begin();
  return future;
}

}}  // namespace handoff::HANDOFF_ABI
