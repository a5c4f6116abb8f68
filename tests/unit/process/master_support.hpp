// SPDX-License-Identifier: MIT
//
// A program of its own that is killed, for tests of what is left then: its processes, its names in
// /dev/shm and its memory, as /proc shows them.
#pragma once

#include <sys/types.h>

#include "support/test.hpp"
#include "unit/process/subprocess_support.hpp"
#include "unit/process/team_support.hpp"

namespace master_support {

using namespace handoff;
using test::contents;

template <class Action>
void for_each_process(const Action& action) {
  for (const std::string& name : team_support::names_in("/proc")) {
    if (name.find_first_not_of("0123456789") == std::string::npos) action(std::stoi(name));
  }
}

// All processes that were given this text: a master, its keeper, its workers.
inline std::vector<pid_t> processes_with(const std::string& text) {
  std::vector<pid_t> found;
  for_each_process([&](pid_t process) {
    const std::string environment = contents("/proc/" + std::to_string(process) + "/environ");
    if (environment.find(text) != std::string::npos) found.push_back(process);
  });
  return found;
}

// ---- Memory, as the kernel knows it ------------------------------------------------------------

// What this process has mapped of shared memory: device and number of each file.
inline std::set<std::string> memories_of(pid_t process) {
  std::set<std::string> found;
  std::istringstream maps(contents("/proc/" + std::to_string(process) + "/maps"));
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:handoff") == line.npos && line.find("/dev/shm/") == line.npos) continue;
    std::istringstream words(line);
    std::string range, rights, offset, device, number;
    words >> range >> rights >> offset >> device >> number;
    found.insert(device.append(" ").append(number));
  }
  return found;
}
inline bool is_any_left(const std::set<std::string>& memories) {
  bool is_left = false;
  for_each_process([&](pid_t process) {
    for (const std::string& each : memories_of(process)) {
      is_left = is_left || memories.count(each) != 0;
    }
  });
  return is_left;
}

// ---- The master --------------------------------------------------------------------------------

// What a master is told: its argument.
struct Orders {
  std::string program, when, early, late;
};
inline Orders orders_of(const std::string& argument) {
  std::istringstream words(argument);
  Orders orders;
  words >> orders.program >> orders.when >> orders.early >> orders.late;
  return orders;
}
inline void tell_ready() {
  const char ready = 1;
  (void)!::write(subprocess_support::kRoleOutput, &ready, 1);
}

// A process of its own, not a fork: ThreadSanitizer starts no threads in a forked child. Its
// argument is that of no other. Not `is_alone`: it is killed with its group.
class Master {
 public:
  Master(const std::string& role, const std::string& argument, bool is_alone)
      : argument_(argument) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    SubprocessOptions options = subprocess_support::role_options(role, argument);
    options.own_group = !is_alone;
    options.descriptors = {{.from = ends[1], .to = subprocess_support::kRoleOutput}};
    process_ = Subprocess::start(subprocess_support::role_arguments(), options);
    ::close(ends[1]);
    door_ = ends[0];
  }
  ~Master() { ::close(door_); }
  Master(const Master&) = delete;
  Master& operator=(const Master&) = delete;

  pid_t id() const { return process_->id(); }
  // Waits for its tell_ready().
  bool is_ready() const {
    char ready = 0;
    return ::read(door_, &ready, 1) == 1;
  }

  // Kills it: no process is left, and no memory. It has at least so many processes before, itself
  // among them. How long it took until they were gone.
  std::chrono::nanoseconds expect_nothing_left(std::size_t processes) {
    const std::set<std::string> memories = memories_of(id());
    EXPECT_GE(processes_with(argument_).size(), processes);
    EXPECT_TRUE(processes < 2 || !memories.empty()) << "the test sees none";
    EXPECT_TRUE(process_->signal(SIGKILL));
    const auto killed = std::chrono::steady_clock::now();
    EXPECT_EQ(process_->wait().text(), "killed by SIGKILL");
    EXPECT_TRUE(team_support::becomes_true([&] { return processes_with(argument_).empty(); }));
    const auto took = std::chrono::steady_clock::now() - killed;
    EXPECT_FALSE(is_any_left(memories));
    return took;
  }

 private:
  const std::string argument_;
  std::optional<Subprocess> process_;
  int door_ = -1;
};

// The longest time until all was gone. Printed and never asserted: a busy machine is no fault.
class LongestEnd {
 public:
  void add(std::chrono::nanoseconds took) { longest_ = std::max(longest_, took); }
  void print() const {
    if (!test::deep()) return;
    std::printf("all was gone %lld us after the master's death, at the latest\n",
                static_cast<long long>(
                    std::chrono::duration_cast<std::chrono::microseconds>(longest_).count()));
  }

 private:
  std::chrono::nanoseconds longest_{0};
};

}  // namespace master_support
