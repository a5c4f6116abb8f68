// SPDX-License-Identifier: MIT
//
// The threads of this process, as the kernel knows them.
#pragma once

#include <dirent.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace handoff::test {

inline std::vector<pid_t> threads_of_process() {
  std::vector<pid_t> ids;
  DIR* const folder = opendir("/proc/self/task");
  if (folder == nullptr) return ids;
  while (const dirent* const entry = readdir(folder)) {
    if (entry->d_name[0] != '.') ids.push_back(static_cast<pid_t>(std::atoi(entry->d_name)));
  }
  closedir(folder);
  return ids;
}

// Whether so many are left, or fewer. A thread that was joined may stay in /proc for a moment, and
// one of an earlier test when they were counted.
inline bool threads_become_at_most(std::size_t count) {
  for (int i = 0; i < 1000; ++i) {
    if (threads_of_process().size() <= count) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// Whether the kernel has put this thread to sleep, or it has just ended.
inline bool is_asleep(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t behind_name = text.rfind(") ");  // number, name in brackets, state
  return behind_name == std::string::npos || text[behind_name + 2] == 'S';
}

inline bool all_others_sleep() {
  const std::vector<pid_t> threads = threads_of_process();
  return std::all_of(threads.begin(), threads.end(),
                     [](pid_t thread) { return thread == gettid() || is_asleep(thread); });
}

// Returns once `asleep()` has held for 20 milliseconds: a thread that waits for a lock also sleeps,
// but only briefly.
template <class Asleep>
void await_long_sleep_of(const Asleep& asleep) {
  for (int times = 0; times < 20;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    times = asleep() ? times + 1 : 0;
  }
}

// Until the thread sleeps for long: a close, say, that waits for a task which is held, and has told
// the others by then what becomes of them.
inline void await_long_sleep(pid_t thread) {
  await_long_sleep_of([thread] { return is_asleep(thread); });
}

inline void await_long_sleep_of_all_others() { await_long_sleep_of(&all_others_sleep); }

}  // namespace handoff::test
