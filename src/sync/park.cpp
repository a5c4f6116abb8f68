// SPDX-License-Identifier: MIT
//
// The futex calls.
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <handoff/sync/internal/park.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {
namespace {

int scoped(int operation, ParkScope scope) noexcept {
  return scope == ParkScope::process ? operation | FUTEX_PRIVATE_FLAG : operation;
}

// What SYS_futex reads. It is the C library's timespec only where time_t is a long: with 32-bit
// pointers a program may be compiled with a longer one.
struct KernelTime {
  long seconds;
  long nanoseconds;
};

KernelTime to_kernel_time(Deadline deadline) noexcept {
  const auto since = std::max(deadline.time_since_epoch(), clock::duration::zero());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
  // With a long of 32 bits a moment more than 68 years after the machine's start is one 68 years
  // after it: then the wait ends for no reason, which each caller allows for.
  return {static_cast<long>(std::min<std::int64_t>(seconds.count(), LONG_MAX)),
          static_cast<long>((since - seconds).count())};
}

}  // namespace

bool park(const atomic<std::uint32_t>& word, std::uint32_t expected, Deadline deadline,
          ParkScope scope) noexcept {
  // FUTEX_WAIT_BITSET and not FUTEX_WAIT: its time-out is a moment on CLOCK_MONOTONIC, so a wait
  // that is interrupted and begun again does not get longer.
  KernelTime until{};
  const KernelTime* limit = nullptr;
  if (deadline != no_deadline) {
    // equivalent(swap): a value and its address, both before the call
    until = to_kernel_time(deadline);
    limit = &until;
  }
  const long result = ::syscall(SYS_futex, word.address(), scoped(FUTEX_WAIT_BITSET, scope),
                                expected, limit, nullptr, FUTEX_BITSET_MATCH_ANY);
  return result == 0 || errno != ETIMEDOUT;
}

std::uint32_t unpark(const atomic<std::uint32_t>& word, std::uint32_t most,
                     ParkScope scope) noexcept {
  const auto count = static_cast<int>(std::min<std::uint32_t>(most, INT_MAX));
  const long woken =
      ::syscall(SYS_futex, word.address(), scoped(FUTEX_WAKE, scope), count, nullptr, nullptr, 0);
  return woken > 0 ? static_cast<std::uint32_t>(woken) : 0;
}

}}}  // namespace handoff::HANDOFF_ABI::sync
