// SPDX-License-Identifier: MIT
//
// A word for a process that was forked, which has one thread of all that there were. Not for users.
//
// Concurrency: any thread. Allocates: what the system needs to remember it. Throws: never.
#pragma once

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

// Calls `function` in each child that fork() makes from here on, before fork() returns there; until
// the shared object that has it is unloaded. False: no memory.
bool at_fork_in_child(void (*function)()) noexcept;

}}}  // namespace handoff::HANDOFF_ABI::sync
