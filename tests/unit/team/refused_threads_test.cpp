// SPDX-License-Identifier: MIT
//
// The system refuses the k-th thread, or an allocation, for every k until all goes well.
#include <errno.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <filesystem>
#include <handoff/team/thread_team.hpp>
#include <new>
#include <thread>

#include "support/allocations.hpp"

namespace {

// The call that finds it at 0 is refused; negative: none is.
std::atomic<int> threads_until_refusal{-1};

std::size_t threads_now() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator("/proc/self/task")) {
    ++count;
  }
  return count;
}

// A joined thread may stay in /proc for a moment.
bool threads_become(std::size_t count) {
  for (int i = 0; i < 1000; ++i) {
    if (threads_now() == count) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace

extern "C" int __real_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
extern "C" int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                     void* (*function)(void*), void* argument) {
  if (threads_until_refusal >= 0 && threads_until_refusal.fetch_sub(1) == 0) return EAGAIN;
  return __real_pthread_create(thread, attributes, function, argument);
}

namespace {

using handoff::IndexRange;
using handoff::ThreadTeam;

TEST(RefusedThreads, TheTeamRunsWithThoseItGot) {
  constexpr int width = 6;
  const std::size_t before = threads_now();
  for (int k = 0; k < width; ++k) {
    threads_until_refusal = k;
    {
      ThreadTeam team({.width = width});
      threads_until_refusal = -1;
      const int started = k < width - 1 ? k : width - 1;
      EXPECT_EQ(team.width(), static_cast<std::size_t>(started) + 1);
      std::atomic<std::size_t> ran{0};
      EXPECT_EQ(team.run(1000, [&](IndexRange range) { ran += range.size(); }).done, 1000U);
      EXPECT_EQ(ran, 1000U);
    }
    EXPECT_TRUE(threads_become(before)) << "k = " << k;
  }
}

TEST(RefusedThreads, AnAllocationThatFailsLeavesNothingBehind) {
  const std::size_t before = threads_now();
  bool whole = false;
  for (int k = 0; k < 100 && !whole; ++k) {
    handoff::ThreadTeamOptions options{.width = 3, .name = "a name too long to be kept inside"};
    handoff::test::fail_allocation_after(k);
    try {
      ThreadTeam team(std::move(options));
      handoff::test::fail_allocation_after(-1);
      EXPECT_EQ(team.run(10, [](IndexRange) {}).done, 10U);
      whole = team.width() == 3;
    } catch (const std::bad_alloc&) {
    }
    handoff::test::fail_allocation_after(-1);
    EXPECT_TRUE(threads_become(before)) << "k = " << k;
  }
  EXPECT_TRUE(whole) << "the loop must reach the run in which nothing fails";
}

}  // namespace
