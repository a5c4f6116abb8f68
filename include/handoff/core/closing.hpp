// SPDX-License-Identifier: MIT
//
// What becomes of the work that was accepted before a close.
//
//   pool.close(handoff::drain);           // all of it is done
//   pool.close(handoff::drain_until(t));  // what can begin by then is; the rest counts as expired
//   pool.close(handoff::abandon);         // what has begun is; the rest counts as cancelled
#pragma once

#include <handoff/config.hpp>
#include <handoff/sync/clock.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

struct Closing {
  bool begins_more = true;  // whether work that has not begun may still begin
  sync::Deadline deadline = sync::no_deadline;
};

[[gnu::visibility("hidden")]] inline constexpr Closing drain{};
[[gnu::visibility("hidden")]] inline constexpr Closing abandon{.begins_more = false};
[[nodiscard]] constexpr Closing drain_until(sync::Deadline deadline) noexcept {
  return {.deadline = deadline};
}

}}  // namespace handoff::HANDOFF_ABI
