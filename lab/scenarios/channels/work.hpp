// SPDX-License-Identifier: MIT
// What goes through a channel, and what the consumers together come to. Both sides know it: the
// contender does the work, the coordinator the reckoning.
#pragma once

#include "peers/answer.hpp"

namespace handoff::lab::channels {

// A cache line of it.
struct Message {
  std::uint64_t words[8] = {1, 2, 3, 4, 5, 6, 7, 8};
};
static_assert(sizeof(Message) == 64);

// Its first and its last word tell it apart.
inline Message message(std::uint64_t number) {
  Message made;
  made.words[0] = number;
  made.words[7] = ~number;
  return made;
}

// What a message adds to the sum: of both its ends, so that half a message is noticed.
inline std::uint64_t weight(const Message& message) {
  return peers::fold(message.words[0] - (message.words[7] << 17));
}

struct Answer {
  std::uint64_t count;  // received
  std::uint64_t sum;    // of their weights
};

inline constexpr std::size_t messages = 200'000;  // of one operation
inline constexpr std::size_t capacity = 1024;     // so many are under way at most

}  // namespace handoff::lab::channels
