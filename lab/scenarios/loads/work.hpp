// SPDX-License-Identifier: MIT
// What a piece does, the same for all contenders. It computes, or it walks memory that no cache
// holds. It is compiled once, in a shared object, so that it lies at the same place of a page.
#pragma once

#include "scenarios/loads/draw.hpp"

namespace handoff::lab::loads {

// 64 MiB, which all pieces share.
inline constexpr std::size_t kLineBytes = 64;
inline constexpr std::size_t kLines = std::size_t{1} << 20;

// What a line has in it, and where the walk of a piece begins. The last line is followed by the
// first one.
constexpr std::uint64_t content_of(std::size_t line) { return line * 0x9E3779B97F4A7C15U + 1; }
constexpr std::size_t first_line_of(std::uint64_t start, std::size_t shift) {
  return (static_cast<std::size_t>(start * 0xD1342543DE82EF95U >> 44) + shift) % kLines;
}
static_assert(kLines == std::size_t{1} << (64 - 44));

// All walks of an operation are shifted by so much against those of the one before: else a small
// load would find its lines in a cache. The golden ratio brings each one far from all recent ones.
inline constexpr std::size_t kShift = 648055;

// Of an operation: how many pieces ran, and the digest of their results, with the shift that they
// ran with.
struct Answer {
  std::uint64_t runs;
  std::uint64_t sum;
  std::uint64_t shift;
};

// Where a piece starts to work, which its result depends on. Pieces count from 1 on.
constexpr std::uint64_t start_of(std::uint64_t number, std::uint64_t kind) {
  return number * (2 * kind + 3);
}

// Has the memory, before pieces walk it. Not thread-safe.
void have_memory();

// What a piece computes, or the sum of the lines that it walks.
std::uint64_t compute(std::uint64_t number, const Piece& piece);
std::uint64_t walk(std::uint64_t number, const Piece& piece, std::size_t shift);

}  // namespace handoff::lab::loads
