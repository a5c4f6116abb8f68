// SPDX-License-Identifier: MIT
// Where the threads of a contender spend their time: on a CPU, ready for one that others have, or
// off CPUs, because they wait for something. By the kernel's books (schedstat), which are a tick
// behind; where it keeps none there is nothing.
#pragma once

#include <filesystem>
#include <fstream>

#include "harness/standard.hpp"

namespace handoff::lab {

// For an item of work in a row's `per_item`: of the submitting thread, and of all others together.
struct ThreadTimeNames {
  const char* on_cpu;
  const char* ready;
  const char* off_cpu;
};
inline constexpr std::array thread_time_names{
    ThreadTimeNames{"submitter_on_cpu_ns", "submitter_ready_ns", "submitter_off_cpu_ns"},
    ThreadTimeNames{"others_on_cpu_ns", "others_ready_ns", "others_off_cpu_ns"}};

class ThreadTimes {
 public:
  // Of the threads that there are now.
  static ThreadTimes now() {
    ThreadTimes times;
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", gone)) {
      Time time;
      std::ifstream book(entry.path() / "schedstat");
      if (book >> time.on_cpu >> time.ready) times.threads_[entry.path().filename()] = time;
    }
    return times;
  }

  // Since `before`, `wall_ns` ago, of the threads that were there then.
  [[nodiscard]] std::map<std::string, double> since(const ThreadTimes& before,
                                                    double wall_ns) const {
    std::map<std::string, double> times;
    const std::string submitter = std::to_string(getpid());
    for (const auto& [thread, end] : threads_) {
      const auto start = before.threads_.find(thread);
      if (start == before.threads_.end()) continue;
      const double on_cpu = end.on_cpu - start->second.on_cpu;
      const double ready = end.ready - start->second.ready;
      const ThreadTimeNames& names = thread_time_names[thread == submitter ? 0 : 1];
      times[names.on_cpu] += on_cpu;
      times[names.ready] += ready;
      times[names.off_cpu] += std::max(0.0, wall_ns - on_cpu - ready);
    }
    return times;
  }

 private:
  struct Time {
    double on_cpu = 0;
    double ready = 0;
  };
  std::map<std::string, Time> threads_;
};

}  // namespace handoff::lab
