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
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/future_state.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/limited.hpp>
#include <handoff/core/internal/raw_box.hpp>
#include <handoff/core/internal/type_name.hpp>
#include <handoff/core/status.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// The function of a tuple with its arguments, each given away.
template <class R, class F, class... Args>
R call_as_moved(std::tuple<F, Args...>& call) {
  return std::apply(
      [](F& function, Args&... args) -> R {
        return detail::invoke(std::move(function), std::move(args)...);
      },
      call);
}

// Called once, as std::async would.
template <class R, class F, class... Args>
class FutureWork final : public FutureResult<R> {
 public:
  // `host`: see FutureState; null if nobody but the task may begin it.
  template <class... Given>
  explicit FutureWork(FutureHost* host, Given&&... given)
      : FutureResult<R>(host), call_(std::in_place, std::forward<Given>(given)...) {}

  const char* type() const noexcept override { return type_name<F>(); }

 private:
  Outcome compute() noexcept override {
    const bool done = this->keep([this]() -> R { return call_as_moved<R>(*call_); });
    call_.reset();  // before anybody hears: it may hold what the waiting thread is about to end
    return done ? Outcome::done : Outcome::failed;
  }
  void discard() noexcept override { call_.reset(); }
  void destroy() noexcept override { RawBox<FutureWork>::destroy(this); }

  std::optional<std::tuple<F, Args...>> call_;
};

// The same without arguments, for a task that has options.
template <class R, class F>
class LimitedWork final : public FutureResult<R> {
 public:
  template <class Given>
  LimitedWork(FutureHost* host, Limits limits, Given&& function)
      : FutureResult<R>(host),
        limits_(std::move(limits)),
        function_(std::in_place, std::forward<Given>(function)) {}

  const char* type() const noexcept override { return type_name<F>(); }
  const char* given_name() const noexcept override { return limits_.name; }

 private:
  Outcome compute() noexcept override {
    const Outcome why = limits_.whether();
    if (why != Outcome::done) {
      function_.reset();
      this->set_not_run(reason_of(why));
      return why;
    }
    const bool done = this->keep([this]() -> R { return detail::invoke(std::move(*function_)); });
    function_.reset();  // before anybody hears, as above
    return done ? Outcome::done : Outcome::failed;
  }
  void discard() noexcept override { function_.reset(); }
  void destroy() noexcept override { RawBox<LimitedWork>::destroy(this); }

  const Limits limits_;
  std::optional<F> function_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
