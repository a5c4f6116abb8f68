// SPDX-License-Identifier: MIT
//
// The asymmetric fence: of two threads that each wrote, fenced and read, one sees the other's
// write; where the kernel has the heavy half, and where it has not.
#include <gtest/gtest.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <handoff/sync/atomic.hpp>
#include <handoff/sync/fence.hpp>
#include <thread>
#include <vector>

#include "support/failing.hpp"
#include "support/fresh_process.hpp"
#include "support/support.hpp"

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

// What one thread writes and the other one reads, far from what that one writes.
struct alignas(256) Flag {
  atomic<int> value{0};
};

struct Side {
  std::vector<Flag> flags;
  std::vector<int> seen;  // of the other side's flag
  atomic<std::size_t> arrived{0};

  explicit Side(std::size_t rounds) : flags(rounds), seen(rounds) {}

  template <class Fence>
  void play(Side& other, const Fence& fence) {
    for (std::size_t i = 0; i < flags.size(); ++i) {
      arrived.store(i + 1, order::release);                       // order: release, the start
      while (other.arrived.load(order::acquire) < i + 1) {        // order: acquire, the start
      }
      flags[i].value.store(1, order::relaxed);                    // order: relaxed, fenced
      fence();
      seen[i] = other.flags[i].value.load(order::relaxed);        // order: relaxed, fenced
    }
  }
};

TEST(Fence, OneOfTwoSeesTheOther) {
  const std::size_t rounds = handoff::test::rounds(20'000);
  Side hot(rounds);
  Side rare(rounds);
  std::thread thread([&] { hot.play(rare, [] { asymmetric_fence_light(); }); });
  rare.play(hot, [] { asymmetric_fence_heavy(); });
  thread.join();
  std::size_t blind = 0;
  for (std::size_t i = 0; i < rounds; ++i) blind += hot.seen[i] + rare.seen[i] == 0 ? 1U : 0U;
  EXPECT_EQ(blind, 0U) << "of " << rounds << " rounds";
}

// The kernel is asked before main(): so a fresh process runs these tests again.
TEST(Fence, HoldsWithoutTheKernelsHelp) {
  if (::getenv(handoff::test::without_membarrier) != nullptr) {
    EXPECT_FALSE(kernel_has_it());
    return;
  }
  EXPECT_EQ(handoff::test::in_fresh_process("Fence.*", handoff::test::without_membarrier, "1"), 0);
}

}  // namespace
