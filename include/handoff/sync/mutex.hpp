// SPDX-License-Identifier: MIT
//
// A lock of four bytes that spins a little and then sleeps.
//
// For: rare paths, and state that does not fit into one atomic. Not for: frequent paths of queues
// and pools, waiting for a condition (EventCount), use across processes.
// Concurrency: lock() and try_lock() by any thread, unlock() by the holder. Not recursive.
// Order: unlock() happens before the next lock() that succeeds. Not fair; no priority inheritance.
// Blocks: lock(). Allocates, throws: never.
// Source: the three-state mutex of U. Drepper, "Futexes Are Tricky".
#pragma once

#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/sanitizer.hpp>
#include <handoff/sync/internal/single_threaded.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

class Mutex {
 public:
  constexpr Mutex() noexcept : state_(kFree) {}

  // Never blocks.
  [[nodiscard]] bool try_lock() noexcept {
    std::uint32_t expected = kFree;
    // order: acquire pairs with the release in unlock(); relaxed on failure, nothing was gained.
    return state_.compare_exchange_strong(expected, kHeld, order::acquire, order::relaxed);
  }

  // Blocks while another thread holds it.
  void lock() noexcept {
    // order: relaxed, of one thread, and the start of another one orders them.
    if (single_threaded() && state_.load(order::relaxed) == kFree) {
      state_.store(kHeld, order::relaxed);  // order: as above
    } else if (!try_lock()) [[unlikely]]
      lock_slow();
    taken(this);
  }

  // By the thread that holds it. Wakes one sleeping thread, if any.
  void unlock() noexcept {
    given(this);
    if (single_threaded()) return state_.store(kFree, order::relaxed);  // order: relaxed, as above
    // order: release pairs with the acquire in try_lock() and lock_slow().
    if (state_.exchange(kFree, order::release) == kContended) [[unlikely]]
      wake_one();
  }

 private:
  // kContended: held, and somebody may be asleep. Only unlock() leaves it, so a sleeper is never
  // forgotten; a thread that slept takes the lock as kContended, since others may sleep too.
  enum State : std::uint32_t { kFree, kHeld, kContended };

  void lock_slow() noexcept;
  void wake_one() noexcept;

  atomic<std::uint32_t> state_;
};

// Holds a Mutex for a scope.
class [[nodiscard]] Lock {
 public:
  explicit Lock(Mutex& mutex) noexcept : mutex_(mutex) { mutex_.lock(); }
  ~Lock() { mutex_.unlock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Mutex& mutex_;
};

}}}  // namespace handoff::HANDOFF_ABI::sync
