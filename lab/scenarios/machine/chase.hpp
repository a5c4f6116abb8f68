// SPDX-License-Identifier: MIT
// A way through memory that no prefetcher foresees and that meets a line again only when it has met
// all others. The line at each step can be computed, so the coordinator knows where a chase ends
// without any of the memory.
#pragma once

#include <fstream>

#include "harness/standard.hpp"

namespace handoff::lab::machine {

inline constexpr std::size_t line_bytes = 64;

class Chase {
 public:
  // `lines` is a power of two, at least four.
  explicit Chase(std::uint64_t lines)
      : mask_(lines - 1), shift_((std::countr_zero(lines) + 1) / 2) {}

  [[nodiscard]] std::uint64_t lines() const { return mask_ + 1; }
  [[nodiscard]] std::uint64_t line_at(std::uint64_t step) const {
    return folded((kOdd * folded((kOdd * step) & mask_)) & mask_);
  }
  [[nodiscard]] std::uint64_t line_after(std::uint64_t line) const {
    return line_at(step_of(line) + 1);
  }

 private:
  // 2^64 by the golden ratio, and its inverse modulo 2^64, by Newton's iteration.
  static constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
  static constexpr std::uint64_t kInverse = [] {
    std::uint64_t inverse = kOdd;
    for (int i = 0; i < 5; ++i) inverse *= 2 - kOdd * inverse;
    return inverse;
  }();
  static_assert(kOdd * kInverse == 1);

  // Its own inverse, since it shifts by at least half of the bits.
  [[nodiscard]] std::uint64_t folded(std::uint64_t bits) const { return bits ^ (bits >> shift_); }
  [[nodiscard]] std::uint64_t step_of(std::uint64_t line) const {
    return (kInverse * folded((kInverse * folded(line)) & mask_)) & mask_;
  }

  std::uint64_t mask_;
  int shift_;
};

// The largest cache that the kernel knows of the first CPU. What a processor says of itself to
// sysconf() may be another guest's share.
inline std::uint64_t last_level_cache_bytes() {
  std::uint64_t largest_kb = 0;
  for (int level = 0; level < 8; ++level) {
    std::uint64_t kb = 0;
    std::ifstream("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(level) + "/size") >>
        kb;
    largest_kb = std::max(largest_kb, kb);
  }
  constexpr std::uint64_t usual_kb = 32 << 10;  // where it knows of none
  return (largest_kb != 0 ? largest_kb : usual_kb) << 10;
}

// The memory of a chase: four times the cache, or as much as a machine of little memory can spare.
inline std::uint64_t chase_bytes() {
  constexpr std::uint64_t least = std::uint64_t{128} << 20;
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  const auto memory = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                      static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t wanted = std::max(least, std::bit_ceil(4 * last_level_cache_bytes()));
  return std::bit_floor(std::min({wanted, most, memory / 4}));
}

}  // namespace handoff::lab::machine
