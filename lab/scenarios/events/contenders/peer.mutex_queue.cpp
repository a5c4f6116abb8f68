// SPDX-License-Identifier: MIT
// What people write without a library: a deque behind a mutex and a condition variable, which the
// consumer takes as a whole, and a map of functions, which nobody changes any more.
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "scenarios/events/measure.hpp"

namespace handoff::lab::events {
namespace {

class MutexQueue {
 public:
  explicit MutexQueue(const Task& task) : spins_(task.spins) {}

  void listen(int key, std::function<void(const Payload&)> function) {
    functions_[key] = std::move(function);
  }

  void enqueue(int key, const Payload& payload) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.emplace_back(key, payload);
    }
    arrived_.notify_one();
  }

  void process() {
    std::deque<std::pair<int, Payload>> taken;
    {
      const std::lock_guard lock(mutex_);
      taken.swap(waiting_);
    }
    for (const auto& [key, payload] : taken) {
      const auto found = functions_.find(key);
      if (found != functions_.end()) found->second(payload);
    }
  }

  void await() {
    if (spins_) return;
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return !waiting_.empty(); });
  }

 private:
  const bool spins_;
  std::unordered_map<int, std::function<void(const Payload&)>> functions_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::pair<int, Payload>> waiting_;
};

}  // namespace

Operation contender(const Task& task) { return measure<MutexQueue>(task); }

}  // namespace handoff::lab::events
