// SPDX-License-Identifier: MIT
//
// What tests share: the seed, how long to go on, and which build this is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace handoff::test {

// The seed of this run: --seed=N, else HANDOFF_TEST_SEED, else a new one. Printed at the start.
std::uint64_t seed() noexcept;

// A generator of its own for each use, the same for the same seed and `stream`.
inline std::mt19937_64 random(std::uint64_t stream = 0) {
  std::seed_seq mix{seed(), stream};
  return std::mt19937_64(mix);
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#else
inline constexpr bool sanitized = false;
#endif

// Whether a round takes about ten times as long: under a sanitizer, and on an emulated machine.
#if defined(HANDOFF_TEST_EMULATED)
inline constexpr bool slow = true;
#else
inline constexpr bool slow = sanitized;
#endif

// True for `./check --deep`.
bool deep() noexcept;

// How often to repeat: `usual` in an ordinary build, a tenth in a slow one, ten times as often in a
// deep run.
inline std::size_t rounds(std::size_t usual) noexcept {
  if (deep()) return usual * 10;
  return slow ? usual / 10 : usual;
}

}  // namespace handoff::test
