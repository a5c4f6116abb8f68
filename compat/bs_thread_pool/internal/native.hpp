// SPDX-License-Identifier: MIT
//
// The native extensions of BS::thread_pool 5, as far as Linux has them. What the system refuses is
// false or nothing.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace BS {

// Nice values.
enum class os_process_priority {
  idle = 18,
  below_normal = 10,
  normal = 0,
  above_normal = -6,
  high = -13,
  realtime = -20
};
enum class os_thread_priority {
  idle,
  lowest,
  below_normal,
  normal,
  above_normal,
  highest,
  realtime
};

namespace internal {

// `get`, `set`: int(cpu_set_t*).
template <typename Get>
std::optional<std::vector<bool>> affinity_by(Get get) {
  cpu_set_t cpus;
  if (get(&cpus) != 0) return std::nullopt;
  std::vector<bool> affinity(static_cast<std::size_t>(get_nprocs()));
  for (std::size_t i = 0; i < affinity.size(); ++i) affinity[i] = CPU_ISSET(i, &cpus);
  return affinity;
}
template <typename Set>
bool set_affinity_by(Set set, const std::vector<bool>& affinity) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (std::size_t i = 0; i < affinity.size() && i < CPU_SETSIZE; ++i) {
    if (affinity[i]) CPU_SET(i, &cpus);
  }
  return set(&cpus) == 0;
}

// What a thread's priority is to the scheduler.
struct Scheduling {
  os_thread_priority priority;
  int policy;
  int level;
  int nice;  // of SCHED_OTHER
};
inline constexpr std::array schedulings{
    Scheduling{os_thread_priority::idle, SCHED_IDLE, 0, 0},
    Scheduling{os_thread_priority::lowest, SCHED_OTHER, 0, 17},
    Scheduling{os_thread_priority::below_normal, SCHED_OTHER, 0, 10},
    Scheduling{os_thread_priority::normal, SCHED_OTHER, 0, 0},
    Scheduling{os_thread_priority::above_normal, SCHED_OTHER, 0, -18},
    Scheduling{os_thread_priority::highest, SCHED_RR, 50, 0},
    Scheduling{os_thread_priority::realtime, SCHED_FIFO, 99, 0}};

// The parts of this_thread.
class native_thread {
 public:
  [[nodiscard]] static std::optional<std::vector<bool>> get_os_thread_affinity() {
    return affinity_by([](cpu_set_t* cpus) {
      return pthread_getaffinity_np(pthread_self(), sizeof(*cpus), cpus);
    });
  }
  static bool set_os_thread_affinity(const std::vector<bool>& affinity) {
    return set_affinity_by(
        [](const cpu_set_t* cpus) {
          return pthread_setaffinity_np(pthread_self(), sizeof(*cpus), cpus);
        },
        affinity);
  }

  [[nodiscard]] static std::optional<std::string> get_os_thread_name() {
    std::array<char, 16> name{};
    if (pthread_getname_np(pthread_self(), name.data(), name.size()) != 0) return std::nullopt;
    return name.data();
  }
  // At most 15 characters.
  static bool set_os_thread_name(const std::string& name) {
    return pthread_setname_np(pthread_self(), name.c_str()) == 0;
  }

  // Nothing if it is none of these.
  [[nodiscard]] static std::optional<os_thread_priority> get_os_thread_priority() {
    int policy = 0;
    sched_param level{};
    if (pthread_getschedparam(pthread_self(), &policy, &level) != 0) return std::nullopt;
    const int nice = policy == SCHED_OTHER ? getpriority(PRIO_PROCESS, 0) : 0;
    for (const Scheduling& known : schedulings) {
      if (known.policy == policy && known.level == level.sched_priority && known.nice == nice) {
        return known.priority;
      }
    }
    return std::nullopt;
  }
  static bool set_os_thread_priority(os_thread_priority priority) {
    for (const Scheduling& known : schedulings) {
      if (known.priority != priority) continue;
      const sched_param level{.sched_priority = known.level};
      return pthread_setschedparam(pthread_self(), known.policy, &level) == 0 &&
             (known.policy != SCHED_OTHER || setpriority(PRIO_PROCESS, 0, known.nice) == 0);
    }
    return false;
  }
};

}  // namespace internal

[[nodiscard]] inline std::optional<std::vector<bool>> get_os_process_affinity() {
  return internal::affinity_by(
      [](cpu_set_t* cpus) { return sched_getaffinity(getpid(), sizeof(*cpus), cpus); });
}
inline bool set_os_process_affinity(const std::vector<bool>& affinity) {
  return internal::set_affinity_by(
      [](const cpu_set_t* cpus) { return sched_setaffinity(getpid(), sizeof(*cpus), cpus); },
      affinity);
}

// Nothing if it is none of these.
[[nodiscard]] inline std::optional<os_process_priority> get_os_process_priority() {
  const int nice = getpriority(PRIO_PROCESS, static_cast<id_t>(getpid()));
  for (const auto known : {os_process_priority::idle, os_process_priority::below_normal,
                           os_process_priority::normal, os_process_priority::above_normal,
                           os_process_priority::high, os_process_priority::realtime}) {
    if (static_cast<int>(known) == nice) return known;
  }
  return std::nullopt;
}
inline bool set_os_process_priority(os_process_priority priority) {
  return setpriority(PRIO_PROCESS, static_cast<id_t>(getpid()), static_cast<int>(priority)) == 0;
}

}  // namespace BS
