// SPDX-License-Identifier: MIT
//
// A function that is not to be called once a stop has been requested. Not for users, who give a
// stop token with the task.
#pragma once

#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/detail/invoke.hpp>
#include <handoff/sync/stop_token.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// What a Stoppable is to be made of, where its place is.
template <class Given>
struct StoppableOf {
  const sync::StopToken& stop;
  Given&& function;
};

// Whoever runs it looks at the token first.
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

}}}  // namespace handoff::HANDOFF_ABI::detail
