// SPDX-License-Identifier: MIT
// The article's IoThread: a queue of tasks, a mutex, a condition variable and one thread, which
// takes all tasks that are there at once. Its data races are gone. As in the article, threads are
// made for each run.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

namespace handoff::lab::files {

class IoThread {
 public:
  IoThread() : thread_([this] { run(); }) {}
  ~IoThread() {
    {
      const std::lock_guard lock(mutex_);
      exit_ = true;
    }
    there_.notify_one();
    thread_.join();
  }
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;

  void post(std::function<void()> task) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push(std::move(task));
    }
    there_.notify_one();
  }

 private:
  void run() {
    for (;;) {
      std::vector<std::function<void()>> taken;
      {
        std::unique_lock lock(mutex_);
        there_.wait(lock, [this] { return !tasks_.empty() || exit_; });
        if (tasks_.empty()) return;
        for (; !tasks_.empty(); tasks_.pop()) taken.push_back(std::move(tasks_.front()));
      }
      for (const auto& task : taken) task();
    }
  }

  std::mutex mutex_;
  std::condition_variable there_;
  std::queue<std::function<void()>> tasks_;
  bool exit_ = false;
  std::thread thread_;
};

// Tasks go to so many of them in turns.
template <std::size_t Threads>
struct IoThreads {
  static void run(std::size_t count, const std::function<void(std::size_t)>& job) {
    std::vector<IoThread> threads(Threads);
    for (std::size_t i = 0; i < count; ++i) threads[i % Threads].post([&job, i] { job(i); });
  }
};

}  // namespace handoff::lab::files
