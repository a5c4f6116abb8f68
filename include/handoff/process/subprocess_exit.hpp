// SPDX-License-Identifier: MIT
//
// How a Subprocess ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

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

}}  // namespace handoff::HANDOFF_ABI
