// SPDX-License-Identifier: MIT
//
// The threads of this process, as the kernel knows them.
#pragma once

#include <dirent.h>
#include <sys/types.h>

#include <cstdlib>
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

}  // namespace handoff::test
