// SPDX-License-Identifier: MIT
//
// What this process has used up so far.
#pragma once

#include <sys/resource.h>

#include <chrono>

namespace handoff::test {

inline rusage usage() noexcept {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used;
}

// CPU time of all its threads.
inline std::chrono::microseconds cpu_time() noexcept {
  const auto of = [](const timeval& t) {
    return std::chrono::seconds(t.tv_sec) + std::chrono::microseconds(t.tv_usec);
  };
  const rusage used = usage();
  return of(used.ru_utime) + of(used.ru_stime);
}

// How often its threads have gone to sleep.
inline long sleeps() noexcept { return usage().ru_nvcsw; }

}  // namespace handoff::test
