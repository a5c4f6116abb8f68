// SPDX-License-Identifier: MIT
// The longest chain of work in a recording of which each piece had to follow the one before: what
// would be left with any number of threads and CPUs. What follows what:
// - What was handed over follows what its thread had done until it handed it over.
// - What lies in a slice, or comes after it on the same thread, follows it; but a worker's task
//   follows the hand-over alone, whatever that worker did before.
// - What comes after a sleep of the cause wait or join follows the slice that ended last on another
//   thread meanwhile. That is a guess: a trace does not say what ended the sleep.
// - What comes after a wait for room (full) follows its own thread alone: with more threads there
//   had been room.
// A chain never is two things at the same time, so it is no longer than the recording.
//
// What counts: slices without their waits, waits for a file (io), and what a thread that is no
// worker does outside of slices; of a thread's time only the share in which it was not just ready
// for a CPU, as far as the kernel has counted that. A worker is a thread that has slept for want of
// work (idle), or that this library has named.
#pragma once

#include "tracing/recording.hpp"

namespace handoff::lab::tracing {

struct PathPart {
  std::string category;
  std::string name;  // of the slice; of the thread where it was outside of slices
  std::uint64_t ns = 0;
  bool outside = false;
};

struct CriticalPath {
  std::uint64_t length_ns = 0;
  std::uint64_t hand_overs = 0;  // along it
  std::uint64_t between_ns = 0;  // from handing over to running, and from an end to waking; beside
                                 // the length
  std::vector<PathPart> parts;  // the longest first; their times sum up to the length
};

// Writes into the recording's hand-overs. `at_work`: of each thread, see Usage.
CriticalPath critical_path(Recording& recording, const std::vector<double>& at_work);

}  // namespace handoff::lab::tracing
