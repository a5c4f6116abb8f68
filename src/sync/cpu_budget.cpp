// SPDX-License-Identifier: MIT
//
// Reads the affinity mask and the CPU quota, and decides by them whether spinning makes sense.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <handoff/sync/backoff.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/cpu_budget.hpp>
#include <handoff/sync/detail/kept_quota.hpp>

#include "internal/control_groups.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

double ratio(std::optional<std::uint64_t> quota, std::optional<std::uint64_t> period) {
  if (!quota || !period || *quota == 0 || *period == 0) return kUnlimited;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

// What the files of one group say. "max" and -1 stand for no limit and are no numbers here.
double quota_of_group(const ControlGroup& group) {
  const std::string& folder = group.folder;
  if (group.hierarchy == Hierarchy::v1) {
    return ratio(parse_number(first_line(folder + "/cpu.cfs_quota_us")),
                 parse_number(first_line(folder + "/cpu.cfs_period_us")));
  }
  const std::string line = first_line(folder + "/cpu.max");
  const std::vector<std::string_view> fields = split(line, ' ');
  if (fields.size() != 2) return kUnlimited;
  return ratio(parse_number(fields[0]), parse_number(fields[1]));
}

[[gnu::cold]] double read_quota(const std::string& prefix) {
  double quota = kUnlimited;
  for (const ControlGroup& group : control_groups(prefix, "cpu")) {
    quota = std::min(quota, quota_of_group(group));
  }
  return quota;
}

// The size of a thread's affinity mask. The kernel refuses a set smaller than its own with EINVAL,
// and does not say how large its own is.
unsigned read_affinity(pid_t thread) noexcept {
  constexpr std::size_t kMostCpus = std::size_t{1} << 20;
  // equivalent(bound): a set that is a little larger holds the same CPUs
  for (std::size_t cpus = CPU_SETSIZE; cpus <= kMostCpus; cpus *= 2) {
    cpu_set_t* const set = CPU_ALLOC(cpus);
    if (set == nullptr) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
    const int failed = ::sched_getaffinity(thread, bytes, set);
    const int error = errno;
    const int count = failed ? 0 : CPU_COUNT_S(bytes, set);
    CPU_FREE(set);
    if (count > 0) return static_cast<unsigned>(count);
    if (error != EINVAL) break;
  }
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);  // for sandboxes that forbid the call
  // equivalent(bound): the system says at least 1, or -1 if it does not know
  return online > 0 ? static_cast<unsigned>(online) : 1;
}

}  // namespace

unsigned CpuBudget::width() const noexcept {
  const double cut = std::ceil(std::min(static_cast<double>(affinity), quota));
  return std::max(1U, static_cast<unsigned>(cut));
}

[[gnu::cold]] CpuBudget cpu_budget(const CpuBudgetSource& source) noexcept {
  CpuBudget budget{source.affinity != 0 ? source.affinity : read_affinity(0), kUnlimited};
  try {
    budget.quota = read_quota(source.root);
  } catch (...) {  // out of memory: the affinity alone is an answer
  }
  return budget;
}

CpuBudget recent_cpu_budget() noexcept {
  static constinit KeptQuota kept;
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(clock::now().time_since_epoch());
  const auto second = static_cast<std::uint32_t>(now.count() + 1);
  if (const auto quota = kept.of(second)) return {read_affinity(0), *quota};
  const CpuBudget budget = cpu_budget();
  kept.keep(budget.quota, second);
  return budget;
}

Spin spin_policy() noexcept {
  // The main thread's mask, not the caller's: the first caller may be a worker pinned to one CPU,
  // and that says nothing about the others. A quota of 1.5 makes a width of 2, but two spinning
  // threads would burn it in three quarters of each period and then stand still.
  static const Spin policy = [] {
    const bool two_at_once = read_affinity(::getpid()) >= 2 && cpu_budget().quota >= 2.0;
    return two_at_once ? Spin::allowed : Spin::never;
  }();
  return policy;
}

}}}  // namespace handoff::HANDOFF_ABI::sync
