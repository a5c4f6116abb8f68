// SPDX-License-Identifier: MIT
// What it costs to use another queue in a program that has used one: each time in a process of its
// own, since a second first use does not exist.
#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>

#include <sys/wait.h>
#include <unistd.h>

#include "scenarios/events/contender.hpp"
#include "scenarios/events/second_thread.hpp"

namespace handoff::lab::events {

// Runs `work`, which returns a number, in a child of this process and returns what it returned.
// This process has one thread, so the child may do all that a program may.
template <class Work>
std::uint64_t in_fresh_process(Work&& work) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child == -1) throw std::runtime_error("no further process");
  if (child == 0) {
    const std::uint64_t result = [&]() noexcept { return work(); }();
    _exit(write(pipe_ends[1], &result, sizeof result) == sizeof result ? 0 : 1);
  }
  close(pipe_ends[1]);
  std::uint64_t result = 0;
  const bool whole = read(pipe_ends[0], &result, sizeof result) == sizeof result;
  close(pipe_ends[0]);
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0 || !whole) {
    throw std::runtime_error("the process that used two queues failed");
  }
  return result;
}

// `use(queue)` is the work on each of two queues; the second one's is timed, its making included,
// its end not.
template <class Queue, class Use>
Operation second_queue(const Task& task, Use use) {
  return [&task, use](Burst& burst) {
    burst.latencies().record(in_fresh_process([&] {
      const SecondThread thread;
      Queue first(task);
      use(first);
      *task.sum = 0;
      const auto start = std::chrono::steady_clock::now();
      Queue second(task);
      use(second);
      const std::chrono::nanoseconds time = std::chrono::steady_clock::now() - start;
      return static_cast<std::uint64_t>(time.count());
    }));
  };
}

}  // namespace handoff::lab::events
