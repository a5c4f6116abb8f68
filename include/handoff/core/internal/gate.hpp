// SPDX-License-Identifier: MIT
//
// A gate between the thread that opens a job and the members that come to join it. Not for users.
//
// Open, it lets members in; closed, it lets none in and can be waited at until the last is out. So
// a late member touches nothing, and nobody ever waits for a member that has not come.
//
// It is one word: how many are inside (low bits), whether it is open and marked, and the number of
// the run (high half). So entering is one compare-and-swap that also proves the run's number.
// Concurrency: enter(), leave(), close() and the looks by any thread; open() while it is closed and
// empty. Blocks, allocates, throws: never.
#pragma once

#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class Gate {
 public:
  Gate() noexcept : word_(0) {}

  // Closed and empty before: a plain store, since nobody else can change it. `marked` is a word to
  // those outside.
  void open(bool marked = false) noexcept {
    using sync::order;
    // order: relaxed, the threads that open it come one after another.
    const std::uint64_t before = word_.load(order::relaxed);
    // order: release pairs with the acquire in enter(): publishes the job.
    word_.store(((before >> 32) + 1) << 32 | kOpen | (marked ? kMarked : 0), order::release);
  }

  bool may_enter(std::uint32_t last_run) const noexcept {
    // order: relaxed, a look; enter() decides.
    const std::uint64_t word = word_.load(sync::order::relaxed);
    return is_open(word) && run_of(word) != last_run;
  }

  bool is_marked() const noexcept {
    // order: relaxed, a hint.
    return (word_.load(sync::order::relaxed) & kMarked) != 0;
  }

  // True if now inside; then `last_run` is the number of this run.
  bool enter(std::uint32_t& last_run) noexcept {
    using sync::order;
    std::uint64_t word = word_.load(order::relaxed);  // order: relaxed, the exchange checks it
    while (is_open(word) && run_of(word) != last_run) {
      const std::uint32_t run = run_of(word);
      // order: acquire pairs with the release in open(); relaxed on failure, tried again.
      if (word_.compare_exchange_weak(word, word + 1, order::acquire, order::relaxed)) {
        last_run = run;
        return true;
      }
    }
    return false;
  }

  // True for one only, the last one out of a closed gate.
  bool leave() noexcept {
    // order: release pairs with the acquire in is_empty(): publishes what was done inside.
    const std::uint64_t before = word_.fetch_sub(1, sync::order::release);
    return !is_open(before) && inside(before) == 1;
  }

  // Any number of times.
  void close() noexcept {
    // order: relaxed, closes only; is_empty() does the acquiring.
    word_.fetch_and(~kOpen, sync::order::relaxed);
  }

  bool is_empty() const noexcept {
    // order: acquire pairs with the release in leave().
    return inside(word_.load(sync::order::acquire)) == 0;
  }

 private:
  static constexpr std::uint64_t kOpen = 1ULL << 31;
  static constexpr std::uint64_t kMarked = 1ULL << 30;
  static bool is_open(std::uint64_t word) noexcept { return (word & kOpen) != 0; }
  static std::uint64_t inside(std::uint64_t word) noexcept { return word & (kMarked - 1); }
  static std::uint32_t run_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> 32);
  }

  sync::atomic<std::uint64_t> word_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
