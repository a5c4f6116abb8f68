// SPDX-License-Identifier: MIT
//
// Which ways there are where a loop is run.
#include <algorithm>
#include <handoff/choice/adaptive_loop.hpp>
#include <handoff/core/detail/workplace.hpp>
#include <handoff/sync/cpu_budget.hpp>
#include <handoff/team/detail/inside_team.hpp>

namespace handoff { inline namespace HANDOFF_ABI {
namespace detail {

// A width beyond the CPUs makes nothing faster that computes. A team of one is its caller.
LoopWays::LoopWays(ThreadTeam* team, ThreadPool* pool) noexcept : team_(team), pool_(pool) {
  const std::size_t cpus = sync::recent_cpu_budget().width();
  if (team != nullptr && team->width() > 1) {
    speeds_[index_of(LoopWay::team)] = static_cast<double>(std::min(cpus, team->width()));
  }
  if (pool != nullptr) {
    const auto speed = static_cast<double>(std::min(cpus, pool->width() + 1));
    speeds_[index_of(LoopWay::pool)] = nested_speeds_[index_of(LoopWay::pool)] = speed;
  }
}

bool is_in_parallel_work() noexcept { return workplace_in_task() != nullptr || is_inside_a_team(); }

bool is_over(Tally& tally, std::size_t left, const RunOptions& options) noexcept {
  const Until& until = options.until;
  if (until.stop_requested()) {
    tally.cancelled = left;
    return true;
  }
  if (!until.has_deadline() || sync::clock::now() < until.deadline()) return false;
  tally.expired = left;
  return true;
}

}  // namespace detail

LoopChoice AdaptiveLoop::choice() const noexcept {
  const std::size_t slot = memory_.last_slot();
  return memory_.choice(slot, ways_.speeds(slot >= detail::LoopMemory::size_count));
}

LoopChoice AdaptiveLoop::choice(std::size_t count) const noexcept {
  return memory_.choice(detail::LoopMemory::slot_of(count, false), ways_.speeds(false));
}

}}  // namespace handoff::HANDOFF_ABI
