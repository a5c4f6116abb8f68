// SPDX-License-Identifier: MIT
//
// Status as text.
#include <handoff/core/not_run.hpp>
#include <handoff/core/status.hpp>
#include <string>

namespace handoff { inline namespace HANDOFF_ABI {

const char* to_string(Status status) noexcept {
  switch (status) {
    case Status::ok: return "ok";
    case Status::full: return "full";
    case Status::empty: return "empty";
    case Status::closed: return "closed";
    case Status::stopped: return "stopped";
    case Status::timed_out: return "timed_out";
  }
  return "no Status";
}

[[gnu::cold]] std::string NotRun::text(Status status, const char* task) {
  std::string text = "the task ";
  if (*task != '\0') text.append("'").append(task).append("' ");
  return text.append("did not run: ").append(to_string(status));
}

}}  // namespace handoff::HANDOFF_ABI
