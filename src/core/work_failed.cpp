// SPDX-License-Identifier: MIT
//
// The words for the end of a worker.
#include <handoff/core/work_failed.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

std::string WorkerEnd::text() const {
  switch (kind) {
    case Kind::exited: return "exited with " + std::to_string(code);
    case Kind::signalled: return "killed by signal " + std::to_string(signal);
    case Kind::overdue: return "killed at the limit";
    case Kind::alive: return "lives";
    case Kind::unknown: break;
  }
  return "ended in an unknown way";
}

}}  // namespace handoff::HANDOFF_ABI
