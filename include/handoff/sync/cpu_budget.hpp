// SPDX-License-Identifier: MIT
//
// How many threads can really run at once, by the affinity mask and the cgroup quotas.
//
//   const unsigned width = cpu_budget().width();
//
// For: default widths, and deciding whether spinning makes sense (backoff.hpp). Not for: the shape
// of the machine (caches, nodes, cores).
// A container that may use 1.5 CPUs of a machine with 64 has room for 2 threads, not for 64: more
// threads would use up the quota earlier, and then the kernel stops all of them. The quota is the
// smallest of all groups above this process, in cgroup v1 and v2, as far as its mounts show them.
// Cpusets are not read, because the kernel keeps the affinity mask inside them.
// Concurrency: any thread at any time. cpu_budget() reads small files, which takes as long as
// starting two threads; recent_cpu_budget() does so once a second at most.
// Throws: never. A file that cannot be read or makes no sense sets no limit.
#pragma once

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

struct CpuBudget {
  unsigned affinity;  // CPUs that the calling thread may run on, at least 1
  double quota;       // CPUs' worth of time the cgroups allow, above 0; infinity if unlimited

  // The affinity cut by the quota, rounded up, never 0.
  unsigned width() const noexcept;
};

// Where to look; other values than these are for tests.
struct CpuBudgetSource {
  const char* root = "";  // put before every path that is read
  unsigned affinity = 0;  // 0: ask the kernel
};

// Asks the kernel for the mask and reads the quotas.
[[nodiscard]] CpuBudget cpu_budget(const CpuBudgetSource& source = {}) noexcept;

// The mask of now, and the quota as it was at most a second ago.
[[nodiscard]] CpuBudget recent_cpu_budget() noexcept;

}}}  // namespace handoff::HANDOFF_ABI::sync
