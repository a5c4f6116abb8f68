// SPDX-License-Identifier: MIT
//
// The system's list of what is done around fork(), and which process this is.
#include <pthread.h>

#include <handoff/sync/internal/fork.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {
namespace {

constinit int forks_counted = 0;  // changed where there is one thread

}  // namespace

bool at_fork_in_child(void (*function)()) noexcept {
  return pthread_atfork(nullptr, nullptr, function) == 0;
}

// Without memory for the word no fork is seen.
int Origin::forks() noexcept {
  [[maybe_unused]] static const bool is_told = at_fork_in_child([] { ++forks_counted; });
  return forks_counted;
}

}}}  // namespace handoff::HANDOFF_ABI::sync
