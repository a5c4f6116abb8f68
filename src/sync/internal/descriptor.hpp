// SPDX-License-Identifier: MIT
//
// Where the library gets its descriptors. Each is above 2, and an exec closes it. A program that
// has closed its standard streams gets their numbers for what it opens next, and the next print of
// any library goes there: into a log, a socket, the header of shared memory.
//
// tools/tidy lets nothing be opened elsewhere, unless a `descriptor:` comment says why.
// All say what the system call says: a number, or -1 and errno. Nothing is left open by a failure.
#pragma once

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <handoff/config.hpp>
#include <utility>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// A descriptor that is closed with its owner.
class Descriptor {
 public:
  Descriptor() noexcept = default;
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  ~Descriptor() { close(); }

  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] bool is_open() const noexcept { return number_ >= 0; }
  // 0, or the errno of what could not be written.
  int close() noexcept {
    return number_ >= 0 && ::close(std::exchange(number_, -1)) != 0 ? errno : 0;
  }

 private:
  int number_ = -1;
};

namespace descriptors {

// What came by another way: in a message, from clone(), from a ring. The same under a number above
// 2; a result that is no descriptor stays as it is.
int above_streams(int number) noexcept;

int of_file(const char* path, int flags, mode_t mode = 0) noexcept;
int of_file_in(int directory, const char* path, int flags, mode_t mode = 0) noexcept;
// openat2.
int of_resolved_file(int directory, const char* path, int flags, mode_t mode,
                     std::uint64_t resolve) noexcept;
int of_shared_file(const char* name, int flags, mode_t mode = 0) noexcept;  // shm_open
// A file in memory that can be sealed and not be executed.
int of_memory(const char* name, unsigned flags = 0) noexcept;
int of_event(int flags) noexcept;
// One more on an event, so that it is readable. More than it can count is nothing new.
void ring(int event) noexcept;
int of_process(pid_t process) noexcept;
// Of a process: pidfd_send_signal(2), and waitid(2) until it was not interrupted.
int send_signal(int pidfd, int number, unsigned flags = 0) noexcept;
int wait_for(int pidfd, siginfo_t& info, int options) noexcept;
int copy_of(int number) noexcept;
// Whether it is readable, or as the events say, or can no more be, within this time; -1: however
// long that takes.
bool is_ready(int number, int milliseconds = 0, short events = POLLIN) noexcept;
// -1, or 0 and two descriptors.
int of_pipe(std::array<int, 2>& ends) noexcept;
int of_socket_pair(std::array<int, 2>& ends) noexcept;  // of whole messages

}  // namespace descriptors
}}}  // namespace handoff::HANDOFF_ABI::detail
