// SPDX-License-Identifier: MIT
//
// What an AdaptiveLoop remembers of its loops, for all threads that run them. Not for users.
//
// A slot for each size of loop: twice the indices, another slot; the same again for loops inside
// parallel work. How the next loop of a slot runs is a word that any thread reads and counts down;
// what is known stands behind a lock that no loop waits for (LM-1, LM-2:
// docs/design/adaptive_loop.md).
// Concurrency: any member by any thread. Blocks: choice() alone, for another one's note. Allocates,
// throws: never.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <handoff/choice/detail/choice_policy.hpp>
#include <handoff/choice/loop_choice.hpp>
#include <handoff/config.hpp>
#include <handoff/core/detail/min_max.hpp>
#include <handoff/sync/detail/atomic.hpp>
#include <handoff/sync/detail/cell.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class LoopMemory {
 public:
  static constexpr std::size_t size_count = 24;  // longer loops share the last size
  static constexpr std::size_t slot_count = 2 * size_count;

  static std::size_t slot_of(std::size_t count, bool is_nested) noexcept {
    const auto size = min(static_cast<std::size_t>(std::bit_width(count)), size_count - 1);
    return is_nested ? size_count + size : size;
  }

  // Whether the next loop is not measured, and serial if that is asked for; counts it.
  bool is_quick(std::size_t slot, bool serial) noexcept {
    sync::atomic<std::uint32_t>& next = next_[slot].word;
    // order: relaxed, here and below: a number on its own. Of two loops that count down at the same
    // moment one is lost: the next look at the clock comes later by one.
    const std::uint32_t word = next.load(sync::order::relaxed);
    if ((word & kLeft) == 0 || (serial && (word & kWay) != 0)) return false;
    next.store(word - kOneLeft, sync::order::relaxed);  // order: relaxed, as above
    return true;
  }

  // How the next loop that is measured runs.
  struct Step {
    LoopWay way = LoopWay::serial;
    bool in_pieces = false;
    std::uint32_t calls = 1;  // that it stands for
  };
  Step step(std::size_t slot) const noexcept {
    // order: relaxed, as above
    const std::uint32_t word = next_[slot].word.load(sync::order::relaxed);
    return {.way = static_cast<LoopWay>(word & kWay),
            .in_pieces = (word & kInPieces) != 0,
            .calls = 1 + (word >> kCallsShift)};
  }

  // False: another thread has the lock, and nothing was read or noted.
  bool read_plan(std::size_t slot, const WaySpeeds& speeds, SerialPlan& plan) noexcept;
  bool note(std::size_t slot, const WaySpeeds& speeds, const MeasuredLoop& loop) noexcept;

  LoopChoice choice(std::size_t slot, const WaySpeeds& speeds) noexcept;

  // That of the last loop that was noted.
  std::size_t last_slot() const noexcept {
    return last_slot_.load(sync::order::relaxed);  // order: relaxed, a number on its own
  }

 private:
  // The way; whether in pieces; how many loops come before one is measured, and how many came
  // before this one.
  static constexpr std::uint32_t kWay = 3;
  static constexpr std::uint32_t kInPieces = 4;
  static constexpr std::uint32_t kOneLeft = 8;
  static constexpr std::uint32_t kCallsShift = 16;
  static constexpr std::uint32_t kLeft = 0xfff8;

  struct Next {
    sync::atomic<std::uint32_t> word{kInPieces};
  };
  struct Known {
    std::array<ChoicePolicy, slot_count> policies;
    HandoverCosts costs = first_guess;
  };

  static std::uint32_t word_of(const ChoicePolicy::Next& next) noexcept;

  sync::Mutex mutex_;
  sync::atomic<std::size_t> last_slot_{0};
  Next next_[slot_count];
  sync::cell<Known> known_;  // by the holder of the lock
};

}}}  // namespace handoff::HANDOFF_ABI::detail
