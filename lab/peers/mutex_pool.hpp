// SPDX-License-Identifier: MIT
// What people write without a library: threads on one queue of std::functions, behind a mutex and a
// condition variable. The caller only waits.
#pragma once

#include "peers/function_pool.hpp"

namespace handoff::lab::peers {

class MutexThreads {
 public:
  explicit MutexThreads(std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) threads_.emplace_back([this] { work(); });
  }
  ~MutexThreads() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    pushed_.notify_all();
  }

  void push(std::function<void()> task) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push(std::move(task));
    }
    pushed_.notify_one();
  }

 private:
  void work() {
    while (const std::function<void()> task = next()) task();
  }
  // None once the pool ends and nothing is left.
  std::function<void()> next() {
    std::unique_lock lock(mutex_);
    pushed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
    if (tasks_.empty()) return {};
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop();
    return task;
  }

  std::mutex mutex_;
  std::condition_variable pushed_;
  std::queue<std::function<void()>> tasks_;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;  // joined first
};

using MutexPool = FunctionPool<MutexThreads>;

}  // namespace handoff::lab::peers
