// SPDX-License-Identifier: MIT
//
// The asymmetric fence where the kernel has the heavy half, and where it has not. What it orders is
// in names_test.cpp.
#include <linux/membarrier.h>

#include <handoff/sync/internal/fence.hpp>

#include "support/failing.hpp"
#include "support/fresh_process.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff::sync;
using handoff::test::Call;

bool kernel_has_it() {
  const long known = ::syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  return known >= 0 && (known & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0;
}

TEST(Fence, TheLightHalfIsFreeIfTheKernelHasTheHeavyOne) {
  EXPECT_EQ(light_fence_is_free(), kernel_has_it());
}

TEST(Fence, TheHeavyHalfIsOneCall) {
  if (!kernel_has_it()) GTEST_SKIP() << "no membarrier(2) here";
  const std::size_t before = handoff::test::calls(Call::barrier);
  asymmetric_fence_heavy();
  EXPECT_EQ(handoff::test::calls(Call::barrier), before + 1);
}

// The kernel is asked before main(): so a fresh process runs these tests again.
TEST(Fence, HoldsWithoutTheKernelsHelp) {
  if (::getenv(handoff::test::without_membarrier) != nullptr) {
    EXPECT_FALSE(kernel_has_it());
    return;
  }
  EXPECT_EQ(handoff::test::in_fresh_process("Fence.*:-Fence.Canary*",
                                            handoff::test::without_membarrier, "1"),
            0);
}

}  // namespace
