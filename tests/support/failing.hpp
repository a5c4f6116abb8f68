// SPDX-License-Identifier: MIT
//
// Calls of the system and of the allocator that fail when a test says so, and are counted.
//
//   until_whole(Call::thread, EAGAIN, [] { ... all that a user does ... });
//
// runs the scenario again and again, with the 0th, the 1st, the 2nd ... such call failing, until a
// run comes through in which none had to: so every place where it can fail has failed once. The
// scenario checks that each time the promise holds and nothing is left behind.
// Link the test with handoff_test_failing: the linker then leads every such call of the test and
// of the library here (--wrap), beneath which a sanitizer's own still stands.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <utility>

namespace handoff::test {

enum class Call : std::uint8_t {
  allocation,  // operator new: throws std::bad_alloc
  thread,      // pthread_create
  map,         // mmap
  futex,       // futex waits
  wake,        // futex wake-ups: counted, never made to fail
  barrier,     // membarrier: counted, never made to fail; see without_membarrier
  affinity,    // sched_getaffinity
  yield,       // sched_yield: counted, never made to fail
  open,
  read,
  write,  // with error 0 it writes nothing, and returns that
  sync,   // fsync, fdatasync
  close,  // closes the file all the same, as the kernel does
};

// How many there have been.
std::size_t calls(Call call) noexcept;

// The call after the next `k` fails with `error`, once.
void fail_after(Call call, int k, int error) noexcept;

// Lets all calls through again; true if the failure had happened.
bool stop_failing(Call call) noexcept;

// A process that has this in its environment runs as on a kernel without membarrier(2).
inline constexpr const char* without_membarrier = "HANDOFF_TEST_WITHOUT_MEMBARRIER";

// The wall clock jumps: from here on it says so many seconds more to all callers. A wait for a
// moment on it cannot be made to jump; it is counted.
void step_wall_clock(std::int64_t seconds) noexcept;

// How often somebody asked the wall clock, or waited for it.
std::size_t uses_of_wall_clock() noexcept;

// See above. `afterwards` runs after each run, when nothing fails any more. Returns how many places
// there were.
inline int until_whole(
    Call call, int error, const std::function<void()>& scenario,
    const std::function<void()>& afterwards = [] {}) {
  constexpr int places_most = 1000;
  for (int k = 0; k < places_most; ++k) {
    SCOPED_TRACE(testing::Message() << "with failing call number " << k);
    fail_after(call, k, error);
    scenario();
    const bool failed = stop_failing(call);
    afterwards();
    if (!failed) return k;
  }
  ADD_FAILURE() << "a call failed in each of " << places_most << " runs";
  return places_most;
}

// Runs it; false where it ended with std::bad_alloc.
template <class F>
bool had_memory(F&& run) {
  try {
    std::forward<F>(run)();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// The same for allocations, where a run may end with std::bad_alloc.
inline int until_enough_memory(const std::function<void()>& scenario) {
  return until_whole(Call::allocation, 0, [&] { (void)had_memory(scenario); });
}

}  // namespace handoff::test
