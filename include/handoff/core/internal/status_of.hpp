// SPDX-License-Identifier: MIT
//
// The Status of a call that waited, from why its wait ended. Not for users.
#pragma once

#include <handoff/config.hpp>
#include <handoff/core/status.hpp>
#include <handoff/sync/event_count.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// ok: what was waited for is there.
constexpr Status status_of(sync::Wakeup wakeup) noexcept {
  switch (wakeup) {
    case sync::Wakeup::notified: return Status::ok;
    case sync::Wakeup::stopped: return Status::stopped;
    case sync::Wakeup::timed_out: break;
  }
  return Status::timed_out;
}

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
