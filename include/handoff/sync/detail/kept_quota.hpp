// SPDX-License-Identifier: MIT
//
// A CPU quota, kept for the second in which it was read. Not for users.
//
// The quota and its second are stored in one word, so a reader never gets one write's quota with
// another one's second. The word publishes nothing else.
//
// Concurrency: thread-safe. Blocks, allocates, throws: never.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include <handoff/config.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

class KeptQuota {
 public:
  constexpr KeptQuota() noexcept : word_(0) {}

  // That of a second; nothing if none was kept in it. Seconds begin at 1.
  std::optional<double> of(std::uint32_t second) const noexcept {
    const std::uint64_t word = word_.load(order::relaxed);  // order: relaxed, the word is all
    if (static_cast<std::uint32_t>(word) != second) return {};
    return std::bit_cast<float>(static_cast<std::uint32_t>(word >> kSecondBits));
  }

  void keep(double quota, std::uint32_t second) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(quota));
    // order: relaxed, as above.
    word_.store(std::uint64_t{bits} << kSecondBits | second, order::relaxed);
  }

 private:
  static constexpr int kSecondBits = 32;

  atomic<std::uint64_t> word_;  // the quota as a float, and below it the second
};

}}}  // namespace handoff::HANDOFF_ABI::sync
