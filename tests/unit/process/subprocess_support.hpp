// SPDX-License-Identifier: MIT
//
// What the tests of Subprocess share: descriptors of this process, other processes as the kernel
// knows them, and this program once more in a role.
#pragma once

#include <poll.h>
#include <string.h>

#include "support/files.hpp"
#include "support/test.hpp"

namespace subprocess_support {

using namespace handoff;
using test::open_descriptors;

// "run: ENOENT": what could not be done, and the errno.
inline std::string said_by(const std::system_error& error) {
  const std::string what = error.what();
  const std::size_t end = what.rfind(": " + error.code().message());
  const std::size_t begin = what.rfind(": ", end - 1) + 2;
  return what.substr(begin, end - begin) + ": " + strerrorname_np(error.code().value());
}

// A process, held so that its number means no other one.
class Watched {
 public:
  explicit Watched(int id) : pidfd_(static_cast<int>(syscall(SYS_pidfd_open, id, 0))) {
    EXPECT_TRUE(was_there()) << "process " << id;  // else its end cannot be seen
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched() { close(pidfd_); }

  void kill() const { syscall(SYS_pidfd_send_signal, pidfd_, 9, nullptr, 0); }
  bool was_there() const { return pidfd_ >= 0; }
  // At once, or within a long time: a busy machine is no fault.
  bool is_gone() const { return ready(0); }
  bool goes() const { return ready(20'000); }

 private:
  bool ready(int ms) const {
    pollfd end{.fd = pidfd_, .events = POLLIN, .revents = 0};
    return poll(&end, 1, ms) == 1;
  }
  int pidfd_;
};

// One for programs.
class Folder : public test::Folder {
 public:
  // A file with this in it.
  std::string file(const std::string& name, const std::string& text, mode_t mode) const {
    put(name, text);
    chmod(at(name).c_str(), mode);
    return at(name);
  }
};

inline Subprocess shell(const std::string& line, SubprocessOptions options = {}) {
  return Subprocess::start({"sh", "-c", line}, options);
}

// What a program writes to its output.
inline std::string output_of(const std::vector<std::string>& arguments,
                             SubprocessOptions options = {}) {
  options.output = SubprocessOutput::captured();
  auto child = Subprocess::start(arguments, options);
  EXPECT_TRUE(child.wait().ok()) << arguments.front();
  return child.output();
}
inline std::string output_of_shell(const std::string& line, SubprocessOptions options = {}) {
  return output_of({"sh", "-c", line}, std::move(options));
}

// This program once more, with a function below a name of its own instead of tests: what it returns
// is the exit code, and what it writes to descriptor kRoleOutput can be read. For what a process
// can try only once, or is killed by.
inline constexpr const char* kRoleVariable = "HANDOFF_TEST_SUBPROCESS_ROLE";
inline constexpr const char* kRoleArgument = "HANDOFF_TEST_SUBPROCESS_ARGUMENT";
inline constexpr int kRoleOutput = 3;

using Role = int (*)(const std::string& argument);
inline std::map<std::string, Role>& roles() {
  static std::map<std::string, Role> all;
  return all;
}
struct RoleEntry {
  RoleEntry(const char* name, Role role) { roles()[name] = role; }
};

inline SubprocessOptions role_options(const std::string& name, const std::string& argument) {
  SubprocessOptions options;
  options.executable = "/proc/self/exe";
  options.environment.set = {std::string(kRoleVariable) + "=" + name,
                             std::string(kRoleArgument) + "=" + argument};
  options.output = SubprocessOutput::captured();
  return options;
}
inline const std::vector<std::string>& role_arguments() {
  static const std::vector<std::string> arguments{"test", "--gtest_filter=SubprocessRole.*",
                                                  "--gtest_brief=1"};
  return arguments;
}
// Runs the role as the first process of a space of numbers of its own, where the next number can be
// chosen; nothing where that is not permitted.
inline std::optional<SubprocessExit> run_role_among_own_numbers(const std::string& name) {
  SubprocessOptions options = role_options(name, "");
  options.executable = "";
  std::vector<std::string> arguments{"unshare", "--pid", "--fork", "--kill-child",
                                     std::filesystem::read_symlink("/proc/self/exe").string()};
  arguments.insert(arguments.end(), role_arguments().begin() + 1, role_arguments().end());
  auto child = Subprocess::start(arguments, options);
  const SubprocessExit end = child.wait();
  if (end.code == 1 && child.output().empty()) return std::nullopt;
  EXPECT_EQ(end.code, 0) << child.output();
  return end;
}
// In such a space: a process with this number, if that is free.
inline int stranger_with(int number) {
  std::ofstream("/proc/sys/kernel/ns_last_pid") << number - 1;
  const pid_t stranger = fork();
  if (stranger == 0) {
    setpgid(0, 0);
    for (;;) pause();
  }
  if (stranger > 0) setpgid(stranger, stranger);
  return stranger;
}

// Runs the role to its end.
inline SubprocessExit run_role(const std::string& name, const std::string& argument = "") {
  auto child = Subprocess::start(role_arguments(), role_options(name, argument));
  const SubprocessExit end = child.wait();
  EXPECT_EQ(end.text(), "exited with 0") << name << " " << argument << "\n" << child.output();
  return end;
}

}  // namespace subprocess_support
