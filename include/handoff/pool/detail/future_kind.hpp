// SPDX-License-Identifier: MIT
//
// A task that leads to the state of its Future. Not for users.
#pragma once

#include <handoff/config.hpp>
#include <handoff/core/internal/future_state.hpp>
#include <handoff/core/internal/outcome.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/sync/internal/sanitizer.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct FutureKind {
  static TaskName name(Task& task) noexcept {
    sync::taken(&task);
    const FutureState& state = *task.as<FutureState*>();
    const sync::Turn turn(&state);  // the last look, where another thread has begun the work
    return {state.type(), state.given_name()};
  }
  static Outcome run(Task& task) { return task.as<FutureState*>()->run_as_task(); }
  static Outcome drop(Task& task, Outcome why) noexcept {
    return task.as<FutureState*>()->drop_as_task(why);
  }
  [[gnu::visibility("hidden")]] static constexpr TaskKind kind{&run, &drop, nullptr, false, &name};
};

// ... that only the task itself begins: see FutureState::leave_to_task().
struct PinnedFutureKind {
  static Outcome run(Task& task) { return task.as<FutureState*>()->run_claimed(); }
  static Outcome drop(Task& task, Outcome why) noexcept {
    return task.as<FutureState*>()->drop_claimed(why);
  }
  [[gnu::visibility("hidden")]] static constexpr TaskKind kind{&run, &drop, nullptr, false,
                                                               &FutureKind::name};
};

}}}  // namespace handoff::HANDOFF_ABI::detail
