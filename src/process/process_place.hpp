// SPDX-License-Identifier: MIT
//
// The one T of this process, made at its first use in a place of its own; and what a process that
// was forked from this one makes of it.
//
// Such a process has a copy of the memory, but no other thread: what T's thread was doing, and what
// it had locked, is in no state to be used or destroyed. So the place knows the number of its
// process. Where that is another one, it is empty.
//
//   PP-1  For each number one caller of need() makes the T, and all see it made.
//   PP-2  end() ends a T that was made, once; need() says so afterwards.
//
// For: static variables. Not for: numbers that come again, as 1 does for a process that begins
//   another space of numbers.
// T: a default constructor, `int start()` (0 or an errno) and `void end()`, none of which throws.
// Concurrency: thread-safe, and need() right after a fork. Allocates, throws: as T does.
// Blocks: need(), while another thread makes the T.
#pragma once

#include <errno.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <memory>
#include <new>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class T>
class ProcessPlace {
 public:
  constexpr ProcessPlace() noexcept : state_(0) {}

  // 0: it is there; or what start() said, and the next call tries again; ECANCELED after end().
  int need(std::uint64_t process) noexcept {
    const std::uint64_t here = process * kPhases;
    for (sync::Backoff backoff;;) {
      // order: acquire pairs with the release below: what was made is seen.
      std::uint64_t seen = state_.load(sync::order::acquire);
      if (seen == here + kReady) return 0;
      if (seen == here + kEnded) return ECANCELED;
      if (seen == here + kBeginning) {
        backoff.snooze_on();
        continue;
      }
      // order: acquire pairs with the release below, of a T that could not be started: it is
      // destroyed. relaxed on failure: it looks again.
      if (state_.compare_exchange_strong(seen, here + kBeginning, sync::order::acquire,
                                         sync::order::relaxed)) {
        return make(here);
      }
    }
  }

  // After need().
  T& get() noexcept { return *std::launder(reinterpret_cast<T*>(bytes_.data())); }

  void end(std::uint64_t process) noexcept {
    std::uint64_t expected = process * kPhases + kReady;
    const std::uint64_t ended = process * kPhases + kEnded;
    // order: acquire pairs with the release in make(): what was made is seen. relaxed on failure:
    // there is none.
    if (state_.compare_exchange_strong(expected, ended, sync::order::acquire,
                                       sync::order::relaxed)) {
      get().end();
    }
  }

 private:
  enum Phase : std::uint64_t { kNone, kBeginning, kReady, kEnded };
  static constexpr std::uint64_t kPhases = 4;

  int make(std::uint64_t here) noexcept {
    T* const made = std::construct_at(reinterpret_cast<T*>(bytes_.data()));
    const int error = made->start();
    if (error != 0) std::destroy_at(made);
    // order: release pairs with the acquires in need() and end().
    state_.store(error == 0 ? here + kReady : here + kNone, sync::order::release);
    return error;
  }

  sync::atomic<std::uint64_t> state_;  // the number of a process and a phase
  alignas(T) std::array<std::byte, sizeof(T)> bytes_{};
};

}}}  // namespace handoff::HANDOFF_ABI::detail
