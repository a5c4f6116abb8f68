// SPDX-License-Identifier: MIT
//
// What is seldom in a run, and its end.
#include <handoff/core/detail/range_run.hpp>
#include <utility>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

using sync::order;

void RangeRun::keep_first_failure() noexcept {
  const sync::Lock lock(failure_mutex_);
  if (!first_failure_) first_failure_ = std::current_exception();
}

Tally RangeRun::settle() noexcept {
  const auto take = [](sync::atomic<std::uint64_t>& counter) noexcept {
    // order: relaxed, here and below: the thread that settles has seen the members go.
    const std::uint64_t value = counter.load(order::relaxed);
    if (value != 0) counter.store(0, order::relaxed);  // order: relaxed, as above
    return value;
  };
  Tally tally;
  tally.accepted = claims_.count();  // equivalent(swap) all: members of one answer
  tally.done = take(done_);
  tally.failed = take(failed_);
  tally.cancelled = take(cancelled_);
  tally.expired = take(expired_);
  tally.first_failure = std::exchange(first_failure_, nullptr);
  return tally;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
