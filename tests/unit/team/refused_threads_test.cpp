// SPDX-License-Identifier: MIT
//
// The system refuses the k-th thread, or an allocation, for every k until all goes well.
#include <errno.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <handoff/team/thread_team.hpp>
#include <new>
#include <thread>

namespace {

// Fails the call that finds it at 0 and counts on from there; negative: never fails.
std::atomic<int> threads_until_refusal{-1};
std::atomic<int> allocations_until_refusal{-1};

bool refuses(std::atomic<int>& counter) { return counter >= 0 && counter.fetch_sub(1) == 0; }

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
  if (refuses(threads_until_refusal)) return EAGAIN;
  return __real_pthread_create(thread, attributes, function, argument);
}

void* operator new(std::size_t bytes) {
  if (!refuses(allocations_until_refusal)) {
    if (void* const memory = std::malloc(bytes)) return memory;
  }
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

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
    allocations_until_refusal = k;
    try {
      ThreadTeam team(std::move(options));
      allocations_until_refusal = -1;
      EXPECT_EQ(team.run(10, [](IndexRange) {}).done, 10U);
      whole = team.width() == 3;
    } catch (const std::bad_alloc&) {
    }
    allocations_until_refusal = -1;
    EXPECT_TRUE(threads_become(before)) << "k = " << k;
  }
  EXPECT_TRUE(whole) << "the loop must reach the run in which nothing fails";
}

}  // namespace
