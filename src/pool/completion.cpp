// SPDX-License-Identifier: MIT
//
// The sums that say whether a pool is idle.
#include "completion.hpp"

#include <handoff/sync/detail/pause.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// First what is finished, then what was accepted: both only grow, so if they are equal they were
// equal in between; and a task is counted as accepted before it can be counted as finished.
bool Completion::is_idle() const noexcept {
  const std::uint64_t finished = unqueued_.finished() + crew_.finished();
  return finished == accepted();
}

void Completion::await_visitors() const noexcept {
  // order: acquire pairs with the release in end_visit().
  while (visitors_.load(sync::order::acquire) != 0) sync::yield();
}

Tally Completion::tally() const noexcept {
  Tally tally;
  tally.done = unqueued_.read(Outcome::done);
  tally.failed = unqueued_.read(Outcome::failed);
  tally.cancelled = unqueued_.read(Outcome::cancelled);
  crew_.add_to(tally);
  tally.accepted = accepted();
  return tally;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
