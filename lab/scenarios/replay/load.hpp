// SPDX-License-Identifier: MIT
// A trace as contenders are given it: the input of `replay`, and what they answer. The input is a
// head, so many pieces, and then the numbers of those that wait for a piece, piece after piece.
#pragma once

#include "harness/standard.hpp"

namespace handoff::lab::replay {

struct LoadHead {
  std::uint64_t pieces;
  std::uint64_t edges;
};

// Pieces are in the order of their arrivals.
struct LoadPiece {
  std::uint64_t arrival_ns;   // from the beginning of a replay
  std::uint64_t work_ns;      // of one thread
  std::uint32_t first_child;  // of those that wait for it
  std::uint32_t children;
  std::uint32_t parents;  // so many it waits for
  std::uint32_t key;      // those with the same one also wait for each other; 0: none has it
};

// What became of a piece in the last replay, from its beginning.
struct PieceAnswer {
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
  std::uint64_t runs;
};

struct LoadView {
  std::span<const LoadPiece> pieces;
  std::span<const std::uint32_t> children;

  [[nodiscard]] std::span<const std::uint32_t> children_of(std::size_t piece) const {
    return children.subspan(pieces[piece].first_child, pieces[piece].children);
  }
};

constexpr std::size_t load_bytes(const LoadHead& head) {
  return sizeof(LoadHead) + head.pieces * sizeof(LoadPiece) + head.edges * sizeof(std::uint32_t);
}

// The bytes must be aligned as a page is, and live as long as what is returned.
inline LoadView load_in(std::span<const std::byte> bytes) {
  LoadHead head{};
  if (bytes.size() < sizeof head) throw std::runtime_error("the input is no load");
  std::memcpy(&head, bytes.data(), sizeof head);
  if (bytes.size() < load_bytes(head)) throw std::runtime_error("the input is no load");
  const std::byte* const pieces = bytes.data() + sizeof head;
  const std::byte* const children = pieces + head.pieces * sizeof(LoadPiece);
  return {{reinterpret_cast<const LoadPiece*>(pieces), head.pieces},
          {reinterpret_cast<const std::uint32_t*>(children), head.edges}};
}

}  // namespace handoff::lab::replay
