// SPDX-License-Identifier: MIT
//
// The child before its program. Nothing here may allocate, lock, or call what does: other threads
// of the parent run on in the same memory. Sanitizers' checks are such calls, and the functions of
// the C library that sanitizers replace: so there are only raw system calls. errno is that of the
// parent's thread, which stands still.
#include "child_side.hpp"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__clang__)
#define HANDOFF_CHILD_SIDE \
  __attribute__((disable_sanitizer_instrumentation, no_sanitize("undefined")))
#else
#define HANDOFF_CHILD_SIDE __attribute__((no_sanitize("address", "thread", "undefined")))
#endif

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr int kFailed = 127;  // nobody sees it: the parent takes `error`
constexpr int kSignals = 64;
constexpr std::size_t kSignalSetBytes = 8;
// As the kernel has them: all zero is the default, and no signal.
constexpr unsigned long kDefaultAction[8] = {};
constexpr unsigned long kNoSignals[8 / sizeof(unsigned long)] = {};

HANDOFF_CHILD_SIDE bool fail(ChildPlan& plan, const char* step) noexcept {
  plan.error = errno;
  plan.failed = step;
  return false;
}

// The signal comes when the thread that made this process ends: that is the spawner, which lives as
// long as the parent. If it was over before this call, this process has another parent by now.
HANDOFF_CHILD_SIDE bool end_with_parent(ChildPlan& plan) noexcept {
  if (::syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) {
    return fail(plan, "have it end with this program");
  }
  const long parent = ::syscall(SYS_getppid);
  if (parent != plan.parent && parent != 0) {  // 0: it is outside of this space of numbers
    errno = ESRCH;
    return fail(plan, "have it end with this program");
  }
  return true;
}

// Handlers of the parent's must not run here: they are gone before signals are let in.
HANDOFF_CHILD_SIDE void reset_signals() noexcept {
  for (int number = 1; number <= kSignals; ++number) {
    ::syscall(SYS_rt_sigaction, number, kDefaultAction, nullptr, kSignalSetBytes);
  }
}

HANDOFF_CHILD_SIDE bool is_target(const ChildPlan& plan, int number) noexcept {
  for (std::size_t i = 0; i < plan.descriptor_count; ++i) {
    if (plan.descriptors[i].to == number) return true;
  }
  return false;
}

// A source that another one will overwrite moves away first, beyond all targets.
HANDOFF_CHILD_SIDE bool place_descriptors(ChildPlan& plan) noexcept {
  const int beyond = plan.descriptors[plan.descriptor_count - 1].to + 1;
  for (std::size_t i = 0; i < plan.descriptor_count; ++i) {
    ChildDescriptor& here = plan.descriptors[i];
    if (here.from == here.to || !is_target(plan, here.from)) continue;
    // descriptor: in the child, whose numbers are what the parent asked for.
    const long moved = ::syscall(SYS_fcntl, here.from, F_DUPFD_CLOEXEC, beyond);
    if (moved < 0) return fail(plan, "pass descriptors");
    here.from = static_cast<int>(moved);
  }
  for (std::size_t i = 0; i < plan.descriptor_count; ++i) {
    const ChildDescriptor& here = plan.descriptors[i];
    // descriptor: as above.
    const long done = here.from == here.to ? ::syscall(SYS_fcntl, here.to, F_SETFD, 0)
                                           : ::syscall(SYS_dup3, here.from, here.to, 0);
    if (done < 0) return fail(plan, "pass descriptors");
  }
  return true;
}

// What getdents64 gives: number, offset (8 bytes each), length (2), kind (1), name.
constexpr std::size_t kLengthAt = 16;
constexpr std::size_t kNameAt = 19;

HANDOFF_CHILD_SIDE void close_listed(const ChildPlan& plan, const unsigned char* name,
                                     long folder) noexcept {
  int number = 0;
  for (; *name != 0; ++name) {
    if (*name < '0' || *name > '9') return;
    number = number * 10 + (*name - '0');
  }
  if (number != folder && !is_target(plan, number)) ::syscall(SYS_close, number);
}

