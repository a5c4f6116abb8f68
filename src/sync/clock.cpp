// SPDX-License-Identifier: MIT
//
// The monotonic clock.
#include <time.h>

#include <handoff/sync/clock.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

clock::time_point clock::now() noexcept {
  timespec now{};
  static_cast<void>(clock_gettime(CLOCK_MONOTONIC, &now));  // always there
  return time_point(std::chrono::seconds(now.tv_sec) + duration(now.tv_nsec));
}

}}}  // namespace handoff::HANDOFF_ABI::sync
