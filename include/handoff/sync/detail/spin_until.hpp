// SPDX-License-Identifier: MIT
//
// The first part of a wait: looking again and again, for as long as that may cost less than a
// sleep. Not for users.
//
//   if (condition()) return;
//   if (spin == Spin::allowed && spin_until(condition, "full")) return;
//   ... sleep ...
//
// A trace shows it as a wait of that cause, in which the thread is awake.
// Concurrency: any thread. Blocks: for that time, and yields. Allocates, throws: what the condition
// does.
#pragma once

#include <handoff/config.hpp>
#include <handoff/probe/detail/slice.hpp>
#include <handoff/sync/backoff.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

// Whether `condition()` became true; a moment ago it was not.
template <class Condition>
bool spin_until(Condition&& condition, const char* cause) {
  const probe::Slice spins(probe::Kind::spin, cause);
  for (Backoff backoff(Spin::allowed); backoff.snooze();) {
    if (condition()) return true;
  }
  return false;
}

}}}  // namespace handoff::HANDOFF_ABI::sync
