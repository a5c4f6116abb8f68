// SPDX-License-Identifier: MIT
// The article's fixed and cached modes: one queue, one mutex, two condition variables, all of whose
// sleepers are woken at every push and every pop, under the lock; the clock is read after each
// task. `cached` adds a thread for a push that finds more tasks than idle threads, up to 16, and
// ends one that has had nothing to do for 30 s.
#pragma once

#include <list>

#include "peers/function_pool.hpp"

namespace handoff::lab::peers {

class SeedQueuePool {
 public:
  SeedQueuePool(std::size_t width, bool cached) : core_(width), cached_(cached) {
    for (std::size_t i = 0; i < width; ++i) add_thread();
  }
  ~SeedQueuePool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      not_empty_.notify_all();
    }
    for (std::thread& thread : threads_) thread.join();
  }

  void push(std::function<void()> task) {
    std::unique_lock lock(mutex_);
    not_full_.wait(lock, [this] { return tasks_.size() < capacity; });
    tasks_.push(task);
    not_empty_.notify_all();
    if (cached_ && tasks_.size() > idle_ && running_ < most_threads) add_thread();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t capacity = 1'000'001;
  static constexpr std::size_t most_threads = 16;
  static constexpr std::chrono::seconds idle_limit{30};

  void add_thread() {
    ++running_;
    ++idle_;
    threads_.emplace_back([this] { work(); });
  }

  // False once this thread has to end.
  bool wait_for_task(std::unique_lock<std::mutex>& lock, Clock::time_point since) {
    while (tasks_.empty()) {
      if (stopping_) return false;
      if (!cached_) {
        not_empty_.wait(lock);
      } else if (not_empty_.wait_for(lock, std::chrono::seconds(1)) == std::cv_status::timeout &&
                 Clock::now() - since >= idle_limit && running_ > core_) {
        return false;
      }
    }
    return true;
  }

  void work() {
    for (Clock::time_point last = Clock::now();; last = Clock::now()) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        const bool goes_on = wait_for_task(lock, last);
        --idle_;
        if (!goes_on) {
          --running_;
          return;
        }
        task = tasks_.front();
        tasks_.pop();
        if (!tasks_.empty()) not_empty_.notify_all();
        not_full_.notify_all();
      }
      task();
      const std::lock_guard lock(mutex_);
      ++idle_;
    }
  }

  const std::size_t core_;
  const bool cached_;
  std::mutex mutex_;
  std::condition_variable not_empty_;
  std::condition_variable not_full_;
  std::queue<std::function<void()>> tasks_;
  std::size_t idle_ = 0;
  std::size_t running_ = 0;
  bool stopping_ = false;
  std::list<std::thread> threads_;
};

struct Fixed : SeedQueuePool {
  explicit Fixed(std::size_t width) : SeedQueuePool(width, false) {}
};
struct Cached : SeedQueuePool {
  explicit Cached(std::size_t width) : SeedQueuePool(width, true) {}
};

using SeedFixed = SeedPool<Fixed>;
using SeedCached = SeedPool<Cached>;

}  // namespace handoff::lab::peers
