// SPDX-License-Identifier: MIT
//
// Says that a piece of work did not run, and why: what submit() throws when it is refused, and what
// a Future has when its task was dropped.
#pragma once

#include <stdexcept>
#include <string>

#include <handoff/config.hpp>
#include <handoff/core/status.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

class NotRun : public std::runtime_error {
 public:
  // full, closed: refused, and still the caller's. stopped: cancelled before it began. timed_out:
  // its deadline passed before it began. `task`: what its options call it, for what().
  explicit NotRun(Status status, const char* task = "")
      : std::runtime_error(text(status, task)), status_(status) {}

  // Why: full, closed, stopped or timed_out.
  [[nodiscard]] Status status() const noexcept { return status_; }

 private:
  static std::string text(Status status, const char* task);

  Status status_;
};

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
