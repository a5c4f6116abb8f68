// SPDX-License-Identifier: MIT
//
// The small names of sync/: clock, deadlines, fences, thread_slot, allocate.
#include <handoff/sync/detail/point.hpp>
#include <handoff/sync/internal/allocate.hpp>
#include <handoff/sync/internal/fence.hpp>
#include <handoff/sync/internal/thread.hpp>
#include <handoff/sync/internal/thread_slot.hpp>

#include "support/test.hpp"

namespace {

using namespace handoff::sync;
using namespace std::chrono_literals;

TEST(Clock, NeverGoesBack) {
  auto last = clock::now();
  for (int i = 0; i < 100'000; ++i) {
    const auto now = clock::now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(Clock, CountsTheSameSecondsAsTheSteadyClock) {
  const auto ours = clock::now().time_since_epoch();
  const auto theirs = std::chrono::steady_clock::now().time_since_epoch();
  EXPECT_LT(theirs - ours, 60s);
  EXPECT_GE(theirs, ours);
}

TEST(DeadlineAfter, NothingOrLessIsNow) {
  const auto before = clock::now();
  for (const auto wait : {0ns, -1ns, std::chrono::nanoseconds::min()}) {
    const Deadline deadline = deadline_after(wait);
    EXPECT_GE(deadline, before);
    EXPECT_LE(deadline, clock::now());
  }
  const Deadline others[] = {
      deadline_after(std::chrono::hours::min()),
      deadline_after(std::chrono::duration<double>(-1e300)),
      deadline_after(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN()))};
  for (const Deadline deadline : others) EXPECT_LE(deadline, clock::now());
}

TEST(DeadlineAfter, WhatWouldOverflowNeverComes) {
  EXPECT_EQ(deadline_after(std::chrono::nanoseconds::max()), no_deadline);
  EXPECT_EQ(deadline_after(std::chrono::hours::max()), no_deadline);
  EXPECT_EQ(deadline_after(std::chrono::years(300)), no_deadline);
  EXPECT_EQ(deadline_after(std::chrono::duration<double>(1e300)), no_deadline);
  EXPECT_NE(deadline_after(std::chrono::years(10)), no_deadline);
}

TEST(DeadlineAfter, KeepsTheUnit) {
  const auto before = clock::now();
  const Deadline deadline = deadline_after(1.5s);
  const auto after = clock::now();
  EXPECT_GE(deadline, before + 1500ms);
  EXPECT_LE(deadline, after + 1500ms);
}

// The CPUs this thread may use.
std::vector<int> own_cpus() {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) cpus.push_back(cpu);
  }
  return cpus;
}

// Two threads, on two CPUs if there are two, each: write mine, fence, read yours. If the fences
// order, at least one sees the other's write, in every round. The canary below shows that the
// harness sees it when they do not.
template <class FenceA, class FenceB>
std::size_t rounds_where_neither_saw(std::size_t rounds, FenceA fence_a, FenceB fence_b) {
  alignas(destructive_span) std::atomic<std::size_t> a{0};
  alignas(destructive_span) std::atomic<std::size_t> b{0};
  alignas(destructive_span) std::atomic<std::size_t> seen_by_b{0};
  alignas(destructive_span) std::atomic<std::size_t> at_start{0};
  alignas(destructive_span) std::atomic<std::size_t> at_end{0};
  // Set before the meeting at a round's start. Beside busy neighbours each meeting costs turns of
  // the scheduler, so the time is bounded, too.
  std::atomic<std::size_t> last{rounds};
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  // Then a delay of some nanoseconds, another one each time, so that the writes sometimes fall on
  // the same moment.
  const auto meet = [](std::atomic<std::size_t>& place, std::size_t arrivals, std::uint64_t delay) {
    place.fetch_add(1);
    for (int looks = 0; place.load() < arrivals; ++looks) {
      if (looks > 10'000) std::this_thread::yield();
    }
    for (std::uint64_t i = 0; i < delay; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
  };
  const std::vector<int> cpus = own_cpus();
  Thread other({.cpu = cpus.back()}, [&] {
    auto random = handoff::test::random(1);
    for (std::size_t round = 1; round <= rounds; ++round) {
      meet(at_start, 2 * round, random() % 256);
      if (round > last.load()) break;
      b.store(round, std::memory_order_relaxed);
      fence_b();
      seen_by_b.store(a.load(std::memory_order_relaxed), std::memory_order_relaxed);
      meet(at_end, 2 * round, 0);
    }
  });
  std::size_t neither = 0;
  Thread self({.cpu = cpus.front()}, [&] {
    auto random = handoff::test::random(2);
    for (std::size_t round = 1; round <= rounds; ++round) {
      const bool late = round > 1 && std::chrono::steady_clock::now() > until;
      if (late) last.store(round - 1);
      meet(at_start, 2 * round, random() % 256);
      if (late) break;
      a.store(round, std::memory_order_relaxed);
      fence_a();
      const std::size_t seen = b.load(std::memory_order_relaxed);
      meet(at_end, 2 * round, 0);
      neither += seen != round && seen_by_b.load(std::memory_order_relaxed) != round;
    }
  });
  self.join();
  other.join();
  return neither;
}

TEST(Fence, TwoFullFencesOrder) {
  const auto full = [] { fence(order::seq_cst); };  // order: partner is the other thread's
  EXPECT_EQ(rounds_where_neither_saw(handoff::test::rounds(100'000), full, full), 0U);
}

TEST(Fence, LightAndHeavyOrder) {
  EXPECT_EQ(rounds_where_neither_saw(
                handoff::test::rounds(100'000), [] { asymmetric_fence_light(); },
                [] { asymmetric_fence_heavy(); }),
            0U);
}

// Only where the code between the store and the load is short enough for the processor to swap
// them: calls of unoptimised code and a sanitizer's own work are not.
#if defined(__x86_64__) && defined(__OPTIMIZE__)
TEST(Fence, CanaryWithoutFencesTheHarnessSeesTheReordering) {
  if (own_cpus().size() < 2 || handoff::test::sanitized) GTEST_SKIP() << "needs two CPUs, plain";
  const auto none = [] { std::atomic_signal_fence(std::memory_order_seq_cst); };
  std::size_t neither = 0;
  for (int attempt = 0; attempt < 50 && neither == 0; ++attempt) {
    neither = rounds_where_neither_saw(100'000, none, none);
  }
  EXPECT_GT(neither, 0U);
}
#endif

struct SlotA;
struct SlotB;

TEST(ThreadSlot, OneValueAThreadAndTag) {
  thread_slot<int, SlotA>::get() = 1;
  thread_slot<int, SlotB>::get() = 2;
  int seen = -1;
  std::thread([&] { seen = thread_slot<int, SlotA>::get()++; }).join();
  EXPECT_EQ(seen, 0);
  EXPECT_EQ((thread_slot<int, SlotA>::get()), 1);
  EXPECT_EQ((thread_slot<int, SlotB>::get()), 2);
}

TEST(Allocate, AlignsAsAsked) {
  for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
    void* const memory = allocate(alignment * 3, alignment);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % alignment, 0U);
    deallocate(memory, alignment * 3, alignment);
  }
}

TEST(Point, IsNothingInANormalBuild) { point("a name"); }

}  // namespace
