// SPDX-License-Identifier: MIT
//
// Where files live in memory: a sync costs nothing there. For tests that make thousands of files or
// syncs and are not about a device.
#pragma once

#include <sys/statvfs.h>

#include "support/test.hpp"

namespace handoff::test {

// The folder of temporary files if there is no such place, or little room in it (a container has 64
// MiB there).
inline std::string fast_place() {
  const char* const memory = "/dev/shm";
  struct statvfs room{};
  if (::access(memory, W_OK) == 0 && ::statvfs(memory, &room) == 0 &&
      std::uint64_t{room.f_bavail} * room.f_frsize >= std::uint64_t{256} << 20) {
    return memory;
  }
  return std::filesystem::temp_directory_path().string();
}

}  // namespace handoff::test
