// SPDX-License-Identifier: MIT
//
// Plain data that threads share under some protocol, never at the same time.
//
// For: a field that one thread writes and another reads, where an atomic elsewhere keeps them
// apart. Not for: data that only one thread ever sees. A cell costs nothing; an exploring build
// checks at every access that the protocol really kept the threads apart.
// Concurrency: read() beside read() only; anything else needs an ordering from outside.
#pragma once

#include <handoff/config.hpp>

#if defined(HANDOFF_EXPLORE)
#include <explore/engine/names.hpp>
#else

#include <memory>
#include <type_traits>
#include <utility>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

// A value that is always alive. read() and write() say what the caller is about to do with the
// reference; it must not be kept beyond that.
template <class T>
class cell {
 public:
  constexpr cell() noexcept(std::is_nothrow_default_constructible_v<T>) : value_{} {}
  constexpr explicit cell(T value) noexcept(std::is_nothrow_move_constructible_v<T>)
      : value_(std::move(value)) {}
  cell(const cell&) = delete;
  cell& operator=(const cell&) = delete;

  const T& read() const noexcept { return value_; }
  T& write() noexcept { return value_; }

 private:
  T value_;
};

// Room for a value that comes and goes: the slot of a queue. The owner pairs each construct()
// with one destroy(); nothing is destroyed behind its back.
template <class T>
class raw_cell {
 public:
  raw_cell() noexcept {}
  ~raw_cell() {}
  raw_cell(const raw_cell&) = delete;
  raw_cell& operator=(const raw_cell&) = delete;

  template <class... Args>
  T& construct(Args&&... args) noexcept(std::is_nothrow_constructible_v<T, Args...>) {
    return *std::construct_at(std::addressof(value_), std::forward<Args>(args)...);
  }
  const T& read() const noexcept { return value_; }
  T& write() noexcept { return value_; }
  void destroy() noexcept { std::destroy_at(std::addressof(value_)); }

 private:
  union {
    T value_;
  };
};

}}}  // namespace handoff::HANDOFF_ABI::sync

#endif
