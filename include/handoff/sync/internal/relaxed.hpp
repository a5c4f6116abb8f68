// SPDX-License-Identifier: MIT
//
// An atomic variable that orders nothing.
//
// For: figures, hints, numbers of a report. Also for a word that something else makes known: then
// the `// order:` of its declaration says what. Not for: a variable that tells that something else
// is there (atomic.hpp).
// Concurrency: any member by any thread, but add_alone(). Blocks, allocates, throws: never.
#pragma once

#include <handoff/config.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

template <class T>
class relaxed {
 public:
  constexpr relaxed() noexcept : value_(T{}) {}
  constexpr explicit relaxed(T value) noexcept : value_(value) {}

  T get() const noexcept {
    return value_.load(order::relaxed);  // order: none, as everywhere here
  }
  void set(T value) noexcept { value_.store(value, order::relaxed); }  // order: none

  // All return the value before.
  T exchange(T value) noexcept {
    return value_.exchange(value, order::relaxed);  // order: none
  }
  T add(T more) noexcept { return value_.fetch_add(more, order::relaxed); }        // order: none
  T subtract(T less) noexcept { return value_.fetch_sub(less, order::relaxed); }  // order: none

  // By the only thread that writes it.
  void add_alone(T more) noexcept { set(get() + more); }

  // As the weak exchange of an atomic.
  bool exchange_if(T& expected, T desired) noexcept {
    // order: none
    return value_.compare_exchange_weak(expected, desired, order::relaxed, order::relaxed);
  }

 private:
  atomic<T> value_;
};

}}}  // namespace handoff::HANDOFF_ABI::sync
