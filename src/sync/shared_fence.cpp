// SPDX-License-Identifier: MIT
//
// What the kernel knows of other processes: membarrier(2), which reaches all that have registered,
// and how many CPUs there are.
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <handoff/sync/cpu_budget.hpp>
#include <handoff/sync/internal/shared_fence.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {
namespace {

bool global_membarrier(int command) noexcept {
  return ::syscall(SYS_membarrier, command, 0, 0) == 0;
}

}  // namespace

// Until it is made the light half is a full fence.
const bool detail::shared_membarrier_works =
    global_membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);

Spin shared_spin_policy() noexcept {
  static const Spin policy = [] {
    const bool two_at_once = ::sysconf(_SC_NPROCESSORS_ONLN) >= 2 && cpu_budget().quota >= 2.0;
    return two_at_once ? Spin::allowed : Spin::never;
  }();
  return policy;
}

bool shared_fence_heavy() noexcept {
  fence(order::seq_cst);  // order: this thread's own half; partner is shared_fence_light()
  return global_membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

}}}  // namespace handoff::HANDOFF_ABI::sync
