// SPDX-License-Identifier: MIT
//
// The utilities of BS::thread_pool 4.x.
//
// Source: the interface is that of github.com/bshoshany/thread-pool, as its README describes it.
#pragma once

#include <chrono>
#include <future>
#include <iostream>
#include <mutex>
#include <ostream>
#include <utility>

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

// Prints the items of a call together.
class [[nodiscard]] synced_stream {
 public:
  explicit synced_stream(std::ostream& stream = std::cout) : stream_(stream) {}

  template <typename... T>
  void print(T&&... items) {
    const std::scoped_lock lock(mutex_);
    (stream_ << ... << std::forward<T>(items));
  }
  template <typename... T>
  void println(T&&... items) {
    print(std::forward<T>(items)..., '\n');
  }

  inline static std::ostream& (&endl)(std::ostream&) = std::endl<char, std::char_traits<char>>;
  inline static std::ostream& (&flush)(std::ostream&) = std::flush<char, std::char_traits<char>>;

 private:
  std::ostream& stream_;
  std::mutex mutex_;
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
