// SPDX-License-Identifier: MIT
//
// The calls that hand a task to an executor that runs one at a time. Not for users.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/raw_box.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/core/status.hpp>
#include <handoff/pool/detail/task_inbox.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Self has `Status put(make, waits)`: accepts what make() makes, an InboxTask; a refusal makes
// none. And `FutureHost* host()`: whom a task asks that waits for a result.
template <class Self>
class InboxCalls {
 public:
  // Calls function() once, in its turn. Throws NotRun if refused.
  template <class F>
  void post(F&& function) {
    accepted(put_posted(std::forward<F>(function), true));
  }

  // The same, and waits for nothing. ok, or why it was refused.
  template <class F>
  Status try_post(F&& function) {
    return put_posted(std::forward<F>(function), false);
  }

  // Calls function(args...) once, with copies of them, in its turn, and keeps the result. Throws
  // NotRun if refused.
  template <class F, class... Args>
  auto submit(F&& function, Args&&... args) {
    static_assert(std::is_invocable_v<std::decay_t<F>, std::decay_t<Args>...>,
                  "submit: the function takes the arguments that follow it; for T& use std::ref()");
    using Result = KeptResult<std::decay_t<F>, std::decay_t<Args>...>;
    using Work = InboxWork<Result, std::decay_t<F>, std::decay_t<Args>...>;
    RawBox<Work> box;
    Work* work = nullptr;
    accepted(self().put(
        [&] {
          work = box.make(self().host(), std::forward<F>(function), std::forward<Args>(args)...);
          return InboxTask(SubmittedTask<Work>(work));
        },
        true));
    return FutureAccess::make<Result>(work);
  }

 private:
  friend Self;
  InboxCalls() = default;
  ~InboxCalls() = default;

  template <class F>
  Status put_posted(F&& function, bool waits) {
    using Function = std::decay_t<F>;
    static_assert(std::is_invocable_v<Function&>,
                  "a task takes no arguments: capture what it needs");
    using Posted = PostedTask<Function>;
    constexpr bool kQuiet = std::is_nothrow_constructible_v<Function, F> && InboxTask::fits<Posted>;
    return self().put(
        [&]() noexcept(kQuiet) {
          return InboxTask(Posted(std::in_place, std::forward<F>(function)));
        },
        waits);
  }
  static void accepted(Status status) {
    if (status != Status::ok) [[unlikely]]
      refused(status);
  }
  [[noreturn, gnu::cold, gnu::noinline]] static void refused(Status why) { raise(NotRun(why)); }

  Self& self() noexcept { return static_cast<Self&>(*this); }
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
