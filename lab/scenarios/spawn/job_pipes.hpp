// SPDX-License-Identifier: MIT
// What the ways to do a job in a process of its own share: a pipe for each job, from which its
// answer is read before the child is waited for.
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <deque>
#include <stdexcept>

#include <fcntl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios/spawn/jobs.hpp"

namespace handoff::lab::spawn {

class JobPipes {
 public:
  JobPipes() = default;
  ~JobPipes() {
    while (!jobs_.empty()) static_cast<void>(end());
  }
  JobPipes(const JobPipes&) = delete;
  JobPipes& operator=(const JobPipes&) = delete;

  // start(output) makes the child, which writes an Answer to that descriptor and ends.
  template <class Start>
  void begin(const Start& start) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    const pid_t child = start(ends[1]);
    close(ends[1]);
    if (child < 0) {
      close(ends[0]);
      throw std::runtime_error("no child");
    }
    jobs_.push_back({child, ends[0]});
  }
  Answer end() {
    const Job job = jobs_.front();
    jobs_.pop_front();
    Answer answer{};
    ssize_t n = 0;
    do {
      n = read(job.answers, &answer, sizeof answer);
    } while (n < 0 && errno == EINTR);
    close(job.answers);
    while (waitpid(job.child, nullptr, 0) < 0 && errno == EINTR) {
    }
    return n == sizeof answer ? answer : Answer{};
  }

 private:
  struct Job {
    pid_t child;
    int answers;
  };
  std::deque<Job> jobs_;
};

}  // namespace handoff::lab::spawn
