// SPDX-License-Identifier: MIT
//
// What the tests of rings in shared memory send, and how they spoil its memory.
#pragma once

#include "support/test.hpp"

namespace handoff::test {

struct Message {
  std::uint64_t number;
  std::uint64_t copy;
};
inline Message message_of(std::uint64_t number) { return {number, ~number}; }
inline bool is_whole(const Message& message) { return message.copy == ~message.number; }

// How many spoilt memories a test looks at.
inline std::size_t images() noexcept { return deep() ? 1'000'000 : sanitized ? 1000 : 20'000; }

// Up to seven bytes become others: of the words that both sides share, which begin at multiples of
// 128, or anywhere.
inline void spoil(std::span<std::byte> bytes, std::mt19937_64& random) {
  for (std::uint64_t changes = random() % 8; changes != 0; --changes) {
    const std::size_t at = random() % bytes.size();
    const std::size_t word = at / 128 * 128 + random() % 24;
    bytes[random() % 2 == 0 && word < bytes.size() ? word : at] =
        static_cast<std::byte>(random() % 3 == 0 ? random() : random() % 6);
  }
}

// Without a sum that could be more than there are addresses.
inline bool lies_in(std::span<const std::byte> found, std::span<const std::byte> memory) {
  const std::byte* const end = memory.data() + memory.size();
  return found.data() >= memory.data() && found.data() <= end &&
         found.size() <= static_cast<std::size_t>(end - found.data());
}

}  // namespace handoff::test
