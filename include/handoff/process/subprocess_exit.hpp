// SPDX-License-Identifier: MIT
//
// How a Subprocess ended, and why one could not be started.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <system_error>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// What a child and the children that it has waited for used up.
struct SubprocessUsage {
  std::chrono::nanoseconds user_time{0};    // CPU time in the program
  std::chrono::nanoseconds system_time{0};  // CPU time in the kernel
  // The most memory it had at a time. 0: not known, but no more than this process had at most when
  // it started the child, which the kernel counts as the child's.
  std::uint64_t resident_bytes_max = 0;
};

// How a child ended.
struct [[nodiscard("it says whether the program did its work")]] SubprocessExit {
  // In which way. `unknown`: somebody else has taken the news of the end, in a program that ignores
  // SIGCHLD or waits for any child. Kernels since 6.15 keep it even then.
  enum class Kind : std::uint8_t {
    exited,  // by itself, with `code`
    signalled,  // by `signal`
    unknown,  // it has ended; nobody knows how
  };

  Kind kind = Kind::unknown;  // which of the next three means anything
  int code = 0;  // 0 .. 255
  int signal = 0;  // the number of the signal
  bool core_dumped = false;  // by that signal
  SubprocessUsage usage = {};  // 0 where others have taken the news, whatever is known of the end

  // Whether it exited with 0.
  [[nodiscard]] bool ok() const noexcept { return kind == Kind::exited && code == 0; }
  // "exited with 3", "killed by SIGSEGV, core dumped", "ended in an unknown way".
  [[nodiscard]] std::string text() const;
};

// What could not be done.
enum class SubprocessStep : std::uint8_t {
  support,  // the kernel, or a filter of system calls, knows no pidfds: nothing was started
  spawner,  // the thread that starts children could not be started
  streams,  // a pipe, /dev/null or memory for the input could not be had
  clone,  // no new process
  parent,  // in the child: to end with this process
  group,  // in the child: a process group of its own
  directory,  // in the child: to go to SubprocessOptions::directory
  descriptors,  // in the child: to pass a descriptor
  close,  // in the child: to close all others
  affinity,  // in the child: SubprocessOptions::cpus
  limits,  // in the child: SubprocessOptions::limits
  privileges,  // in the child: to give up new privileges
  execute,  // in the child: to run the program
  signal,  // Subprocess::signal()
  transfer,  // reading from the child, or writing to it
};
// The enumerator's name.
const char* to_string(SubprocessStep step) noexcept;

// Why there is no child, or what cannot be done with it: code() is the errno. what() is one line:
// "no-such-program: execute: No such file or directory". Bytes that would break it are escaped.
class SubprocessError : public std::system_error {
 public:
  SubprocessError(SubprocessStep step, int error, const std::string& program);
  // What could not be done.
  [[nodiscard]] SubprocessStep step() const noexcept { return step_; }

 private:
  SubprocessStep step_;
};

}}  // namespace handoff::HANDOFF_ABI
