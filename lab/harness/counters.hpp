// SPDX-License-Identifier: MIT
// What the kernel and the processor count of a contender: opened by the coordinator's child before
// it becomes the contender, so that threads which libraries start as they are loaded are counted
// too; read by the contender. Where a counter cannot be opened there is a reason instead.
#pragma once

#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "harness/standard.hpp"

namespace handoff::lab {

struct CounterKind {
  const char* name;
  std::uint32_t type;
  std::uint64_t config;
};

inline constexpr std::array counter_kinds{
    CounterKind{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    CounterKind{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    CounterKind{"cache_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    CounterKind{"branch_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    CounterKind{"page_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    CounterKind{"cpu_migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS}};

// Of the calling process and all that it will start, in user mode, standing still until it is
// enabled; the descriptor, or -1 and errno. Safe between fork and exec.
inline int open_counter(const CounterKind& kind) {
  perf_event_attr wanted{};
  wanted.size = sizeof wanted;
  wanted.type = kind.type;
  wanted.config = kind.config;
  wanted.disabled = 1;
  wanted.inherit = 1;
  wanted.exclude_kernel = 1;
  wanted.exclude_hv = 1;
  return static_cast<int>(syscall(SYS_perf_event_open, &wanted, 0, -1, -1, 0UL));
}

}  // namespace handoff::lab
