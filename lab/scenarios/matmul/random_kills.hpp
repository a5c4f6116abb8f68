// SPDX-License-Identifier: MIT
// Kills workers of a ProcessTeam at random moments, as the system or an operator would: the team is
// not told, and the kernel says who they are: the children of its fork server, which is a child of
// this process. Nobody else here has a child with children.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness/contender.hpp"

namespace handoff::lab::matmul {

inline std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  std::error_code gone;
  const std::string threads = "/proc/" + std::to_string(process) + "/task";
  for (const auto& thread : std::filesystem::directory_iterator(threads, gone)) {
    std::ifstream list(thread.path() / "children");
    for (pid_t child = 0; list >> child;) children.push_back(child);
  }
  return children;
}

class RandomKills {
 public:
  // Made after the team. Throws Unavailable.
  explicit RandomKills(double a_second)
      : wait_s_(a_second),
        left_(draw()),
        thread_([this](const std::stop_token& stop) { live(stop); }) {
    if (workers().empty()) throw Unavailable("the kernel does not say who the workers are");
  }

  // Workers are killed from begin() to end(), so many a second of that time.
  void begin() { turn(true); }
  void end() { turn(false); }

  // So far.
  std::size_t killed() {
    const std::lock_guard lock(mutex_);
    return killed_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  static std::vector<pid_t> workers() {
    std::vector<pid_t> all;
    for (const pid_t child : children_of(getpid())) {
      const std::vector<pid_t> its = children_of(child);
      all.insert(all.end(), its.begin(), its.end());
    }
    return all;
  }

  Clock::duration draw() {
    return std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(wait_s_(random_)));
  }

  void turn(bool on) {
    {
      const std::lock_guard lock(mutex_);
      const auto now = Clock::now();
      if (!on) left_ -= std::min(left_, now - since_);
      since_ = now;
      on_ = on;
      ++turns_;
    }
    changed_.notify_all();
  }

  void live(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested() && changed_.wait(lock, stop, [this] { return on_; })) {
      const std::uint64_t here = turns_;
      const auto due = since_ + left_;
      const bool over =
          changed_.wait_until(lock, stop, due, [this, here] { return turns_ != here; });
      if (over || stop.stop_requested()) continue;
      killed_ += kill_one() ? 1 : 0;
      since_ = due;
      left_ = draw();
    }
  }

  // A number may be another process's by the time that it is used: what is signalled is what has
  // the number now, held by a descriptor, and is still a worker.
  bool kill_one() {
    std::vector<pid_t> all = workers();
    std::shuffle(all.begin(), all.end(), random_);
    for (const pid_t worker : all) {
      const int held = static_cast<int>(syscall(SYS_pidfd_open, worker, 0));
      if (held < 0) continue;
      const std::vector<pid_t> now = workers();
      const bool is_worker = std::find(now.begin(), now.end(), worker) != now.end();
      pollfd end{held, POLLIN, 0};
      const bool lives = is_worker && poll(&end, 1, 0) == 0;
      const bool killed = lives && syscall(SYS_pidfd_send_signal, held, SIGKILL, nullptr, 0) == 0;
      close(held);
      if (killed) return true;
    }
    return false;
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::mt19937_64 random_{std::random_device{}()};
  std::exponential_distribution<double> wait_s_;
  bool on_ = false;
  std::uint64_t turns_ = 0;
  Clock::time_point since_;  // since when it has been on, or since the last kill
  Clock::duration left_;  // of that time, until the next kill
  std::size_t killed_ = 0;
  std::jthread thread_;  // the last: it begins when all else is there
};

}  // namespace handoff::lab::matmul
