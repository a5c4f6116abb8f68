// SPDX-License-Identifier: MIT
// The article's active mode: each worker has a public queue, which pushes fill, and a private one,
// which it empties; the two are swapped when the private one is empty. A push looks at all workers
// and takes the one with the fewest public tasks.
#pragma once

#include "peers/function_pool.hpp"

namespace handoff::lab::peers {

class SpinLock {
 public:
  void lock() {
    while (flag_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_;
};

class Worker {
 public:
  Worker() : thread_([this] { work(); }) {}
  ~Worker() {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_one();
  }

  std::size_t load() const { return load_.load(std::memory_order_relaxed); }

  void push(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    public_.push(task);
    load_.store(public_.size(), std::memory_order_relaxed);
    changed_.notify_one();
  }

 private:
  void work() {
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stopping_ || !public_.empty(); });
        if (public_.empty()) return;
        const std::lock_guard reading(private_lock_);
        std::swap(public_, private_);
        load_.store(0, std::memory_order_relaxed);
      }
      while (std::function<void()> task = next()) task();
    }
  }
  std::function<void()> next() {
    const std::lock_guard reading(private_lock_);
    if (private_.empty()) return {};
    std::function<void()> task = private_.front();
    private_.pop();
    return task;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::queue<std::function<void()>> public_;
  SpinLock private_lock_;
  std::queue<std::function<void()>> private_;
  std::atomic<std::size_t> load_{0};
  bool stopping_ = false;
  std::jthread thread_;  // joined first
};

class Active {
 public:
  explicit Active(std::size_t width) : workers_(width) {
    for (auto& worker : workers_) worker = std::make_unique<Worker>();
  }
  void push(std::function<void()> task) {
    Worker* least = workers_.front().get();
    for (const auto& worker : workers_) {
      if (worker->load() < least->load()) least = worker.get();
    }
    least->push(std::move(task));
  }

 private:
  std::vector<std::unique_ptr<Worker>> workers_;
};

using SeedActive = SeedPool<Active>;

}  // namespace handoff::lab::peers
