// SPDX-License-Identifier: MIT
//
// What may be said of a task besides its function.
//
//   pool.submit({.priority = handoff::Priority::high, .stop = token}, redraw, window);
#pragma once

#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/detail/invoke.hpp>
#include <handoff/core/priority.hpp>
#include <handoff/sync/stop_token.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

struct TaskOptions {
  // A worker that looks for its next task takes those of high priority first, and those of low
  // priority where it would have nothing else to do: as long as there are others they may wait for
  // ever. No running task is interrupted, and a task that waits for its own ones runs those alone.
  Priority priority = Priority::normal;

  // If a stop has been requested when the task would begin, it is not begun: it counts as
  // cancelled, and its Future has NotRun (stopped). A std::stop_token converts to one.
  sync::StopToken stop = {};
};

namespace detail {

// What a Stoppable is to be made of, where its place is.
template <class Given>
struct StoppableOf {
  const sync::StopToken& stop;
  Given&& function;
};

// A function that is not to be called once a stop has been requested.
template <class F>
struct Stoppable {
  template <class Given>
  explicit Stoppable(const StoppableOf<Given>& from)
      : stop(from.stop), function(std::forward<Given>(from.function)) {}

  template <class... Args>
    requires std::is_invocable_v<F, Args...>
  decltype(auto) operator()(Args&&... args) {
    return detail::invoke(std::move(function), std::forward<Args>(args)...);
  }

  sync::StopToken stop;
  F function;
};

template <class F>
inline constexpr bool is_stoppable = false;
template <class F>
inline constexpr bool is_stoppable<Stoppable<F>> = true;

}  // namespace detail

}}  // namespace handoff::HANDOFF_ABI
