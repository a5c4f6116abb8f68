// SPDX-License-Identifier: MIT
//
// The thread pool in three modes of the study on empty tasks, on a handoff::ThreadPool.
//
//   ThreadPool pool(PoolMode::MODE_ACTIVE);
//   pool.start(4);
//   std::future<int> sum = pool.submitTask([](int a, int b) { return a + b; }, 1, 2);
//
// For: programs written against that pool. Not for: new ones, see handoff::ThreadPool.
// What differs: docs/guide/from-bs-thread-pool.md.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include <handoff/core/not_run.hpp>
#include <handoff/core/status.hpp>
#include <handoff/pool/pool_mode.hpp>
#include <handoff/pool/submit_std.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/pool/thread_pool_options.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

enum class PoolMode { MODE_FIXED, MODE_CACHED, MODE_ACTIVE };

class ThreadPool {
 public:
  explicit ThreadPool(PoolMode mode = PoolMode::MODE_FIXED) { setMode(mode); }

  // The four have an effect before start() only.
  void setMode(PoolMode mode) {
    options_.mode = mode == PoolMode::MODE_FIXED    ? handoff::PoolMode::fixed
                    : mode == PoolMode::MODE_CACHED ? handoff::PoolMode::cached
                                                    : handoff::PoolMode::active;
  }
  // So many tasks may wait; submitTask() waits for room.
  void setTaskMaxCount(std::size_t count) { options_.capacity = count; }
  // Of MODE_CACHED.
  void setThreadMaxCount(std::size_t count) { thread_max_ = count; }
  void setThreadIdleTimeout(std::size_t seconds) {
    options_.idle_time = std::chrono::seconds(seconds);
  }

  void start(int initThreadCount = 4) {
    if (pool_) return;
    options_.width = static_cast<std::size_t>(std::max(initThreadCount, 1));
    if (options_.mode == handoff::PoolMode::cached) {
      options_.core = options_.width;
      options_.width = std::max(options_.width, thread_max_);
    }
    pool_.emplace(options_);
  }

  // Calls func(args...) once, with copies of them. Before start() the future has handoff::NotRun.
  template <typename FUNC, typename... ARGS>
  auto submitTask(FUNC&& func, ARGS&&... args) -> std::future<decltype(func(args...))> {
    using Result = decltype(func(args...));
    if (!pool_) {
      std::promise<Result> refused;
      refused.set_exception(std::make_exception_ptr(handoff::NotRun(handoff::Status::closed)));
      return refused.get_future();
    }
    return handoff::submit_std(
        *pool_,
        [function = std::decay_t<FUNC>(std::forward<FUNC>(func)),
         kept = std::make_tuple(std::forward<ARGS>(args)...)]() mutable -> Result {
          return std::apply(function, kept);
        });
  }

 private:
  handoff::ThreadPoolOptions options_;
  std::size_t thread_max_ = 20;
  std::optional<handoff::ThreadPool> pool_;
};

#pragma pop_macro("Status")
