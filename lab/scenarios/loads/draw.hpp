// SPDX-License-Identifier: MIT
// A load drawn at random: how large its pieces are, how many there are, how uneven, of how many
// kinds, how they arrive, and whether they hand over pieces themselves. A draw is a pure function
// of its seed and its number. It is a library of its own, which advice is not made with: advice
// must hold for loads that it has not seen.
#pragma once

#include "harness/standard.hpp"

namespace handoff::lab::loads {

inline constexpr double kLeastPieceNs = 100;
inline constexpr double kMostPieceNs = 1e7;
inline constexpr double kMostWorkNs = 45e6;  // of all pieces; a step takes up to 1.3 ns
inline constexpr std::size_t kMostKinds = 8;
inline constexpr std::size_t kMostWaves = 8;
inline constexpr std::size_t kMostFanOut = 8;
// Of so many draws in a row one is bound by memory.
inline constexpr std::uint64_t kMemoryEvery = 5;

enum class Skew {
  none,
  linear,   // from next to nothing to twice the mean
  heavy,    // one of 32 takes as long as 32 others
  bimodal,  // half of them take nine times as long as the other half
};

struct Load {
  bool by_memory = false;  // its pieces walk memory; else they compute
  double piece_ns = 0;     // about so much work in a piece, on average
  std::size_t count = 0;   // pieces
  Skew skew = Skew::none;
  std::size_t kinds = 1;  // of work, each a function of its own
  std::size_t waves = 1;  // more than 1: each arrives once the one before is done, after a pause
  bool by_index = false;  // the pieces are a loop's indices; else tasks
  std::size_t fan_out = 0;  // so many tasks are handed over by a task, which waits for them; or 0

  friend bool operator==(const Load&, const Load&) = default;
};

struct Piece {
  std::uint32_t work;  // steps of a computation, or lines of memory
  std::uint32_t kind;

  friend bool operator==(const Piece&, const Piece&) = default;
};

[[nodiscard]] Load draw(std::uint64_t seed, std::uint64_t number);

// Its pieces in the order in which they are handed over. They depend on the load alone.
[[nodiscard]] std::vector<Piece> pieces_of(const Load& load);

// Where a wave begins among the pieces. The wave after the last one begins at their end.
[[nodiscard]] constexpr std::size_t begin_of_wave(const Load& load, std::size_t wave) {
  return load.count * wave / load.waves;
}

}  // namespace handoff::lab::loads
