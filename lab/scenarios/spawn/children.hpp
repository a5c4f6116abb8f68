// SPDX-License-Identifier: MIT
// What the ways to start a child of one's own share: the worker's program, and the pipe by which
// each worker tells its number.
#pragma once

#include "peers/forks.hpp"

namespace handoff::lab::spawn {

// Beside the contender's own.
inline std::string worker_program() {
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) throw std::runtime_error("this program cannot be found");
  const std::string own(path.data(), static_cast<std::size_t>(length));
  return own.substr(0, own.rfind('/') + 1) + "worker";
}

class Told : Pinned {
 public:
  Told() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  }
  ~Told() {
    for (const int end : ends_) close(end);
  }

  // Where a worker writes its number.
  [[nodiscard]] int writes() const { return ends_[1]; }

  // The next number to come, which must be the child's.
  [[nodiscard]] pid_t by(pid_t child) const {
    pid_t number = 0;
    const ssize_t n = peers::uninterrupted([&] { return read(ends_[0], &number, sizeof number); });
    if (n != sizeof number || number != child) {
      throw std::runtime_error("another process than the worker has told that it is ready");
    }
    return number;
  }

 private:
  std::array<int, 2> ends_{};
};

}  // namespace handoff::lab::spawn
