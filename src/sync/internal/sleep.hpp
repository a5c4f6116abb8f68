// SPDX-License-Identifier: MIT
//
// A thread that waits for nothing but a moment. What may come earlier has an EventCount.
#pragma once

#include <handoff/config.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/event_count.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

// Until a moment. `cause`: what that is called in a trace.
inline void sleep_until(Deadline moment, const char* cause = "wait") noexcept {
  EventCount nobody;
  (void)nobody.await([] { return false; }, moment, {}, Spin::never, cause);
}

}}}  // namespace handoff::HANDOFF_ABI::sync
