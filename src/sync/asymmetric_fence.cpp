// SPDX-License-Identifier: MIT
//
// The heavy half of the asymmetric fence: membarrier(2).
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <handoff/sync/internal/fence.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {
namespace {

bool membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

bool register_and_try() noexcept {
  return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
         membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

}  // namespace

// Registering is a promise of the kernel to this process; a child of fork() inherits it.
// Until it is made the light half is a full fence.
const bool detail::membarrier_works = register_and_try();

void asymmetric_fence_heavy() noexcept {
  fence(order::seq_cst);  // order: this thread's own half; partner is asymmetric_fence_light()
  // Not asked `membarrier_works`: a thread of a static constructor may come here before it is set.
  if (!membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) register_and_try();
}

}}}  // namespace handoff::HANDOFF_ABI::sync
