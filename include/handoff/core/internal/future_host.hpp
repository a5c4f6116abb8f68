// SPDX-License-Identifier: MIT
//
// What a Future asks of the executor that made it. Not for users.
//
// An executor derives from it if a task that waits for one of its Futures may run that one's task.
// A result that comes from elsewhere (promise.hpp) has no host, or one that is asked nothing: a
// strand.
#pragma once

#include <exception>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class FutureState;

class FutureHost {
 public:
  FutureHost(const FutureHost&) = delete;
  FutureHost& operator=(const FutureHost&) = delete;

  // Called by a thread that has claimed a task of this executor, to run it while it waits. Calls
  // task.make_as_task() once, and counts the outcome.
  virtual void visit(FutureState& /*task*/) noexcept {}

  // Keeps what a task with a Future threw, for the Tally.
  virtual void note_failure(const std::exception_ptr& /*failure*/) noexcept {}

 protected:
  FutureHost() noexcept = default;
  ~FutureHost() = default;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
