// SPDX-License-Identifier: MIT
//
// The thread that starts all children of this process.
//
// A child dies with the thread that made it (PR_SET_PDEATHSIG is about the thread): so it is made
// by one that lives as long as the process. The thread is made at the first start, and ends when
// the program or the shared object with this code ends. A process that was forked from this one has
// no such thread and makes its own. Concurrency: thread-safe. Blocks: until the program runs, or
// could not be run.
#pragma once

#include <cstddef>
#include <handoff/config.hpp>

#include "../sync/internal/descriptor.hpp"
#include "child_side.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct Spawned {
  int error = 0;  // an errno; 0: the program runs
  const char* failed = "start the thread that starts programs";  // what was to be done
  int id = -1;
  Descriptor pidfd;
  long resident_kib_max = 0;  // of this process, just after
};

// `plan` with all but `parent`; `cpus` are those of the calling thread, or others.
Spawned spawn(ChildPlan& plan) noexcept;

}}}  // namespace handoff::HANDOFF_ABI::detail
