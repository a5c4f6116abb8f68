// SPDX-License-Identifier: MIT
//
// What became of a task, as a Tally counts it. Not for users.
#pragma once

#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/core/status.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

enum class Outcome : std::uint8_t {
  done,
  failed,
  cancelled,
  expired,
  elsewhere,  // not here: the thread that ran it counts it
};

// Why a task that was dropped did not run, for NotRun.
constexpr Status reason_of(Outcome why) noexcept {
  return why == Outcome::expired ? Status::timed_out : Status::stopped;
}

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
