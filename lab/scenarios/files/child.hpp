// SPDX-License-Identifier: MIT
// A program that a contender runs: waited for, its CPU time added up, its output kept, and killed
// when the contender dies.
#pragma once

#include <sys/prctl.h>
#include <sys/resource.h>

#include "peers/forks.hpp"

namespace handoff::lab::files {

// Where the program is, or Unavailable.
inline std::string program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (access(name.c_str(), X_OK) == 0) return name;
    throw Unavailable("there is no " + name);
  }
  const char* const path = std::getenv("PATH");
  std::string folders = path == nullptr ? "/usr/bin:/bin" : path;
  while (!folders.empty()) {
    const auto end = folders.find(':');
    const std::string candidate = folders.substr(0, end) + '/' + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    folders.erase(0, end == std::string::npos ? end : end + 1);
  }
  throw Unavailable(name + " is not installed");
}

class Children {
 public:
  // What it printed to stdout. Throws where it ends with anything but 0.
  std::string run(std::vector<std::string> words) {
    const std::vector<char*> arguments = for_exec(words);
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe for " + words[0]);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(1);
      dup2(ends[1], STDOUT_FILENO);
      execv(arguments[0], arguments.data());
      _exit(127);
    }
    close(ends[1]);
    if (child < 0) {
      close(ends[0]);
      throw std::runtime_error("cannot start " + words[0]);
    }
    std::string output = read_all(ends[0]);
    close(ends[0]);
    int status = 0;
    rusage usage{};
    peers::uninterrupted([&] { return wait4(child, &status, 0, &usage); });
    seconds_ += seconds(usage.ru_utime) + seconds(usage.ru_stime);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      throw std::runtime_error(words[0] + " failed with status " + std::to_string(status) + ": " +
                               output.substr(0, 200));
    }
    return output;
  }

  // Since it was asked last.
  double cpu_seconds() { return std::exchange(seconds_, 0); }

 private:
  static double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  }
  static std::string read_all(int descriptor) {
    std::string all;
    std::array<char, 4096> piece{};
    for (;;) {
      const ssize_t n =
          peers::uninterrupted([&] { return read(descriptor, piece.data(), piece.size()); });
      if (n <= 0) return all;
      all.append(piece.data(), static_cast<std::size_t>(n));
    }
  }

  double seconds_ = 0;
};

}  // namespace handoff::lab::files
