// SPDX-License-Identifier: MIT
//
// The utilities of BS::thread_pool 4.x.
//
// Source: the interface is that of github.com/bshoshany/thread-pool, as its README describes it.
#pragma once

#include <chrono>
#include <future>

#include "../internal/utilities.hpp"

#define BS_THREAD_POOL_UTILS_VERSION_MAJOR 4
#define BS_THREAD_POOL_UTILS_VERSION_MINOR 1
#define BS_THREAD_POOL_UTILS_VERSION_PATCH 0

namespace BS {

// Lets any threads that wait go on, once.
class [[nodiscard]] signaller {
 public:
  void ready() { promise_.set_value(); }
  void wait() { future_.wait(); }

 private:
  std::promise<void> promise_;
  std::shared_future<void> future_ = promise_.get_future();
};

// Milliseconds from its construction or start().
class [[nodiscard]] timer {
  using Clock = std::chrono::steady_clock;
  using Milliseconds = std::chrono::milliseconds;

 public:
  void start() { started_ = Clock::now(); }
  void stop() { elapsed_ = Clock::now() - started_; }
  [[nodiscard]] Milliseconds::rep current_ms() const {
    return std::chrono::duration_cast<Milliseconds>(Clock::now() - started_).count();
  }
  // Up to stop().
  [[nodiscard]] Milliseconds::rep ms() const {
    return std::chrono::duration_cast<Milliseconds>(elapsed_).count();
  }

 private:
  Clock::time_point started_ = Clock::now();
  Clock::duration elapsed_{};
};

}  // namespace BS
