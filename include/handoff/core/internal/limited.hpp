// SPDX-License-Identifier: MIT
//
// A function that is not to be called once a stop has been requested, or a moment has passed. Not
// for users, who say so in a task's options.
#pragma once

#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/until.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/stop_token.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// done: a task with these may begin.
inline Outcome whether_to_begin(const KeptUntil& until) noexcept {
  if (until.stop_token().stop_requested()) return Outcome::cancelled;
  const bool late = until.has_deadline() && sync::clock::now() >= until.deadline();
  return late ? Outcome::expired : Outcome::done;
}

// What there may be to a task besides its function.
struct Limits {
  // done: it may begin.
  Outcome whether() const noexcept { return whether_to_begin(until); }

  KeptUntil until;
  const char* name;
};

// Most have a stop alone.
struct StopLimit {
  Outcome whether() const noexcept {
    return stop.stop_requested() ? Outcome::cancelled : Outcome::done;
  }

  sync::StopToken stop;
};

// What a Limited is to be made of, where its place is.
template <class L, class Given>
struct LimitedOf {
  L limits;
  Given&& function;
};

// The code that runs it asks whether().
template <class L, class F>
struct Limited {
  template <class Given>
  explicit Limited(LimitedOf<L, Given>&& from)
      : limits(std::move(from.limits)), function(std::forward<Given>(from.function)) {}

  decltype(auto) operator()()
    requires std::is_invocable_v<F&>
  {
    return detail::invoke(function);
  }

  L limits;
  F function;
};

template <class F>
inline constexpr bool is_limited = false;
template <class L, class F>
inline constexpr bool is_limited<Limited<L, F>> = true;

template <class F>
inline constexpr bool is_named = false;
template <class F>
inline constexpr bool is_named<Limited<Limits, F>> = true;

}}}  // namespace handoff::HANDOFF_ABI::detail
