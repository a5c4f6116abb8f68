// SPDX-License-Identifier: MIT
//
// BS::thread_pool 5.x on a handoff::ThreadPool.
//
//   BS::thread_pool pool;                                       // or BS::pause_thread_pool, ...
//   std::future<int> answer = pool.submit_task([] { return 42; });
//   pool.detach_loop(0, n, [&](int i) { ... });
//   pool.wait();
//
// For: programs written against BS::thread_pool 5. Not for: new ones, see handoff::ThreadPool.
// What differs: docs/guide/from-bs-thread-pool.md.
// Source: the interface is that of github.com/bshoshany/thread-pool, as its README describes it.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <optional>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>

#include <handoff/core/unique_function.hpp>

#include "../internal/pool.hpp"
#include "../internal/utilities.hpp"
#ifdef BS_THREAD_POOL_NATIVE_EXTENSIONS
#include "../internal/native.hpp"
#endif

#undef major  // of <sys/sysmacros.h>
#undef minor

#define BS_THREAD_POOL_VERSION_MAJOR 5
#define BS_THREAD_POOL_VERSION_MINOR 1
#define BS_THREAD_POOL_VERSION_PATCH 0

namespace BS {

struct [[nodiscard]] version {
  constexpr version(std::uint64_t major_, std::uint64_t minor_, std::uint64_t patch_) noexcept
      : major(major_), minor(minor_), patch(patch_) {}

  std::strong_ordering operator<=>(const version&) const = default;
  [[nodiscard]] std::string to_string() const {
    return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
  }
  friend std::ostream& operator<<(std::ostream& stream, const version& shown) {
    return stream << shown.to_string();
  }

