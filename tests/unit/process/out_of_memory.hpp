// SPDX-License-Identifier: MIT
//
// Ways to run out of memory, for kernels: the kernel's killer in a memory cgroup, where this user
// may make one, and an allocation that fails.
#pragma once

#include "support/test.hpp"
#include "unit/process/control_group.hpp"

namespace handoff::test {

// A memory cgroup below that of this process, for processes that enter it. At most one at a time.
class SmallGroup {
 public:
  // None if it may not be made: path() is empty.
  SmallGroup() : group_("memory", {"memory.limit_in_bytes", "memory.max"}, 16 << 20) {
    path() = group_.path();
    if (path().empty()) return;
    const bool is_second = group_.limit().ends_with("memory.max");
    ControlGroup::write(path() + (is_second ? "/memory.swap.max" : "/memory.swappiness"), "0");
  }
  ~SmallGroup() { path().clear(); }
  SmallGroup(const SmallGroup&) = delete;
  SmallGroup& operator=(const SmallGroup&) = delete;

  static std::string& path() {
    static std::string path;
    return path;
  }

 private:
  const ControlGroup group_;
};

// In a process that enters the group: killed by the kernel, amid this. Returns if it was not.
inline void fill_group() {
  constexpr std::size_t most = 256 << 20;
  if (!ControlGroup::write(SmallGroup::path() + "/cgroup.procs", std::to_string(::getpid())))
    return;
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
