// SPDX-License-Identifier: MIT
//
// What the threads that a test has made have used up: not the test's own thread, nor those that a
// sanitizer has for itself.
#pragma once

#include <sys/types.h>
#include <time.h>

#include "support/test.hpp"
#include "support/threads_of_process.hpp"

namespace handoff::test {

// CPU time of a thread of this process, by its number.
inline std::chrono::nanoseconds cpu_time_of(pid_t thread) {
  // The clocks of pthread_getcpuclockid(3), which knows no threads but those it started.
  constexpr unsigned per_thread = 4;
  constexpr unsigned by_scheduler = 2;
  const auto clock =
      static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3U) | per_thread | by_scheduler);
  timespec time{};
  if (clock_gettime(clock, &time) != 0) throw std::runtime_error("a thread has no CPU clock");
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// How often a thread of this process has gone to sleep.
inline long sleeps_of(pid_t thread) {
  std::ifstream status("/proc/self/task/" + std::to_string(thread) + "/status");
  const std::string wanted = "voluntary_ctxt_switches:";
  for (std::string line; std::getline(status, line);) {
    if (line.compare(0, wanted.size(), wanted) == 0) return std::stol(line.substr(wanted.size()));
  }
  throw std::runtime_error("the kernel does not count how often a thread sleeps");
}

// The threads that are there and were not when this was made.
class ThreadsSince {
 public:
  ThreadsSince() {
    std::thread([] {}).join();  // a sanitizer's own thread comes with the first one
    // That one may still be about to go, which can hide another one from who lists them.
    std::vector<pid_t> seen;
    do {
      before_ = std::exchange(seen, threads_of_process());
    } while (before_ != seen);
  }

  std::chrono::nanoseconds cpu_time() const {
    std::chrono::nanoseconds sum{0};
    for (const pid_t thread : made()) sum += cpu_time_of(thread);
    return sum;
  }

  long sleeps() const {
    long sum = 0;
    for (const pid_t thread : made()) sum += sleeps_of(thread);
    return sum;
  }

  std::vector<pid_t> made() const {
    std::vector<pid_t> made;
    for (const pid_t thread : threads_of_process()) {
      if (std::find(before_.begin(), before_.end(), thread) == before_.end()) {
        made.push_back(thread);
      }
    }
    return made;
  }

 private:
  std::vector<pid_t> before_;
};

}  // namespace handoff::test
