// SPDX-License-Identifier: MIT
#include "descriptor.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

// Newer than some headers.
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace handoff { inline namespace HANDOFF_ABI { namespace detail { namespace descriptors {
namespace {

constexpr int kFirst = STDERR_FILENO + 1;

void close_and_keep_errno(int number) noexcept {
  const int error = errno;
  ::close(number);
  errno = error;
}

int both_above_streams(std::array<int, 2>& ends) noexcept {
  for (int& end : ends) end = above_streams(end);
  if (ends[0] >= 0 && ends[1] >= 0) return 0;
  for (const int end : ends) {
    if (end >= 0) close_and_keep_errno(end);
  }
  return -1;
}

}  // namespace

int copy_of(int number) noexcept {
  const int copy = ::fcntl(number, F_DUPFD_CLOEXEC, kFirst);
  if (copy < 0 && errno == EINVAL) errno = EMFILE;  // not even kFirst may be had
  return copy;
}

int above_streams(int number) noexcept {
  if (number < 0 || number >= kFirst) return number;
  const int moved = copy_of(number);
  close_and_keep_errno(number);
  return moved;
}

int of_file(const char* path, int flags, mode_t mode) noexcept {
  return above_streams(::open(path, flags | O_CLOEXEC, mode));
}

int of_file_in(int directory, const char* path, int flags, mode_t mode) noexcept {
  return above_streams(::openat(directory, path, flags | O_CLOEXEC, mode));
}

int of_resolved_file(int directory, const char* path, int flags, mode_t mode,
                     std::uint64_t resolve) noexcept {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(static_cast<unsigned>(flags | O_CLOEXEC));
  // O_TMPFILE has the bit of O_DIRECTORY in it. openat2 refuses a mode that means nothing.
  const bool makes = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  how.mode = makes ? mode : 0;
  how.resolve = resolve;
  return above_streams(static_cast<int>(::syscall(SYS_openat2, directory, path, &how, sizeof how)));
}

int of_shared_file(const char* name, int flags, mode_t mode) noexcept {
  return above_streams(::shm_open(name, flags | O_CLOEXEC, mode));
}

int of_memory(const char* name, unsigned flags) noexcept {
  flags |= MFD_CLOEXEC | MFD_ALLOW_SEALING;
  int number = ::memfd_create(name, flags | MFD_NOEXEC_SEAL);
  if (number < 0 && errno == EINVAL) number = ::memfd_create(name, flags);  // before Linux 6.3
  return above_streams(number);
}

int of_event(int flags) noexcept { return above_streams(::eventfd(0, flags | EFD_CLOEXEC)); }

void ring(int event) noexcept {
  constexpr std::uint64_t once = 1;
  while (::write(event, &once, sizeof once) < 0 && errno == EINTR) {
  }
}

int of_process(pid_t process) noexcept {
  return above_streams(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

int send_signal(int pidfd, int number, unsigned flags) noexcept {
  return static_cast<int>(::syscall(SYS_pidfd_send_signal, pidfd, number, nullptr, flags));
}

int wait_for(int pidfd, siginfo_t& info, int options) noexcept {
  int result = -1;
  do {
    result = ::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(pidfd), &info, options);
  } while (result != 0 && errno == EINTR);
  return result;
}

bool is_ready(int number, int milliseconds, short events) noexcept {
  pollfd polled{.fd = number, .events = events, .revents = 0};
  int ready = -1;
  do {
    ready = ::poll(&polled, 1, milliseconds);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

int of_pipe(std::array<int, 2>& ends) noexcept {
  return ::pipe2(ends.data(), O_CLOEXEC) != 0 ? -1 : both_above_streams(ends);
}

int of_socket_pair(std::array<int, 2>& ends) noexcept {
  const int made = ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data());
  return made != 0 ? -1 : both_above_streams(ends);
}

}}}}  // namespace handoff::HANDOFF_ABI::detail::descriptors
