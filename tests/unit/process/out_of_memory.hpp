// SPDX-License-Identifier: MIT
//
// Ways to run out of memory, for kernels: the kernel's killer in a memory cgroup, where this user
// may make one, and an allocation that fails.
#pragma once

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/support.hpp"

namespace handoff::test {

// A memory cgroup below that of this process, for processes that enter it. At most one at a time.
class SmallGroup {
 public:
  // None if it may not be made: path() is empty.
  SmallGroup() {
    const auto [parent, limit] = place();
    if (parent.empty()) return;
    const std::string folder = parent + "/handoff-test-" + std::to_string(::getpid());
    if (::mkdir(folder.c_str(), 0700) != 0) return;
    path() = folder;
    const bool is_limited = write(limit, std::to_string(16 << 20));
    write(limit == "memory.max" ? "memory.swap.max" : "memory.swappiness", "0");
    if (!is_limited) remove();
  }
  ~SmallGroup() { remove(); }
  SmallGroup(const SmallGroup&) = delete;
  SmallGroup& operator=(const SmallGroup&) = delete;

  static std::string& path() {
    static std::string path;
    return path;
  }
  static bool write(const std::string& file, const std::string& text) {
    std::ofstream out(path() + "/" + file);
    out << text << std::flush;
    return out.good();
  }

 private:
  // The cgroup of this process that has memory, and the file with the limit of one below it.
  static std::pair<std::string, std::string> place() {
    std::ifstream groups("/proc/self/cgroup");
    std::pair<std::string, std::string> found;
    for (std::string line; std::getline(groups, line);) {
      const std::size_t first = line.find(':');
      const std::size_t second = line.find(':', first + 1);
      if (second == std::string::npos) continue;
      const std::string controllers = line.substr(first + 1, second - first - 1);
      if (controllers == "memory")
        return {mount_of("cgroup", "memory") + line.substr(second + 1), "memory.limit_in_bytes"};
      if (controllers.empty())
        found = {mount_of("cgroup2", "") + line.substr(second + 1), "memory.max"};
    }
    return found;
  }
  static std::string mount_of(const std::string& type, const std::string& option) {
    std::ifstream mounts("/proc/self/mounts");
    for (std::string line; std::getline(mounts, line);) {
      std::istringstream words(line);
      std::string device, folder, kind, options;
      words >> device >> folder >> kind >> options;
      if (kind != type) continue;
      if (option.empty() || ("," + options + ",").find("," + option + ",") != std::string::npos) {
        return folder;
      }
    }
    return "/nowhere";
  }
  // Its processes may be dead and not gone yet.
  static void remove() {
    for (int i = 0; i < 1000 && !path().empty() && ::rmdir(path().c_str()) != 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    path().clear();
  }
};

// In a process that enters the group: killed by the kernel, amid this. Returns if it was not.
inline void fill_group() {
  constexpr std::size_t most = 256 << 20;
  if (!SmallGroup::write("cgroup.procs", std::to_string(::getpid()))) return;
  void* const pages =
      ::mmap(nullptr, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return;
  for (std::size_t at = 0; at < most; at += 4096) static_cast<volatile char*>(pages)[at] = 1;
}

// Nothing catches what the allocation throws.
inline void fill_address_space() noexcept {
  std::set_terminate([] { ::abort(); });  // without a word
  const rlimit limit{1, 1};
  ::setrlimit(RLIMIT_AS, &limit);
  std::vector<std::vector<char>> all;
  for (;;) all.emplace_back(1 << 20);
}

// What can be tried here, and how it ends a process. A sanitizer has an end of its own for an
// allocation that fails.
inline std::vector<std::pair<std::string, void (*)()>> ways_to_run_out_of_memory(
    const SmallGroup& /*alive*/) {
  std::vector<std::pair<std::string, void (*)()>> ways;
  if (!SmallGroup::path().empty()) ways.emplace_back("killed by signal 9", &fill_group);
  if (!sanitized) ways.emplace_back("killed by signal 6", [] { fill_address_space(); });
  return ways;
}

}  // namespace handoff::test
