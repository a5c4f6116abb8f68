// SPDX-License-Identifier: MIT
// What goes from process to process, how much of it at a time, and what it must come to. Both sides
// know it: the contender does the work, the coordinator the reckoning.
#pragma once

#include "peers/answer.hpp"

namespace handoff::lab::processes {

// Where the numbers of answers begin, so that a message that comes back is no answer.
inline constexpr std::uint64_t answers = std::uint64_t{1} << 63;

// The first word of a message. All words are told by its number.
constexpr std::uint64_t first_word(std::uint64_t number) { return ~number * 0x9E3779B97F4A7C15; }

template <std::size_t bytes>
struct Message {
  static_assert(bytes % sizeof(std::uint64_t) == 0);
  static constexpr std::size_t count = bytes / sizeof(std::uint64_t);

  void write(std::uint64_t number) {
    const std::uint64_t first = first_word(number);
    for (std::size_t i = 0; i < count; ++i) words[i] = first + i * step;
  }
  // Looks at all of it.
  [[nodiscard]] bool is(std::uint64_t number) const {
    const std::uint64_t first = first_word(number);
    std::uint64_t differences = 0;
    for (std::size_t i = 0; i < count; ++i) differences |= words[i] ^ (first + i * step);
    return differences == 0;
  }
  // What it adds to the sum of all that were received.
  [[nodiscard]] std::uint64_t weight() const {
    return peers::fold(words[0] ^ (words[count - 1] << 17));
  }

  static constexpr std::uint64_t step = 0x0123456789ABCDEF;
  std::uint64_t words[count];
};

// The sum after so many messages from `first` on, by their numbers alone.
inline std::uint64_t weight_of(std::uint64_t first, std::uint64_t messages, std::size_t bytes) {
  std::uint64_t sum = 0;
  const std::uint64_t last = (bytes / sizeof(std::uint64_t) - 1) * Message<8>::step;
  for (std::uint64_t i = first; i < first + messages; ++i) {
    const std::uint64_t word = first_word(i);
    sum += peers::fold(word ^ ((word + last) << 17));
  }
  return sum;
}

// So many are under way at most, where a contender can be told.
constexpr std::size_t places_for(std::size_t bytes) {
  if (bytes <= 64) return 1024;
  return bytes <= 4096 ? 64 : 4;
}

// How many messages are timed in one operation. Before them comes one that is not: it wakes the
// other process.
constexpr std::uint64_t timed_messages(std::string_view metric, std::size_t bytes) {
  if (metric == "wake") return 20;  // each of which is a part of its own
  if (metric == "latency") return bytes <= 4096 ? 1'000 : 20;  // slow ways take 100 us for each
  return bytes <= 64 ? 100'000 : bytes <= 4096 ? 10'000 : 50;
}

// All of an operation.
constexpr std::uint64_t messages_of(std::string_view metric, std::size_t bytes) {
  return timed_messages(metric, bytes) + (metric == "wake" ? 0 : 1);
}

struct Answer {
  std::uint64_t first;  // the number of the operation's first message
  std::uint64_t received;  // by the other process
  std::uint64_t wrong;  // of these, and of the answers: not what was sent in this place
  std::uint64_t sum;  // of the weights of those that it received
};

// The two processes of a contender, and what one of them picks of what there is for each way.
enum class Side : std::uint8_t { first, second };

// The index of what a process sends by, and of what it receives by.
constexpr std::size_t sends_by(Side side) { return side == Side::first ? 0 : 1; }
constexpr std::size_t receives_by(Side side) { return side == Side::first ? 1 : 0; }

}  // namespace handoff::lab::processes
