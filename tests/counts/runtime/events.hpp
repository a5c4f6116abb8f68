// SPDX-License-Identifier: MIT
//
// What is counted, and under which names: those of tests/counts.toml.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace handoff::counts {

enum class Event : std::uint8_t {
  load_relaxed,
  load_acquire,
  load_seq_cst,
  store_relaxed,
  store_release,
  store_seq_cst,
  rmw_relaxed,
  rmw_acquire,
  rmw_release,
  rmw_acq_rel,
  rmw_seq_cst,
  fence_acquire,
  fence_release,
  fence_acq_rel,
  fence_seq_cst,
  lines,    // that moved from one thread's cache to another's
  wakes,    // threads that a futex woke
  threads,  // that were started
  clock,    // looks at the clock, which are no system calls
  allocations,
  bytes,  // of the allocations
  // System calls; the first ones do something else here than in the kernel.
  call_futex_wait,
  call_futex_wake,
  call_membarrier,
  call_yield,
  call_sleep,
  call_affinity,
  call_fork,
  call_mmap,
  call_open,
  call_fallocate,
  call_copy_file_range,
  call_ioctl,
  call_getrandom,
  call_syscall,
#define X(name) call_##name,
#include "calls.list"
#undef X
  count
};

inline constexpr std::array<const char*, static_cast<std::size_t>(Event::count)> event_names{
    "load.relaxed",
    "load.acquire",
    "load.seq_cst",
    "store.relaxed",
    "store.release",
    "store.seq_cst",
    "rmw.relaxed",
    "rmw.acquire",
    "rmw.release",
    "rmw.acq_rel",
    "rmw.seq_cst",
    "fence.acquire",
    "fence.release",
    "fence.acq_rel",
    "fence.seq_cst",
    "lines",
    "wakes",
    "threads",
    "clock",
    "allocations",
    "bytes",
    "call.futex_wait",
    "call.futex_wake",
    "call.membarrier",
    "call.sched_yield",
    "call.nanosleep",
    "call.sched_getaffinity",
    "call.fork",
    "call.mmap",
    "call.open",
    "call.fallocate",
    "call.copy_file_range",
    "call.ioctl",
    "call.getrandom",
    "call.syscall",
#define X(name) "call." #name,
#include "calls.list"
#undef X
};

using Counts = std::array<std::uint64_t, static_cast<std::size_t>(Event::count)>;

}  // namespace handoff::counts
