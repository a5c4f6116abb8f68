// SPDX-License-Identifier: MIT
//
// System calls that this process, or this thread and those that it starts, may not make any more.
// For children: nothing undoes it.
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "support/test.hpp"

namespace handoff::test {

// Only calls whose argument of this number compares so: BPF_JEQ is this value, BPF_JSET has one of
// these bits, BPF_JGT is more.
struct FilteredArgument {
  std::size_t number;
  int compare;
  std::uint32_t value;
};

// From here on these calls have this end. False if that cannot be had.
inline bool filter_calls(const std::vector<long>& calls, std::uint32_t end,
                         const std::optional<FilteredArgument>& only = {}) {
  std::vector<sock_filter> program;
  const auto add = [&](int code, std::size_t value, std::uint8_t yes = 0, std::uint8_t no = 0) {
    program.push_back(
        {static_cast<std::uint16_t>(code), yes, no, static_cast<std::uint32_t>(value)});
  };
  for (const long call : calls) {
    add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::size_t>(call), 0, only ? 3 : 1);
    if (only) {
      add(BPF_LD | BPF_W | BPF_ABS,
          offsetof(seccomp_data, args) + only->number * sizeof(std::uint64_t));
      add(BPF_JMP | only->compare | BPF_K, only->value, 0, 1);
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
                   const std::optional<FilteredArgument>& only = {}) {
  return filter_calls(calls, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error), only);
}
// They kill this process, as SIGKILL would at this very place; it ends by SIGSYS.
inline bool kill_at(const std::vector<long>& calls) {
  return filter_calls(calls, SECCOMP_RET_KILL_PROCESS);
}

}  // namespace handoff::test
