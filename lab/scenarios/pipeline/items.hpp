// SPDX-License-Identifier: MIT
// What goes through the pipelines of `pipeline`, known to both sides.
#pragma once

#include "peers/answer.hpp"

namespace handoff::lab::pipeline {

inline constexpr std::uint64_t items = 10'000;  // of an operation
inline constexpr std::size_t tokens = 16;       // items under way at most

struct Answer {
  peers::Answer jobs;      // of the middle stage; of bytes those that came out again
  std::uint64_t digest;
  std::uint64_t disorder;  // items that came out before an earlier one, where that must not be
};

// What the last stage leaves of an item.
inline std::uint64_t left_of(std::uint64_t item, std::uint64_t run) {
  return peers::fold(item + run * items);
}

inline std::uint64_t digest_of(const auto& values) {
  std::uint64_t digest = 0;
  for (const auto value : values) digest = (digest + value) * 0x9E3779B97F4A7C15;
  return digest;
}

// Text to be compressed: words of two to nine letters, some far more frequent than others.
inline std::string text(std::size_t bytes) {
  std::string all;
  all.reserve(bytes + 16);
  for (std::uint64_t i = 0; all.size() < bytes; ++i) {
    const std::uint64_t hash = peers::fold(i + 1);
    const std::uint64_t rank = (hash >> 8) % (std::uint64_t{1} << (4 + hash % 12));
    std::uint64_t letters = peers::fold(rank + 1);
    for (std::uint64_t k = 0; k < 2 + rank % 8; ++k, letters /= 26) {
      all.push_back(static_cast<char>('a' + letters % 26));
    }
    all.push_back(hash % 97 == 0 ? '\n' : ' ');
  }
  all.resize(bytes);
  return all;
}

}  // namespace handoff::lab::pipeline
