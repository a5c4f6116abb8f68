// SPDX-License-Identifier: MIT
//
// The system's list of what is done around fork(), and which process this is.
#include <pthread.h>
#include <unistd.h>

#include <handoff/sync/detail/fork.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

bool at_fork_in_child(void (*function)()) noexcept {
  return pthread_atfork(nullptr, nullptr, function) == 0;
}

int Origin::this_process() noexcept { return ::getpid(); }

}}}  // namespace handoff::HANDOFF_ABI::sync
