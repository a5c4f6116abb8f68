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
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <future>
#include <iostream>
#include <iterator>
#include <limits>
#include <mutex>
#include <optional>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <handoff/core/unique_function.hpp>

#include "../internal/multi_future.hpp"
#include "../internal/pool_base.hpp"
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

template <typename F>
concept init_func_c = std::invocable<F> || std::invocable<F, std::size_t>;

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
constexpr PoolTraits traits_of(tp flags) {
  return {(flags & tp::priority) != tp::none, (flags & tp::pause) != tp::none, true};
}
}  // namespace internal

template <tp OptFlags = tp::none>
class [[nodiscard]] thread_pool
    : public internal::PoolBase<internal::traits_of(OptFlags), wait_deadlock> {
  using Base = internal::PoolBase<internal::traits_of(OptFlags), wait_deadlock>;

 public:
  static constexpr bool priority_enabled = (OptFlags & tp::priority) != tp::none;
  static constexpr bool pause_enabled = (OptFlags & tp::pause) != tp::none;
  static constexpr bool wait_deadlock_checks_enabled =
      (OptFlags & tp::wait_deadlock_checks) != tp::none;

  thread_pool() : thread_pool(0) {}
  explicit thread_pool(std::size_t num_threads) { Base::start(this, default_for(num_threads), {}); }
  template <init_func_c F>
  explicit thread_pool(F&& init) : thread_pool(0, std::forward<F>(init)) {}
  template <init_func_c F>
  thread_pool(std::size_t num_threads, F&& init) {
    Base::start(this, default_for(num_threads), hook(std::forward<F>(init)));
  }
  ~thread_pool() noexcept { Base::end(); }

  // The tasks that run end first, and without tp::pause those that wait too.
  void reset() { reset(0); }
  void reset(std::size_t num_threads) { Base::restart(this, default_for(num_threads), {}); }
  template <init_func_c F>
  void reset(F&& init) {
    reset(0, std::forward<F>(init));
  }
  template <init_func_c F>
  void reset(std::size_t num_threads, F&& init) {
    Base::restart(this, default_for(num_threads), hook(std::forward<F>(init)));
  }
  template <init_func_c F>
  void set_cleanup_func(F&& cleanup) {
    Base::set_cleanup(hook(std::forward<F>(cleanup)));
  }

  [[nodiscard]] std::size_t get_thread_count() const noexcept { return Base::width(); }
#ifdef BS_THREAD_POOL_NATIVE_EXTENSIONS
  [[nodiscard]] std::vector<thread_t::native_handle_type> get_native_handles() const {
    std::vector<thread_t::native_handle_type> handles;
    for (const auto& thread : Base::known_threads()) handles.push_back(thread.handle);
    return handles;
  }
#endif

  template <typename F>
  void detach_task(F&& task, priority_t priority = 0) {
    Base::detach(std::forward<F>(task), priority);
  }
  template <typename F, typename R = std::invoke_result_t<std::decay_t<F>>>
  [[nodiscard]] std::future<R> submit_task(F&& task, priority_t priority = 0) {
    return Base::template submit<R>(std::forward<F>(task), priority);
  }

  // Each task of the range, moved.
  template <typename I>
  void detach_bulk(I first, I last, priority_t priority = 0) {
    for (; first != last; ++first) detach_task(std::move(*first), priority);
  }
  template <typename C>
  void detach_bulk(C& container, priority_t priority = 0) {
    detach_bulk(std::begin(container), std::end(container), priority);
  }
  template <typename I, typename F = decltype(*std::declval<I>()),
            typename R = std::invoke_result_t<std::decay_t<F>>>
  [[nodiscard]] multi_future<R> submit_bulk(I first, I last, priority_t priority = 0) {
    multi_future<R> futures;
    futures.reserve(static_cast<std::size_t>(std::distance(first, last)));
    for (; first != last; ++first) futures.push_back(submit_task(std::move(*first), priority));
    return futures;
  }
  template <typename C, typename F = decltype(*std::declval<C&>().begin()),
            typename R = std::invoke_result_t<std::decay_t<F>>>
  [[nodiscard]] multi_future<R> submit_bulk(C& container, priority_t priority = 0) {
    return submit_bulk(std::begin(container), std::end(container), priority);
  }

  template <typename T1, typename T2, typename T = common_index_type_t<T1, T2>, typename F>
  void detach_blocks(T1 first_index, T2 index_after_last, F&& block, std::size_t num_blocks = 0,
                     priority_t priority = 0) {
    Base::template detach_ranges<T>(T(first_index), T(index_after_last),
                                    internal::as_block<T>(std::forward<F>(block)), num_blocks,
                                    priority);
  }
  template <typename T1, typename T2, typename T = common_index_type_t<T1, T2>, typename F>
  void detach_loop(T1 first_index, T2 index_after_last, F&& loop, std::size_t num_blocks = 0,
                   priority_t priority = 0) {
    Base::template detach_ranges<T>(T(first_index), T(index_after_last),
                                    internal::as_loop<T>(std::forward<F>(loop)), num_blocks,
                                    priority);
  }
  template <typename T1, typename T2, typename T = common_index_type_t<T1, T2>, typename F>
  void detach_sequence(T1 first_index, T2 index_after_last, F&& sequence, priority_t priority = 0) {
    Base::template detach_ranges<T>(
        T(first_index), T(index_after_last), internal::as_sequence<T>(std::forward<F>(sequence)),
        internal::size_of(T(first_index), T(index_after_last)), priority);
  }
  template <typename T1, typename T2, typename T = common_index_type_t<T1, T2>, typename F,
            typename R = std::invoke_result_t<std::decay_t<F>, T, T>>
  [[nodiscard]] multi_future<R> submit_blocks(T1 first_index, T2 index_after_last, F&& block,
                                              std::size_t num_blocks = 0, priority_t priority = 0) {
    return Base::template submit_ranges<T>(T(first_index), T(index_after_last),
                                           internal::as_block<T>(std::forward<F>(block)),
                                           num_blocks, priority);
  }
  template <typename T1, typename T2, typename T = common_index_type_t<T1, T2>, typename F>
  [[nodiscard]] multi_future<void> submit_loop(T1 first_index, T2 index_after_last, F&& loop,
                                               std::size_t num_blocks = 0,
                                               priority_t priority = 0) {
    return Base::template submit_ranges<T>(T(first_index), T(index_after_last),
                                           internal::as_loop<T>(std::forward<F>(loop)), num_blocks,
                                           priority);
  }
  template <typename T1, typename T2, typename T = common_index_type_t<T1, T2>, typename F,
            typename R = std::invoke_result_t<std::decay_t<F>, T>>
  [[nodiscard]] multi_future<R> submit_sequence(T1 first_index, T2 index_after_last, F&& sequence,
                                                priority_t priority = 0) {
    return Base::template submit_ranges<T>(
        T(first_index), T(index_after_last), internal::as_sequence<T>(std::forward<F>(sequence)),
        internal::size_of(T(first_index), T(index_after_last)), priority);
  }

 private:
  template <typename F>
  static typename Base::Hook hook(F&& function) {
    if constexpr (std::is_invocable_v<std::decay_t<F>&, std::size_t>) {
      return std::forward<F>(function);
    } else {
      return [kept = std::decay_t<F>(std::forward<F>(function))](std::size_t) mutable { kept(); };
    }
  }
  static std::size_t default_for(std::size_t num_threads) {
#ifdef BS_THREAD_POOL_NATIVE_EXTENSIONS
    if (num_threads == 0) {
      const auto usable = get_os_process_affinity();
      if (usable) return static_cast<std::size_t>(std::count(usable->begin(), usable->end(), true));
    }
#endif
    return num_threads;
  }
};

