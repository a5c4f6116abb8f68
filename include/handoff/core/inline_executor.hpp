// SPDX-License-Identifier: MIT
//
// The executor that calls each function at once, on the thread that hands it over.
//
//   handoff::InlineExecutor here;
//   list.append_on(here, print);            // as append(print)
//   handoff::parallel_for(here, 0, n, body);  // a plain loop
//
// For: tests, and code that takes an executor and is to run without threads. Not for: getting out
// of a lock or off a stack that is deep.
// Concurrency: any thread; it has no state. Blocks: as the function. Allocates: nothing.
// Never full, never closed.
// Exceptions: what the function throws leaves try_post(); the function has been called then.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/executor.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/status.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

class InlineExecutor {
 public:
  // Calls function() and destroys it. ok.
  template <class F>
    requires std::is_invocable_v<std::decay_t<F>&>
  [[nodiscard]] Status try_post(F&& function) const {
    std::decay_t<F> mine(std::forward<F>(function));
    detail::call_and_drop(mine);
    return Status::ok;
  }

  // One: the calling thread.
  [[nodiscard]] static constexpr std::size_t width() noexcept { return 1; }
};

static_assert(Executor<InlineExecutor>);

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
