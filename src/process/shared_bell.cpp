// SPDX-License-Identifier: MIT
//
// The sleeping side of a bell and its wake-ups.
#include <algorithm>
#include <chrono>
#include <handoff/probe/internal/slice.hpp>
#include <handoff/process/detail/shared_bell.hpp>
#include <handoff/sync/internal/park.hpp>
#include <handoff/sync/stop_token.hpp>
#include <limits>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr std::uint32_t kAll = std::numeric_limits<std::uint32_t>::max();

void wake_all(const sync::atomic<std::uint32_t>& word) noexcept {
  sync::unpark(word, kAll, sync::ParkScope::shared);
}

sync::Deadline nap_end() noexcept { return sync::deadline_after(std::chrono::milliseconds(1)); }

}  // namespace

void SharedBell::wake() noexcept {
  // order: relaxed, what it leads to is a compare-and-swap.
  std::uint32_t seen = word_.load(sync::order::relaxed);
  while ((seen & kAsleep) != 0) {
    // order: relaxed. The heavy fence in mark() comes after a mark that reads this, and makes known
    // the change that came before.
    if (word_.compare_exchange_weak(seen, (seen & ~kAsleep) + kEpoch, sync::order::relaxed,
                                    sync::order::relaxed)) {
      wake_all(word_);
      return;
    }
  }
}

void SharedBell::disturb() noexcept {
  // order: release pairs with the fence after the mark that reads this: what is behind the
  // disturbance is seen by the look.
  word_.fetch_add(kEpoch, sync::order::release);
  wake_all(word_);
}

void SharedBell::close() noexcept {
  // order: release pairs with the acquire in closed() and with the fence in mark().
  word_.fetch_or(kClosed, sync::order::release);
  wake_all(word_);
}

SharedBell::Mark SharedBell::mark() noexcept {
  // order: relaxed, ordered by the fence below.
  const std::uint32_t before = word_.fetch_or(kAsleep, sync::order::relaxed);
  const bool is_ordered = sync::shared_fence_heavy();  // partner is the light half in look()
  return {before | kAsleep, is_ordered};
}

void SharedBell::withdraw(BellSleepers sleepers) noexcept {
  if (sleepers == BellSleepers::many) return;  // the mark may be another's too
  // order: relaxed, a hint: at worst a wake-up for nobody.
  word_.fetch_and(~kAsleep, sync::order::relaxed);
}

void SharedBell::stop(void* self) noexcept { static_cast<SharedBell*>(self)->disturb(); }

Status SharedBell::sleep(const Mark& mine, sync::Deadline deadline, const sync::StopToken& token,
                         BellPatience& patience) noexcept {
  // Runs at once if the stop was requested already; later it changes the word before it wakes, so
  // that a sleep that has not begun yet does not begin.
  const sync::StopCallback on_stop(token, &SharedBell::stop, this);
  if (token.stop_requested()) return Status::stopped;
  // Where the kernel refuses the fence a ringer may miss the mark: short naps instead.
  const sync::Deadline nap = mine.is_ordered ? deadline : std::min(deadline, nap_end());
  const probe::Slice asleep(probe::Kind::sleep, "wait");
  const sync::clock::time_point begin = sync::clock::now();
  const bool in_time = sync::park(word_, mine.seen, nap, sync::ParkScope::shared);
  patience.slept(sync::clock::now() - begin);
  if (!in_time && nap == deadline) return Status::timed_out;
  return token.stop_requested() ? Status::stopped : Status::ok;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
