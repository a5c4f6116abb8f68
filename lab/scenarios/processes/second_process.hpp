// SPDX-License-Identifier: MIT
// The other process of a contender: a fork, made before there are threads. It dies with the
// contender, and the contender with it where it fails. What both tell each other beside the
// messages lies in memory of their own.
#pragma once

#include "peers/forks.hpp"
#include "scenarios/processes/work.hpp"

namespace handoff::lab::processes {

using peers::Common;

// A T for each way, in memory of both processes.
template <class T>
class EachWay {
 public:
  void open(Side side) {
    in_ = &(*both_)[receives_by(side)];
    out_ = &(*both_)[sends_by(side)];
  }

 protected:
  T* in_ = nullptr;
  T* out_ = nullptr;

 private:
  Common<std::array<T, 2>> both_;
};

class SecondProcess : Pinned {
 public:
  // Runs life() in it, which goes on until it is killed.
  template <class Life>
  explicit SecondProcess(Life&& life) : id_(start(life)) {
    const std::string path = "/proc/" + std::to_string(id_) + "/stat";
    state_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  }
  ~SecondProcess() {
    if (state_ >= 0) close(state_);
    peers::end_child(id_);
  }

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
    peers::live_as_child();
    if (getppid() != parent) _exit(1);
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
