// SPDX-License-Identifier: MIT
// The other process of a contender: a fork, made before there are threads. It dies with the
// contender, and the contender with it where it fails. What both tell each other beside the
// messages lies in memory of their own.
#pragma once

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/protocol.hpp"

namespace handoff::lab::processes {

// A T that both processes have, made before the fork.
template <class T>
class Common {
 public:
  Common() {
    void* const place =
        mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) throw std::bad_alloc();
    value_ = ::new (place) T;
  }
  ~Common() { munmap(static_cast<void*>(value_), sizeof(T)); }
  Common(const Common&) = delete;
  Common& operator=(const Common&) = delete;

  T* operator->() const { return value_; }
  T& operator*() const { return *value_; }

 private:
  T* value_;
};

class SecondProcess {
 public:
  // Runs life() in it, which goes on until it is killed.
  template <class Life>
  explicit SecondProcess(Life&& life) : id_(start(life)) {
    const std::string path = "/proc/" + std::to_string(id_) + "/stat";
    state_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  }
  ~SecondProcess() {
    if (state_ >= 0) close(state_);
    kill(id_, SIGKILL);
    while (waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  SecondProcess(const SecondProcess&) = delete;
  SecondProcess& operator=(const SecondProcess&) = delete;

  // Whether its first thread sleeps, as the kernel sees it.
  [[nodiscard]] bool sleeps() const {
    std::array<char, 256> line{};
    const ssize_t length = pread(state_, line.data(), line.size() - 1, 0);
    if (length <= 0) throw std::runtime_error("the second process cannot be looked at");
    const std::string text(line.data(), static_cast<std::size_t>(length));
    const std::size_t name_end = text.rfind(')');
    return name_end + 2 < text.size() && text[name_end + 2] == 'S';
  }

 private:
  template <class Life>
  static pid_t start(Life& life) {
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("no second process");
    if (child > 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    close(protocol::command_fd);  // the coordinator must see when the contender closes it
    try {
      life();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "second process: %s\n", error.what());
    }
    kill(parent, SIGABRT);  // it waits for this process, perhaps for ever
    _exit(1);
  }

  pid_t id_;
  int state_ = -1;
};

}  // namespace handoff::lab::processes
