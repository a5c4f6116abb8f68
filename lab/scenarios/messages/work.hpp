// SPDX-License-Identifier: MIT
// What a message of `messages` is, and what its receivers come to. Both sides know it: the
// contender does the work, the coordinator the reckoning.
#pragma once

#include "peers/answer.hpp"

namespace handoff::lab::messages {

// What tells a message apart.
struct Content {
  std::uint64_t producer = 0;
  std::uint64_t number = 0;  // among its producer's, from 0 on
  std::uint64_t due = 0;     // ns: when it is to be sent, where that counts

  [[nodiscard]] Content after(std::uint64_t others) const {
    return {producer, number + others, due};
  }
};

// Every byte of it is written by its producer and read by its receiver.
template <std::size_t kBytes>
class Message {
 public:
  static constexpr std::size_t kSize = kBytes;

  Message() = default;
  explicit Message(const Content& content) noexcept { write(content); }

  void write(const Content& content) noexcept {
    const std::uint64_t first = content.producer << kNumberBits | content.number;
    for (std::size_t i = 0; i < kWords; ++i) words_[i] = first + i * kStep;
    words_[kWords - 1] += content.due;
  }

  [[nodiscard]] std::uint64_t producer() const { return words_[0] >> kNumberBits; }
  [[nodiscard]] std::uint64_t number() const {
    return words_[0] & ((std::uint64_t{1} << kNumberBits) - 1);
  }
  [[nodiscard]] std::uint64_t due() const {
    return words_[kWords - 1] - words_[0] - (kWords - 1) * kStep;
  }
  // Of all its words; without the moment at which it was due, which nobody else knows.
  [[nodiscard]] std::uint64_t weight() const { return peers::fold(sum()); }
  [[nodiscard]] std::uint64_t weight_but_due() const { return peers::fold(sum() - due()); }

 private:
  static constexpr std::size_t kWords = kBytes / sizeof(std::uint64_t);
  static constexpr int kNumberBits = 40;
  static constexpr std::uint64_t kStep = 0x10001;

  [[nodiscard]] std::uint64_t sum() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t word : words_) sum += word;
    return sum;
  }

  std::array<std::uint64_t, kWords> words_;
};

// Of all operations since the launch, so that one that went wrong is not forgotten.
struct Answer {
  std::uint64_t operations;
  std::uint64_t messages;   // of one operation
  std::uint64_t received;
  std::uint64_t sum;        // of the weights of what was received
  std::uint64_t misplaced;  // came after a later one of their producer, or again
};

inline constexpr std::size_t capacity = 1024;  // so many are under way at most
inline constexpr std::size_t batch = 256;      // published at once; taken at once at most
inline constexpr std::size_t most_producers = 64;

inline bool is_latency(const std::string& metric) { return metric.starts_with("latency_"); }

// Messages of one operation: as fast as they go, or paced.
inline constexpr std::size_t saturating_messages = 100'000;
inline constexpr std::size_t slow_messages = 2'000;  // where each takes tens of microseconds
inline constexpr std::size_t paced_messages = 5'000;
inline constexpr std::size_t paced_bytes = 72;

// Of these, so many are this producer's.
inline std::size_t share_of(std::size_t producer, std::size_t producers, std::size_t messages) {
  return messages / producers + (producer < messages % producers ? 1 : 0);
}

}  // namespace handoff::lab::messages