using light_thread_pool = thread_pool<tp::none>;
using priority_thread_pool = thread_pool<tp::priority>;
using pause_thread_pool = thread_pool<tp::pause>;
using wdc_thread_pool = thread_pool<tp::wait_deadlock_checks>;

// Prints the items of a call together, to each of its streams.
class [[nodiscard]] synced_stream {
 public:
  explicit synced_stream() { add_stream(std::cout); }
  template <typename... T>
  explicit synced_stream(T&... streams) {
    (add_stream(streams), ...);
  }

  void add_stream(std::ostream& stream) { streams_.push_back(&stream); }
  void remove_stream(std::ostream& stream) { std::erase(streams_, &stream); }
  std::vector<std::ostream*>& get_streams() noexcept { return streams_; }

  template <typename... T>
  void print(const T&... items) {
    const std::scoped_lock lock(mutex_);
    for (std::ostream* const stream : streams_) (*stream << ... << items);
  }
  template <typename... T>
  void println(T&&... items) {
    print(std::forward<T>(items)..., '\n');
  }

  inline static std::ostream& (&endl)(std::ostream&) = std::endl<char, std::char_traits<char>>;
  inline static std::ostream& (&flush)(std::ostream&) = std::flush<char, std::char_traits<char>>;

 private:
  std::mutex mutex_;
  std::vector<std::ostream*> streams_;
};

}  // namespace BS
