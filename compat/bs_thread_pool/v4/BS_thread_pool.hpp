// SPDX-License-Identifier: MIT
//
// BS::thread_pool 4.x on a handoff::ThreadPool.
//
//   BS::thread_pool pool;
//   std::future<int> answer = pool.submit_task([] { return 42; });
//   pool.detach_loop(0, n, [&](int i) { ... });
//   pool.wait();
//
// For: programs written against BS::thread_pool 4, with or without its macros
// BS_THREAD_POOL_ENABLE_*. Not for: new ones, see handoff::ThreadPool.
// What differs: docs/guide/from-bs-thread-pool.md.
// Source: the interface is that of github.com/bshoshany/thread-pool, as its README describes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "../internal/multi_future.hpp"
#include "../internal/pool_base.hpp"

#define BS_THREAD_POOL_VERSION_MAJOR 4
#define BS_THREAD_POOL_VERSION_MINOR 1
#define BS_THREAD_POOL_VERSION_PATCH 0

namespace BS {

class thread_pool;

using size_t = std::size_t;
using concurrency_t = unsigned int;
using priority_t = std::int_least16_t;
namespace pr {
constexpr priority_t highest = 32767;
constexpr priority_t high = 16383;
constexpr priority_t normal = 0;
constexpr priority_t low = -16384;
constexpr priority_t lowest = -32768;
}  // namespace pr

namespace this_thread {
using optional_index = std::optional<size_t>;
using optional_pool = std::optional<thread_pool*>;

// Nothing outside of pools.
[[nodiscard]] inline optional_index get_index() noexcept {
  if (internal::here.pool == nullptr) return std::nullopt;
  return internal::here.index;
}
[[nodiscard]] inline optional_pool get_pool() noexcept {
  if (internal::here.pool == nullptr) return std::nullopt;
  return static_cast<thread_pool*>(internal::here.pool);
}
}  // namespace this_thread

namespace internal {
struct WaitDeadlock : std::runtime_error {
  WaitDeadlock() : std::runtime_error("BS::thread_pool::wait_deadlock") {}
};

inline constexpr PoolTraits traits_of_macros{
#ifdef BS_THREAD_POOL_ENABLE_PRIORITY
    .priority = true,
#else
    .priority = false,
#endif
#ifdef BS_THREAD_POOL_ENABLE_PAUSE
    .pause = true,
#else
    .pause = false,
#endif
    .swallows = false};
}  // namespace internal

class [[nodiscard]] thread_pool
    : public internal::PoolBase<internal::traits_of_macros, internal::WaitDeadlock> {
 public:
  using wait_deadlock = internal::WaitDeadlock;

  thread_pool() : thread_pool(0) {}
  explicit thread_pool(concurrency_t num_threads) { start(this, num_threads, {}); }
  explicit thread_pool(const std::function<void()>& init_task) : thread_pool(0, init_task) {}
  thread_pool(concurrency_t num_threads, const std::function<void()>& init_task) {
    start(this, num_threads, hook(init_task));
  }
  ~thread_pool() { end(); }

  // The tasks that run end first, and without BS_THREAD_POOL_ENABLE_PAUSE those that wait too.
  void reset() { reset(0); }
  void reset(concurrency_t num_threads) { restart(this, num_threads, {}); }
  void reset(const std::function<void()>& init_task) { reset(0, init_task); }
  void reset(concurrency_t num_threads, const std::function<void()>& init_task) {
    restart(this, num_threads, hook(init_task));
  }

  [[nodiscard]] concurrency_t get_thread_count() const noexcept {
    return static_cast<concurrency_t>(width());
  }
  [[nodiscard]] std::vector<std::thread::native_handle_type> get_native_handles() const {
    std::vector<std::thread::native_handle_type> handles;
    for (const Thread& thread : known_threads()) handles.push_back(thread.handle);
    return handles;
  }

  template <typename F>
  void detach_task(F&& task, priority_t priority = 0) {
    detach(std::forward<F>(task), priority);
  }
  template <typename F, typename R = std::invoke_result_t<std::decay_t<F>>>
  [[nodiscard]] std::future<R> submit_task(F&& task, priority_t priority = 0) {
    return submit<R>(std::forward<F>(task), priority);
  }

  template <typename T, typename F>
  void detach_blocks(T first_index, T index_after_last, F&& block, size_t num_blocks = 0,
                     priority_t priority = 0) {
    detach_ranges(first_index, index_after_last, internal::as_block<T>(std::forward<F>(block)),
                  num_blocks, priority);
  }
  template <typename T, typename F>
  void detach_loop(T first_index, T index_after_last, F&& loop, size_t num_blocks = 0,
                   priority_t priority = 0) {
    detach_ranges(first_index, index_after_last, internal::as_loop<T>(std::forward<F>(loop)),
                  num_blocks, priority);
  }
  template <typename T, typename F>
  void detach_sequence(T first_index, T index_after_last, F&& sequence, priority_t priority = 0) {
    detach_ranges(first_index, index_after_last,
                  internal::as_sequence<T>(std::forward<F>(sequence)),
                  internal::size_of(first_index, index_after_last), priority);
  }
  template <typename T, typename F, typename R = std::invoke_result_t<std::decay_t<F>, T, T>>
  [[nodiscard]] multi_future<R> submit_blocks(T first_index, T index_after_last, F&& block,
                                              size_t num_blocks = 0, priority_t priority = 0) {
    return submit_ranges(first_index, index_after_last,
                         internal::as_block<T>(std::forward<F>(block)), num_blocks, priority);
  }
  template <typename T, typename F>
  [[nodiscard]] multi_future<void> submit_loop(T first_index, T index_after_last, F&& loop,
                                               size_t num_blocks = 0, priority_t priority = 0) {
    return submit_ranges(first_index, index_after_last, internal::as_loop<T>(std::forward<F>(loop)),
                         num_blocks, priority);
  }
  template <typename T, typename F, typename R = std::invoke_result_t<std::decay_t<F>, T>>
  [[nodiscard]] multi_future<R> submit_sequence(T first_index, T index_after_last, F&& sequence,
                                                priority_t priority = 0) {
    return submit_ranges(first_index, index_after_last,
                         internal::as_sequence<T>(std::forward<F>(sequence)),
                         internal::size_of(first_index, index_after_last), priority);
  }

 private:
  static Hook hook(const std::function<void()>& function) {
    return [function](std::size_t) { function(); };
  }
};

}  // namespace BS
