// SPDX-License-Identifier: MIT
// The graphs of `graph`, known to both sides, and what their nodes compute: each a value of its
// number, the run, and the values of the nodes that it waits for. A node that runs before one of
// these has read a value of the run before, and the digest of the run is another one.
// Source: the patterns are those of E. Slaughter et al., "Task Bench: A Parameterized Benchmark for
// Evaluating Parallel Runtime Performance" (2020), and of its code.
#pragma once

#include "peers/answer.hpp"

namespace handoff::lab::graph {

// The nodes that node i waits for have smaller numbers than i.
class Shape {
 public:
  std::size_t nodes() const { return ends_.size(); }
  std::span<const std::uint32_t> before(std::size_t i) const {
    const std::uint32_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::span(before_).subspan(begin, ends_[i] - begin);
  }

  // The next node waits for `other`.
  void edge(std::size_t other) { before_.push_back(static_cast<std::uint32_t>(other)); }
  void node() { ends_.push_back(static_cast<std::uint32_t>(before_.size())); }

 private:
  std::vector<std::uint32_t> ends_;  // where those of each node end in `before_`
  std::vector<std::uint32_t> before_;
};

inline constexpr std::size_t columns = 16;
inline constexpr std::size_t column_bits = 4;

// Whether a node of a pattern waits for this column of the row before it.
inline bool waits(const std::string& pattern, std::size_t row, std::size_t column,
                  std::size_t other) {
  const std::size_t apart = column > other ? column - other : other - column;
  if (pattern == "stencil") return apart <= 1;
  if (pattern == "sweep") return column - other <= 1;
  if (pattern == "fft") {
    return apart == 0 || apart == std::size_t{1} << ((row - 1) % column_bits);
  }
  if (pattern == "tree") return other == column / 2;
  if (pattern == "random") {  // itself, and each of the four nearest in half of all cases
    const std::uint64_t chance = peers::fold((row * columns + column) * columns + other + 1);
    return apart == 0 || (apart <= 2 && chance % 2 == 0);
  }
  return false;  // trivial
}

// Rows of 16 nodes, each of which waits for some of the row before it. A tree grows to that.
inline Shape pattern(const std::string& name, std::size_t rows) {
  Shape shape;
  std::size_t row_before = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const bool grows = name == "tree" && row < column_bits;
    const std::size_t width = grows ? std::size_t{1} << row : columns;
    const std::size_t width_before = grows ? width / 2 : columns;
    const std::size_t begin = shape.nodes();
    for (std::size_t column = 0; column < width; ++column) {
      for (std::size_t other = 0; row > 0 && other < width_before; ++other) {
        if (waits(name, row, column, other)) shape.edge(row_before + other);
      }
      shape.node();
    }
    row_before = begin;
  }
  return shape;
}

// A square, in which each node waits for the one above it and the one to its left.
inline Shape wavefront(std::size_t nodes) {
  Shape shape;
  std::size_t side = 1;
  while ((side + 1) * (side + 1) <= nodes) ++side;
  for (std::size_t i = 0; i < nodes; ++i) {
    if (i >= side) shape.edge(i - side);
    if (i % side != 0) shape.edge(i - 1);
    shape.node();
  }
  return shape;
}

// Each node waits for none to four of the thousand before it, as a hash says.
inline Shape random_graph(std::size_t nodes) {
  constexpr std::size_t most = 4;
  constexpr std::size_t reach = 1000;
  Shape shape;
  for (std::size_t i = 0; i < nodes; ++i) {
    const std::uint64_t hash = peers::fold(i + 1);
    std::vector<std::size_t> others;
    for (std::uint64_t k = 0; i > 0 && k < hash % (most + 1); ++k) {
      others.push_back(i - 1 - peers::fold(hash + k) % std::min(i, reach));
    }
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    for (const std::size_t other : others) shape.edge(other);
    shape.node();
  }
  return shape;
}

inline Shape empty_nodes(const std::string& name, std::size_t nodes) {
  return name == "wavefront" ? wavefront(nodes) : random_graph(nodes);
}

// What node i computes in a run.
inline std::uint64_t value_of(const Shape& shape, std::span<const std::uint64_t> values,
                              std::uint64_t run, std::size_t i) {
  std::uint64_t sum = run + i;
  for (const std::uint32_t other : shape.before(i)) sum += values[other];
  return peers::fold(sum);
}

inline std::uint64_t digest_of(std::span<const std::uint64_t> values) {
  std::uint64_t digest = 0;
  for (const std::uint64_t value : values) digest += value;
  return digest;
}

struct Answer {
  peers::Answer jobs;  // the nodes of all runs
  std::uint64_t digest;
};

// The rows of a pattern whose nodes have so many steps of work: enough for some milliseconds.
constexpr std::size_t rows_of(std::size_t steps) {
  constexpr std::size_t work = std::size_t{1} << 21;
  return std::clamp<std::size_t>(work / steps / columns, 16, 10'000 / columns);
}

inline constexpr std::uint64_t runs = 2;  // of an operation of `node`

}  // namespace handoff::lab::graph
