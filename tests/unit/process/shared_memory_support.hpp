// SPDX-License-Identifier: MIT
//
// What the tests of shared memory have in common: children, names, failing system calls.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <handoff/process/shared_memory.hpp>

#include <gtest/gtest.h>

namespace handoff::test {

// A name of this test's own, gone with the object.
class SharedName {
 public:
  SharedName() {
    static int number = 0;
    name_ = "/handoff_test_" + std::to_string(::getpid()) + "_" + std::to_string(++number);
  }
  ~SharedName() { ::shm_unlink(name_.c_str()); }
  SharedName(const SharedName&) = delete;
  SharedName& operator=(const SharedName&) = delete;

  const std::string& text() const { return name_; }
  std::string path() const { return "/dev/shm" + name_; }
  bool is_there() const { return ::access(path().c_str(), F_OK) == 0; }

 private:
  std::string name_;
};

// A child that runs `body` and returns what that does. Nothing of gtest works in it.
template <class Body>
pid_t start_child(const Body& body) {
  const pid_t id = ::fork();
  if (id != 0) return id;
  ::signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would make a return code of it
  ::signal(SIGBUS, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::alarm(100);
  int code = 250;
  try {
    code = body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "a child: %s\n", error.what());
  }
  ::_exit(code);
}

// How it ended: its return code, or the signal as a negative number.
inline int end_of(pid_t child) {
  int status = 0;
  pid_t ended = 0;
  do ended = ::waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  if (child < 0 || ended != child) return 251;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
template <class Body>
int in_child(const Body& body) {
  return end_of(start_child(body));
}

// How many descriptors this process has; by asking for each, so that a filter of system calls does
// not matter.
inline int open_descriptors() {
  int count = 0;
  for (int each = 0; each < 1024; ++each) count += ::fcntl(each, F_GETFD) >= 0 ? 1 : 0;
  return count;
}

// The error of a call on shared memory that fails, "shared memory NAME: STEP: ..."; 0 and "" if it
// does not.
struct Refused {
  int error = 0;
  std::string step;
  std::string text;
};
template <class Call>
Refused refused(const Call& call) {
  try {
    (void)call();
  } catch (const std::system_error& error) {
    const std::string text = error.what();
    const std::size_t step = text.find(": ") + 2;
    return {.error = error.code().value(),
            .step = text.substr(step, text.find(": ", step) - step),
            .text = text};
  }
  return {};
}

// From here on these system calls of this process have this end. `second`: only with this second
// argument. False if that cannot be had. For children.
inline bool filter_calls(const std::vector<long>& calls, std::uint32_t end,
                         std::optional<std::uint32_t> second = {}) {
  std::vector<sock_filter> program;
  const auto add = [&](std::uint16_t code, std::uint32_t value, std::uint8_t yes = 0,
                       std::uint8_t no = 0) { program.push_back({code, yes, no, value}); };
  for (const long call : calls) {
    add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, second ? 3 : 1);
    if (second) {
      add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args) + sizeof(std::uint64_t));
      add(BPF_JMP | BPF_JEQ | BPF_K, *second, 0, 1);
    }
    add(BPF_RET | BPF_K, end);
  }
  add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const sock_fprog filter{.len = static_cast<unsigned short>(program.size()),
                          .filter = program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}
// They return `error`.
inline bool forbid(const std::vector<long>& calls, int error,
                   std::optional<std::uint32_t> second = {}) {
  return filter_calls(calls, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error), second);
}
// They kill this process, as SIGKILL would at this very place; it ends by SIGSYS.
inline bool kill_at(const std::vector<long>& calls) {
  return filter_calls(calls, SECCOMP_RET_KILL_PROCESS);
}
// fallocate of more than so many bytes is interrupted, each time.
inline bool interrupt_reservations_beyond(std::uint32_t bytes) {
  constexpr std::uint32_t low_half = offsetof(seccomp_data, args) + 3 * sizeof(std::uint64_t);
  sock_filter program[]{
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 3, SYS_fallocate},
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, low_half},
      {BPF_JMP | BPF_JGT | BPF_K, 0, 1, bytes},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EINTR},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  };
  const sock_fprog filter{.len = std::size(program), .filter = program};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace handoff::test
