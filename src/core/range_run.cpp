// SPDX-License-Identifier: MIT
//
// What is seldom in a run, its end, and what a reduction says of which a part was left out.
#include <chrono>
#include <handoff/core/internal/range_run.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/core/status.hpp>
#include <handoff/sync/clock.hpp>
#include <utility>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

using sync::order;

bool RangeRun::give_up(const Until& until, Stride& stride) noexcept {
  const bool is_stopped = until.stop_requested();
  const sync::Deadline now = sync::clock::now();
  if (is_stopped || now >= until.deadline()) {
    // order: relaxed, as in cancel_rest().
    (is_stopped ? cancelled_ : expired_).fetch_add(claims_.close(), order::relaxed);
    return true;
  }
  constexpr std::chrono::microseconds between_looks{50};
  stride.look(now, claims_.smallest(), between_looks);
  return false;
}

void RangeRun::keep_failure(std::size_t size) noexcept {
  const std::exception_ptr failure = caught_failure();
  {
    const sync::Lock lock(failure_mutex_);
    failed_ += size;
    if (!first_failure_) first_failure_ = failure;
  }
  if (at_failure_ == AtFailure::rest_left_out) cancel_rest();
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
  tally.failed = std::exchange(failed_, 0);
  tally.cancelled = take(cancelled_);
  tally.expired = take(expired_);
  tally.done = tally.accepted - tally.failed - tally.cancelled - tally.expired;  // RR-1
  tally.first_failure = std::exchange(first_failure_, nullptr);
  return tally;
}

void refuse_part(const Tally& tally) {
  raise(NotRun(tally.cancelled != 0 ? Status::stopped : Status::timed_out));
}

}}}  // namespace handoff::HANDOFF_ABI::detail
