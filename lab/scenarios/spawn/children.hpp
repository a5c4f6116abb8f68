// SPDX-License-Identifier: MIT
// What the ways to start a child of one's own share: the worker's program, the pipe by which each
// worker tells its number, and the end of a child.
#pragma once

#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

namespace handoff::lab::spawn {

// Beside the contender's own.
inline std::string worker_program() {
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) throw std::runtime_error("this program cannot be found");
  const std::string own(path.data(), static_cast<std::size_t>(length));
  return own.substr(0, own.rfind('/') + 1) + "worker";
}

class Told {
 public:
  Told() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  }
  ~Told() {
    for (const int end : ends_) close(end);
  }
  Told(const Told&) = delete;
  Told& operator=(const Told&) = delete;

  // Where a worker writes its number.
  [[nodiscard]] int writes() const { return ends_[1]; }

  // The next number to come, which must be the child's.
  [[nodiscard]] pid_t by(pid_t child) const {
    pid_t number = 0;
    ssize_t n = 0;
    do {
      n = read(ends_[0], &number, sizeof number);
    } while (n < 0 && errno == EINTR);
    if (n != sizeof number || number != child) {
      throw std::runtime_error("another process than the worker has told that it is ready");
    }
    return number;
  }

 private:
  std::array<int, 2> ends_{};
};

// A child of this process that was not waited for yet.
inline void end_child(pid_t child) {
  if (child <= 0) return;
  kill(child, SIGKILL);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace handoff::lab::spawn
