// SPDX-License-Identifier: MIT
//
// No handler of the program may run in a child while it has the program's code and memory: all
// signals of the thread that makes the child are held until it is made.
#pragma once

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class NoSignals {
 public:
  NoSignals() noexcept {
    sigset_t all;
    std::memset(&all, 0xff, sizeof all);  // those that the C library keeps for itself too
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before_, kKernelBytes);
  }
  ~NoSignals() { ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, kKernelBytes); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  static constexpr std::size_t kKernelBytes = 8;
  sigset_t before_{};
};

}}}  // namespace handoff::HANDOFF_ABI::detail
