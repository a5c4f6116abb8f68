// SPDX-License-Identifier: MIT
//
// Atomic variables, spelled so that every access shows its memory order.
//
// For: all lock-free code of this library. Not for: users' code, which has std::atomic.
// A thin class: no operators and no default orders, because an order that was not written down
// was not thought about. Compiled to what std::atomic is; an exploring build gives the same names
// another meaning, in which every access is a step of a scheduler.
// Concurrency: any member by any thread. Blocks, allocates, throws: never.
#pragma once

#include <handoff/config.hpp>

#if defined(HANDOFF_EXPLORE)
#include <explore/engine/names.hpp>
#else

#include <atomic>
#include <type_traits>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

// order::relaxed, order::acquire, order::release, order::acq_rel, order::seq_cst. Each use carries
// an `// order:` comment that names its partner.
using order = std::memory_order;

template <class T>
class atomic {
  static_assert(std::is_trivially_copyable_v<T>);
  static_assert(std::atomic<T>::is_always_lock_free, "a lock hidden in an atomic would block");

 public:
  constexpr explicit atomic(T value) noexcept : value_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(order o) const noexcept { return value_.load(o); }
  void store(T value, order o) noexcept { value_.store(value, o); }
  T exchange(T value, order o) noexcept { return value_.exchange(value, o); }

  // True if the value was `expected` and is now `desired`; else `expected` is what it was. The
  // weak form may also fail for no reason, so it belongs in a loop.
  bool compare_exchange_weak(T& expected, T desired, order success, order failure) noexcept {
    return value_.compare_exchange_weak(expected, desired, success, failure);
  }
  bool compare_exchange_strong(T& expected, T desired, order success, order failure) noexcept {
    return value_.compare_exchange_strong(expected, desired, success, failure);
  }

  // All return the value before.
  T fetch_add(T value, order o) noexcept { return value_.fetch_add(value, o); }
  T fetch_sub(T value, order o) noexcept { return value_.fetch_sub(value, o); }
  T fetch_or(T value, order o) noexcept { return value_.fetch_or(value, o); }
  T fetch_and(T value, order o) noexcept { return value_.fetch_and(value, o); }
  T fetch_xor(T value, order o) noexcept { return value_.fetch_xor(value, o); }

  // Where the value lies, for the kernel only (park.hpp). Never an alias to read or write through.
  const T* address() const noexcept { return reinterpret_cast<const T*>(&value_); }

 private:
  std::atomic<T> value_;
};

}}}  // namespace handoff::HANDOFF_ABI::sync

#endif
