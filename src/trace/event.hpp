// SPDX-License-Identifier: MIT
//
// What a thread notes of a probe: 24 bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/probe/internal/hook.hpp>

#include "thread_times.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace trace {

struct Event {
  static constexpr unsigned kMarkBits = 4;
  static constexpr unsigned kWordBits = 8;  // of the mark and the kind

  // A part of a name that does not last, before the event that it belongs to.
  static constexpr std::uint64_t kText = 15;
  static constexpr std::size_t kTextBytes = 16;
  // Between the two events around it others found no room.
  static constexpr std::uint64_t kGap = 14;
  // What the kernel counts of the thread, at its first event and at its end.
  static constexpr std::uint64_t kTimes = 13;

  static Event of(std::uint64_t ticks, probe::Mark mark, probe::Kind kind, const char* name,
                  const void* what) noexcept {
    const std::uint64_t word = static_cast<std::uint64_t>(mark) | static_cast<std::uint64_t>(kind)
                                                                      << kMarkBits;
    return {ticks << kWordBits | word, reinterpret_cast<std::uintptr_t>(name),
            reinterpret_cast<std::uintptr_t>(what)};
  }
  static Event of_text(std::uint64_t ticks, std::uint64_t first, std::uint64_t second) noexcept {
    return {ticks << kWordBits | kText, first, second};
  }

  static Event of_gap(std::uint64_t ticks) noexcept { return {ticks << kWordBits | kGap, 0, 0}; }

  static Event of_times(std::uint64_t ticks, const ThreadTimes& times) noexcept {
    return {ticks << kWordBits | kTimes, times.cpu, times.ready};
  }

  bool is_text() const noexcept { return mark_bits() == kText; }
  bool is_gap() const noexcept { return mark_bits() == kGap; }
  bool is_times() const noexcept { return mark_bits() == kTimes; }
  ThreadTimes times() const noexcept { return {name, what}; }
  probe::Mark mark() const noexcept { return static_cast<probe::Mark>(mark_bits()); }
  probe::Kind kind() const noexcept {
    return static_cast<probe::Kind>(word >> kMarkBits & ((1U << (kWordBits - kMarkBits)) - 1));
  }
  // Since `start`; the highest bits are not kept, so it may be before.
  std::int64_t ticks_since(std::uint64_t start) const noexcept {
    const std::uint64_t shifted =
        (word & ~std::uint64_t{(1U << kWordBits) - 1}) - (start << kWordBits);
    return static_cast<std::int64_t>(shifted) >> kWordBits;
  }

  std::uint64_t word;
  std::uint64_t name;
  std::uint64_t what;

 private:
  std::uint64_t mark_bits() const noexcept { return word & ((1U << kMarkBits) - 1); }
};

}}}  // namespace handoff::HANDOFF_ABI::trace
