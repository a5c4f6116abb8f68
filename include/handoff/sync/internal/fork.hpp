// SPDX-License-Identifier: MIT
//
// What a process that was forked has to know: it has one thread of all that there were. Not for
// users.
//
// Concurrency: any thread. Allocates: at_fork_in_child() what the system needs to remember it.
// Throws: never.
#pragma once

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

// Calls `function` in each child that fork() makes from here on, before fork() returns there; until
// the shared object that has it is unloaded. False: no memory.
bool at_fork_in_child(void (*function)()) noexcept;

// The process that made something. In a fork of it the threads of that thing are not there, and its
// locks may be held for ever: nothing of it is to be waited for.
class Origin {
 public:
  Origin() noexcept = default;  // nothing was made
  static Origin here() noexcept { return Origin(forks()); }
  bool is_here() const noexcept { return forks_ == forks(); }

 private:
  explicit Origin(int forks) noexcept : forks_(forks) {}
  // That lie between the first process that asked and this one.
  static int forks() noexcept;

  int forks_ = 0;
};

}}}  // namespace handoff::HANDOFF_ABI::sync
