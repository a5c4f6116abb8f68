// SPDX-License-Identifier: MIT
//
// The loop of a pass: calls what a list of listeners holds, with the types that it was given.
//
// Not for: users. Concurrency: inside a Pass over the list or over what owns it, by any thread.
#pragma once

#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/event/internal/listener_function.hpp>
#include <handoff/event/internal/listeners.hpp>
#include <handoff/memory/internal/epochs.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Calls what an array holds. `go_on(call)` makes one call, by `call()`, and says whether another
// one may follow.
template <class... Args>
struct ListenerPass {
  template <class R, class GoOn>
  static bool run(const ListenerList& list, GoOn&& go_on, ListenerArgument<Args>... args) {
    using Call = typename ListenerFunctions<R, Args...>::Call;
    return list.for_each([&](Listener::Call erased, Listener& listener) {
      const auto call = reinterpret_cast<Call>(erased);
      return go_on([&]() -> R { return call(listener, args...); });
    });
  }

  // A whole pass, as the policies say.
  template <class R, class Policies>
  static void run_all(const ListenerList& list, ListenerArgument<Args>... args) {
    // Said out here: g++ 12 fails on a requires-expression inside the generic lambda.
    constexpr bool asks = requires { Policies::can_continue(args...); };
    run<R>(
        list,
        [&](auto&& call) {
          detail::call_and_drop(call);
          if constexpr (asks) {
            return static_cast<bool>(Policies::can_continue(args...));
          } else {
            return true;
          }
        },
        args...);
  }
};

}}}  // namespace handoff::HANDOFF_ABI::detail
