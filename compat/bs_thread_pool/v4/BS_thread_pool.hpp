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
#include <optional>
#include <stdexcept>
#include <thread>

#include "../internal/pool.hpp"
#include "../internal/utilities.hpp"

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
struct Version4 {
  struct WaitDeadlock : std::runtime_error {
    WaitDeadlock() : std::runtime_error("BS::thread_pool::wait_deadlock") {}
  };
  using Count = concurrency_t;
  using Priority = priority_t;
  template <typename T1, typename>
  using Index = T1;
  static constexpr bool swallows = false;
  static std::size_t default_width() { return std::thread::hardware_concurrency(); }
};
#ifdef BS_THREAD_POOL_ENABLE_PRIORITY
inline constexpr bool has_priority = true;
#else
inline constexpr bool has_priority = false;
#endif
#ifdef BS_THREAD_POOL_ENABLE_PAUSE
inline constexpr bool has_pause = true;
#else
inline constexpr bool has_pause = false;
#endif
}  // namespace internal

class [[nodiscard]] thread_pool
    : public internal::Pool<internal::Version4, internal::has_priority, internal::has_pause> {
 public:
  using wait_deadlock = internal::Version4::WaitDeadlock;
  using Pool::Pool;
};

}  // namespace BS
