// SPDX-License-Identifier: MIT
//
// The result of a task: a closure with its arguments, and what it returned. Not for users, who hand
// tasks to an executor.
//
// The executor makes it with RawBox, keeps a pointer to it as the task, gives the Future away
// (FutureAccess::make), and ends the task by one call of run_as_task() or drop_as_task().
#pragma once

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/future_state.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/limited.hpp>
#include <handoff/core/internal/raw_box.hpp>
#include <handoff/core/internal/type_name.hpp>
#include <handoff/core/status.hpp>
#include <handoff/sync/internal/sanitizer.hpp>
#include <handoff/sync/stop_token.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// The function of a tuple with its arguments, each given away, behind those that come `first`.
template <class R, class F, class... Args, class... First>
R call_as_moved(std::tuple<F, Args...>& call, First&&... first) {
  return std::apply(
      [&](F& function, Args&... args) -> R {
        return detail::invoke(std::move(function), std::forward<First>(first)...,
                              std::move(args)...);
      },
      call);
}

// Whether a task is given a stop token before its arguments: only if it cannot do without, so that
// what takes any arguments is called with those that it was handed over with.
template <class F, class... Args>
concept TakesStop =
    !std::is_invocable_v<F, Args...> && std::is_invocable_v<F, sync::StopToken, Args...>;

template <class F, class... Args>
concept IsWork = std::is_invocable_v<F, Args...> || TakesStop<F, Args...>;

// What is kept of its result.
template <class F, class... Args>
struct OfWork {
  using Result = KeptResult<F, Args...>;
};
template <class F, class... Args>
  requires TakesStop<F, Args...>
struct OfWork<F, Args...> {
  using Result = KeptResult<F, sync::StopToken, Args...>;
};
template <class F, class... Args>
using WorkResult = typename OfWork<F, Args...>::Result;

// The state of a task that takes a stop token.
template <class R>
class StoppableResult : public FutureResult<R> {
 protected:
  using FutureResult<R>::FutureResult;
  ~StoppableResult() = default;

  sync::StopToken token() const noexcept { return source_.token(); }

 private:
  bool ask_to_stop(FutureState::Asking& asking) noexcept final {
    asking.asked |= !this->is_ready() && source_.request_stop();
    sync::given(this);
    return true;
  }

  sync::StopSource source_;
};

template <class R, class F, class... Args>
using WorkState = std::conditional_t<TakesStop<F, Args...>, StoppableResult<R>, FutureResult<R>>;

// Called once, as std::async would.
template <class R, class F, class... Args>
class FutureWork final : public WorkState<R, F, Args...> {
 public:
  // `host`: see FutureState; null if nobody but the task may begin it.
  template <class... Given>
  explicit FutureWork(FutureHost* host, Given&&... given)
      : WorkState<R, F, Args...>(host), call_(std::in_place, std::forward<Given>(given)...) {}

  const char* type() const noexcept override { return type_name<F>(); }

 private:
  Outcome compute() noexcept override {
    const sync::Turn turn(this);
    const bool done = this->keep([this]() -> R {
      if constexpr (TakesStop<F, Args...>) {
        return call_as_moved<R>(*call_, this->token());
      } else {
        return call_as_moved<R>(*call_);
      }
    });
    call_.reset();  // before anybody hears: it may hold what the waiting thread is about to end
    return done ? Outcome::done : Outcome::failed;
  }
  void discard() noexcept override {
    const sync::Turn turn(this);
    call_.reset();
  }
  void destroy() noexcept override { RawBox<FutureWork>::destroy(this); }

  std::optional<std::tuple<F, Args...>> call_;
};

// The same without arguments, for a task that has options.
template <class R, class F>
class LimitedWork final : public WorkState<R, F> {
 public:
  template <class Given>
  LimitedWork(FutureHost* host, Limits limits, Given&& function)
      : WorkState<R, F>(host),
        limits_(std::move(limits)),
        function_(std::in_place, std::forward<Given>(function)) {}

  const char* type() const noexcept override { return type_name<F>(); }
  const char* given_name() const noexcept override { return limits_.name; }

 private:
  Outcome compute() noexcept override {
    const sync::Turn turn(this);
    const Outcome why = limits_.whether();
    if (why != Outcome::done) {
      function_.reset();
      this->set_not_run(reason_of(why));
      return why;
    }
    const bool done = this->keep([this]() -> R {
      if constexpr (TakesStop<F>) {
        return detail::invoke(std::move(*function_), this->token());
      } else {
        return detail::invoke(std::move(*function_));
      }
    });
    function_.reset();  // before anybody hears, as above
    return done ? Outcome::done : Outcome::failed;
  }
  void discard() noexcept override {
    const sync::Turn turn(this);
    function_.reset();
  }
  void destroy() noexcept override { RawBox<LimitedWork>::destroy(this); }

  const Limits limits_;
  std::optional<F> function_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