  std::uint64_t major;
  std::uint64_t minor;
  std::uint64_t patch;
};
inline constexpr version thread_pool_version(BS_THREAD_POOL_VERSION_MAJOR,
                                             BS_THREAD_POOL_VERSION_MINOR,
                                             BS_THREAD_POOL_VERSION_PATCH);
inline constexpr bool thread_pool_module = false;
inline constexpr bool thread_pool_import_std = false;
#ifdef BS_THREAD_POOL_NATIVE_EXTENSIONS
inline constexpr bool thread_pool_native_extensions = true;
#else
inline constexpr bool thread_pool_native_extensions = false;
#endif

// What a pool can do besides; flags.
using opt_t = std::uint8_t;
enum class tp : opt_t { none = 0, priority = 1, pause = 2, wait_deadlock_checks = 4 };
constexpr tp operator|(tp a, tp b) noexcept { return tp(opt_t(opt_t(a) | opt_t(b))); }
constexpr tp operator&(tp a, tp b) noexcept { return tp(opt_t(opt_t(a) & opt_t(b))); }
constexpr tp operator^(tp a, tp b) noexcept { return tp(opt_t(opt_t(a) ^ opt_t(b))); }
constexpr tp operator~(tp a) noexcept { return tp(opt_t(~opt_t(a))); }
constexpr tp& operator|=(tp& a, tp b) noexcept { return a = a | b; }
constexpr tp& operator&=(tp& a, tp b) noexcept { return a = a & b; }
constexpr tp& operator^=(tp& a, tp b) noexcept { return a = a ^ b; }

using priority_t = std::int8_t;
enum pr : priority_t { lowest = -128, low = -64, normal = 0, high = 64, highest = 127 };

template <typename Signature>
using move_only_function = handoff::UniqueFunction<Signature>;
template <typename Signature>
using function_t = move_only_function<Signature>;  // its name in 5.0
using task_t = move_only_function<void()>;
using thread_t = std::thread;

// Of 5.0.
template <std::ptrdiff_t most = std::counting_semaphore<>::max()>
using counting_semaphore = std::counting_semaphore<most>;
using binary_semaphore = std::binary_semaphore;

struct [[nodiscard]] wait_deadlock : std::runtime_error {
  wait_deadlock() : std::runtime_error("BS::wait_deadlock") {}
};

class [[nodiscard]] this_thread
#ifdef BS_THREAD_POOL_NATIVE_EXTENSIONS
    : public internal::native_thread
#endif
{
 public:
  // Nothing outside of pools.
  [[nodiscard]] static std::optional<std::size_t> get_index() noexcept {
    if (internal::here.pool == nullptr) return std::nullopt;
    return internal::here.index;
  }
  [[nodiscard]] static std::optional<void*> get_pool() noexcept {
    if (internal::here.pool == nullptr) return std::nullopt;
    return internal::here.pool;
  }
};

// The type that a loop from a T1 to a T2 counts in: a signed one that can hold both, where there is
// one; std::uint64_t for those and a signed type.
template <typename T1, typename T2>
struct common_index_type {
  static constexpr bool is_mixed = std::is_signed_v<T1> != std::is_signed_v<T2>;
  static constexpr bool is_counting = (std::is_signed_v<T1> || std::is_unsigned_v<T1>) &&
                                      (std::is_signed_v<T2> || std::is_unsigned_v<T2>);
  static constexpr std::size_t for_unsigned = std::is_signed_v<T1> ? sizeof(T2) : sizeof(T1);
  static constexpr std::size_t for_signed = std::is_signed_v<T1> ? sizeof(T1) : sizeof(T2);
  static constexpr std::size_t bytes = std::max(2 * for_unsigned, for_signed);
  static constexpr auto choose() {
    if constexpr (!is_counting) {
      return std::type_identity<std::common_type_t<T1, T2>>{};
    } else if constexpr (!is_mixed) {
      return std::type_identity<std::conditional_t<(sizeof(T1) >= sizeof(T2)), T1, T2>>{};
    } else if constexpr (bytes == 2) {
      return std::type_identity<std::int16_t>{};
    } else if constexpr (bytes == 4) {
      return std::type_identity<std::int32_t>{};
    } else if constexpr (bytes == 8) {
      return std::type_identity<std::int64_t>{};
    } else {
      return std::type_identity<std::uint64_t>{};
    }
  }
  using type = typename decltype(choose())::type;
};
template <typename T1, typename T2>
using common_index_type_t = typename common_index_type<T1, T2>::type;

namespace internal {
struct Version5 {
  using Count = std::size_t;
  using Priority = priority_t;
  using WaitDeadlock = wait_deadlock;
  template <typename T1, typename T2>
  using Index = common_index_type_t<T1, T2>;
  static constexpr bool swallows = true;
  static std::size_t default_width() {
#ifdef BS_THREAD_POOL_NATIVE_EXTENSIONS
    const auto usable = get_os_process_affinity();
    if (usable) return static_cast<std::size_t>(std::count(usable->begin(), usable->end(), true));
#endif
    return std::thread::hardware_concurrency();
  }
};
constexpr bool has(tp flags, tp flag) { return (flags & flag) != tp::none; }
}  // namespace internal

template <tp OptFlags = tp::none>
class [[nodiscard]] thread_pool
    : public internal::Pool<internal::Version5, internal::has(OptFlags, tp::priority),
                            internal::has(OptFlags, tp::pause)> {
 public:
  using thread_pool::Pool::Pool;

  static constexpr bool priority_enabled = internal::has(OptFlags, tp::priority);
  static constexpr bool pause_enabled = internal::has(OptFlags, tp::pause);
  static constexpr bool wait_deadlock_checks_enabled =
      internal::has(OptFlags, tp::wait_deadlock_checks);
};
template <typename... Given>
thread_pool(Given&&...) -> thread_pool<tp::none>;

using light_thread_pool = thread_pool<tp::none>;
using priority_thread_pool = thread_pool<tp::priority>;
using pause_thread_pool = thread_pool<tp::pause>;
using wdc_thread_pool = thread_pool<tp::wait_deadlock_checks>;

}  // namespace BS
