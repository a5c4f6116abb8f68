// SPDX-License-Identifier: MIT
// Measures what it takes to open memory that another one has made, to map it and to read its first
// word. A contender's Way has
//
//   Way()                 makes the memory, of kMemoryBytes, whose first word is kFirstWord
//   std::uint64_t look()  opens it, maps it, reads that word, and lets go of it again
#pragma once

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/contender.hpp"
#include "harness/protocol.hpp"
#include "scenarios/spawn/work.hpp"

namespace handoff::lab::spawn {

inline constexpr std::size_t kMemoryBytes = 1 << 20;
inline constexpr std::uint64_t kFirstWord = 0x68616E646F666621;

// A name of shared memory that goes when this process ends, even if it is killed: a process that
// does nothing else waits for that, outside of the group that is killed with the contender.
class KeptName {
 public:
  KeptName() : text_("/handoff-lab-attach-" + std::to_string(getpid())) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    keeper_ = fork();
    if (keeper_ == 0) keep(ends[0], ends[1]);
    close(ends[0]);
    alive_ = ends[1];
    if (keeper_ < 0) {
      close(alive_);
      throw std::runtime_error("no child");
    }
    setpgid(keeper_, keeper_);
  }
  ~KeptName() {
    shm_unlink(text_.c_str());
    kill(keeper_, SIGKILL);
    close(alive_);
    while (waitpid(keeper_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  KeptName(const KeptName&) = delete;
  KeptName& operator=(const KeptName&) = delete;

  // With its slash.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  [[noreturn]] void keep(int waits, int alive) const {
    close(alive);
    close(protocol::command_fd);  // the coordinator must see when the contender closes it
    char none = 0;
    while (read(waits, &none, 1) < 0 && errno == EINTR) {
    }
    shm_unlink(text_.c_str());
    _exit(0);
  }

  std::string text_;
  pid_t keeper_ = -1;
  int alive_ = -1;  // closed by the kernel when this process ends
};

template <class Way>
class Looks {
 public:
  void look(Burst& burst) {
    right_ = 0;
    for (std::uint64_t i = 0; i < looks; ++i) right_ += way_.look() == kFirstWord ? 1 : 0;
    burst.items(static_cast<double>(looks));
  }
  std::uint64_t& right() { return right_; }

 private:
  Way way_;
  std::uint64_t right_ = 0;
};

template <class Way>
Prepared measure_attach(const Parameters& /*parameters*/) {
  const auto all = std::make_shared<Looks<Way>>();
  return {[all](Burst& burst) { all->look(burst); },
          std::as_writable_bytes(std::span(&all->right(), 1))};
}

}  // namespace handoff::lab::spawn