// Where there is no close_range(2): what /proc lists. Closing does not disturb the listing, whose
// place is a number.
HANDOFF_CHILD_SIDE bool close_by_list(ChildPlan& plan) noexcept {
  // descriptor: in the child, for as long as this takes; nothing prints here.
  const long folder =
      ::syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (folder < 0) return fail(plan, "close other descriptors");
  alignas(8) unsigned char entries[4096];
  for (;;) {
    const long bytes = ::syscall(SYS_getdents64, folder, entries, sizeof entries);
    if (bytes < 0) return fail(plan, "close other descriptors");
    if (bytes == 0) break;
    for (long at = 0; at < bytes;) {
      const unsigned char* const entry = entries + at;
      close_listed(plan, entry + kNameAt, folder);
      at += *reinterpret_cast<const std::uint16_t*>(entry + kLengthAt);
    }
  }
  ::syscall(SYS_close, folder);
  return true;
}

HANDOFF_CHILD_SIDE bool close_range(unsigned first, unsigned last) noexcept {
  return first > last || ::syscall(SYS_close_range, first, last, 0) == 0;
}

// All that was not named, also what other code has opened without O_CLOEXEC.
HANDOFF_CHILD_SIDE bool close_others(ChildPlan& plan) noexcept {
  unsigned next = 0;
  for (std::size_t i = 0; i < plan.descriptor_count; ++i) {
    const auto kept = static_cast<unsigned>(plan.descriptors[i].to);
    if (kept != 0 && !close_range(next, kept - 1)) return close_by_list(plan);
    next = kept + 1;
  }
  return close_range(next, ~0U) || close_by_list(plan);
}

HANDOFF_CHILD_SIDE bool set_limits(ChildPlan& plan) noexcept {
  for (std::size_t i = 0; i < plan.limit_count; ++i) {
    const ChildLimit& limit = plan.limits[i];
    const std::uint64_t values[2] = {limit.soft, limit.hard};
    if (::syscall(SYS_prlimit64, 0, limit.resource, values, nullptr) != 0) {
      return fail(plan, "set its limits");
    }
  }
  return true;
}

HANDOFF_CHILD_SIDE bool prepare(ChildPlan& plan) noexcept {
  if (!end_with_parent(plan)) return false;
  reset_signals();
  if (plan.own_group && ::syscall(SYS_setpgid, 0, 0) != 0) {
    return fail(plan, "give it a process group");
  }
  if (plan.directory != nullptr && ::syscall(SYS_chdir, plan.directory) != 0) {
    return fail(plan, kGoToFolder);
  }
  if (!place_descriptors(plan) || !close_others(plan)) return false;
  if (plan.cpus != nullptr && ::syscall(SYS_sched_setaffinity, 0, kCpuSetBytes, plan.cpus) != 0) {
    return fail(plan, "set its CPUs");
  }
  if (!set_limits(plan)) return false;
  if (plan.no_new_privileges && ::syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return fail(plan, "give up new privileges");
  }
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, kNoSignals, nullptr, kSignalSetBytes);
  return true;
}

}  // namespace

// As execvp(3) goes through PATH: on to the next where there is no such file; a file that may not
// be run is the reason if there is no other.
HANDOFF_CHILD_SIDE int run_child(void* argument) noexcept {
  ChildPlan& plan = *static_cast<ChildPlan*>(argument);
  if (!prepare(plan)) return kFailed;
  bool forbidden = false;
  errno = ENOENT;
  for (const char* const* file = plan.executables; *file != nullptr; ++file) {
    ::syscall(SYS_execve, *file, plan.arguments, plan.environment);
    if (errno == EACCES) {
      forbidden = true;
    } else if (errno != ENOENT && errno != ENOTDIR && errno != ESTALE && errno != ENODEV &&
               errno != ETIMEDOUT) {
      forbidden = false;
      break;
    }
  }
  if (forbidden) errno = EACCES;
  fail(plan, "run");
  return kFailed;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
