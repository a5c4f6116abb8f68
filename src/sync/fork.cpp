// SPDX-License-Identifier: MIT
//
// The system's list of what is done around fork().
#include <pthread.h>

#include <handoff/sync/detail/fork.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

bool at_fork_in_child(void (*function)()) noexcept {
  return pthread_atfork(nullptr, nullptr, function) == 0;
}

}}}  // namespace handoff::HANDOFF_ABI::sync
