// SPDX-License-Identifier: MIT
//
// Status as text.
#include <handoff/core/status.hpp>

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

}}  // namespace handoff::HANDOFF_ABI
