// SPDX-License-Identifier: MIT
// A trace: pieces of work as a program did them, as far as its file tells.
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab::replay {

// A replay has so many pieces at most; of a longer trace it takes the first ones of its file.
inline constexpr std::size_t most_pieces = 100'000;
// And so many dependencies.
inline constexpr std::size_t most_edges = 4 * most_pieces;
// Times in files are rounded: ends and starts that are so near to each other touch.
inline constexpr std::uint64_t rounding_ns = 1000;
// A piece starts before this, and lasts no longer.
inline constexpr std::uint64_t most_ns = 4'000'000'000'000'000'000;

struct Piece {
  std::uint64_t start_ns = 0;
  std::uint64_t duration_ns = 0;
  std::size_t line = 0;  // of the file, where it ends
  std::uint32_t key = 0;  // pieces with the same one run one after the other; 0: none has it

  [[nodiscard]] std::uint64_t end_ns() const { return start_ns + duration_ns; }
};

// Pieces by their places: the second one begins when the first one has ended.
using Edge = std::pair<std::uint32_t, std::uint32_t>;

struct Trace {
  std::string form;  // "ninja log"
  std::vector<Piece> pieces;  // in the order of their starts
  std::vector<Edge> edges;
  std::size_t left_out = 0;  // pieces after the first most_pieces
  std::uint64_t bytes = 0;  // of all pieces, where the file tells
  bool has_starts = true;
  bool has_keys = false;  // some pieces have; the edges between those of a key are there as well
  bool starts_are_arrivals = true;  // else a scheduler chose them, when a worker was free
  std::vector<std::string> notes;  // what a reader of the report must know
};

}  // namespace handoff::lab::replay
