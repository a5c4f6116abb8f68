// SPDX-License-Identifier: MIT
//
// A trace of what the library does in this program, written to a file that Perfetto opens.
//
//   if (const std::error_code why = handoff::trace::start("trace.json")) ...
//   ... work ...
//   const handoff::trace::Tally tally = handoff::trace::stop();
//
// To trace a whole program, this header is not needed: run `HANDOFF_TRACE=trace.json ./program`
// (docs/guide/tracing.md). Then start() is refused, and stop() does nothing.
// For: to see what each thread did and when, which thread handed it over, and why threads slept.
// Not for: counting (Tally, PoolStatistics).
// Cost: 15 to 30 ns an event, most of it for the clock; without a trace a load and a branch. Each
// thread has a buffer of its own and never waits for it: if the buffer is full, events are dropped
// and counted. A thread of the recorder writes whole lines, a thousand times a second.
// Concurrency: any thread; start() and stop() come one after the other.
// Blocks: stop(), until all events are written; on a pipe that nobody reads, at most ten seconds.
// Allocates: start(), and each thread at its first event.
// Exceptions: none.
// fork(): the child is not traced, and may start a trace of its own. exit() ends a trace that runs;
//   _exit() and signals leave a file without an end, which opens: the last milliseconds are
//   missing.
// Unloading: a trace ends when the shared object that has the library is unloaded.
#pragma once

#include <cstdint>
#include <string>
#include <system_error>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace trace {

// What became of the events of a trace.
struct Tally {
  std::uint64_t recorded = 0;  // came into a buffer
  std::uint64_t dropped = 0;  // found their buffer full
  std::uint64_t written = 0;  // lines with something that happened
  std::uint64_t open = 0;  // hand-overs that were not taken, and work that had not ended
  std::error_code error = {};  // why nothing more could be written
};

// Begins a trace. Never waits: a pipe that nobody reads is an error. In the path %p stands for the
// number of this process. A file that is there is replaced, unless another process is tracing into
// it: then the path gets `.` and the number of this process at its end. The error says why there is
// no trace; device_or_resource_busy: one is running in this process.
[[nodiscard]] std::error_code start(const std::string& path);

// Ends the trace that start() began; all zero if there was none. One of HANDOFF_TRACE goes on.
Tally stop() noexcept;

// Whether there is one.
[[nodiscard]] bool running() noexcept;

}}}  // namespace handoff::HANDOFF_ABI::trace
