// SPDX-License-Identifier: MIT
//
// Says that a piece of work did not run, and why: what submit() throws when it is refused, and what
// a Future has when its task was dropped.
#pragma once

#include <stdexcept>
#include <string>

#include <handoff/config.hpp>
#include <handoff/core/status.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

class NotRun : public std::runtime_error {
 public:
  // full, closed: refused, and still the caller's. stopped: cancelled before it began. timed_out:
  // its deadline passed before it began.
  explicit NotRun(Status status)
      : std::runtime_error(std::string("the task did not run: ") + to_string(status)),
        status_(status) {}

  // Why: full, closed, stopped or timed_out.
  [[nodiscard]] Status status() const noexcept { return status_; }

 private:
  Status status_;
};

}}  // namespace handoff::HANDOFF_ABI
