// SPDX-License-Identifier: MIT
// The problems of `forkjoin`: each call that divides makes a task of every part, however small, and
// waits for them. Written once, for any way to fork; the coordinator's reference uses the same
// rules without forking.
//
// A Fork has a nested class Group, made from the Fork: run(f) hands f over, wait() waits for all.
#pragma once

#include "harness/standard.hpp"

namespace handoff::lab::forkjoin {

struct Answer {
  std::uint64_t value;
  std::uint64_t forks;
};

inline constexpr unsigned fib_of = 27;
inline constexpr unsigned queens = 11;

// fib(27): the smallest possible work between forks.
template <class Fork>
Answer fib(Fork& fork, unsigned n) {
  if (n < 2) return {n, 0};
  Answer first{};
  typename Fork::Group group(fork);
  group.run([&fork, &first, n] { first = fib(fork, n - 1); });
  const Answer second = fib(fork, n - 2);
  group.wait();
  return {first.value + second.value, first.forks + second.forks + 1};
}

// Eleven queens: up to eleven tasks at each step.
struct Placed {
  std::uint32_t columns = 0;
  std::uint32_t rising = 0;  // diagonals, shifted a step with each row
  std::uint32_t falling = 0;
  unsigned row = 0;

  std::uint32_t free() const { return ~(columns | rising | falling) & ((1U << queens) - 1); }
  Placed with(std::uint32_t column) const {
    return {columns | column, (rising | column) << 1, (falling | column) >> 1, row + 1};
  }
};

template <class Fork>
Answer nqueens(Fork& fork, const Placed& placed) {
  if (placed.row == queens) return {1, 0};
  std::array<Answer, queens> parts{};
  std::size_t count = 0;
  typename Fork::Group group(fork);
  for (std::uint32_t free = placed.free(); free != 0; free &= free - 1) {
    Answer& part = parts[count++];
    group.run([&fork, &part, next = placed.with(free & -free)] { part = nqueens(fork, next); });
  }
  group.wait();
  Answer all{0, count};
  for (std::size_t i = 0; i < count; ++i) {
    all.value += parts[i].value;
    all.forks += parts[i].forks;
  }
  return all;
}

// A tree whose shape only shows as one walks it: a node has zero to three children, as a hash says,
// so that subtrees of one node differ by orders of magnitude.
struct Node {
  std::uint64_t hash = 7 * 0x9e3779b97f4a7c15U;  // a root whose tree is neither a stump nor endless
  unsigned levels = 26;  // below this one

  unsigned children() const { return levels == 0 ? 0 : (hash >> 33) % 4; }
  Node child(unsigned i) const { return {mix(hash + i + 1), levels - 1}; }

 private:
  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
  }
};

template <class Fork>
Answer tree(Fork& fork, const Node& node) {
  std::array<Answer, 3> parts{};
  const unsigned count = node.children();
  typename Fork::Group group(fork);
  for (unsigned i = 0; i < count; ++i) {
    group.run([&fork, &part = parts[i], child = node.child(i)] { part = tree(fork, child); });
  }
  group.wait();
  Answer all{node.hash, count};
  for (const Answer& part : parts) {
    all.value += part.value;
    all.forks += part.forks;
  }
  return all;
}

template <class Fork>
Answer solve(Fork& fork, const std::string& problem) {
  if (problem == "fib") return fib(fork, fib_of);
  if (problem == "nqueens") return nqueens(fork, Placed{});
  return tree(fork, Node{});
}

}  // namespace handoff::lab::forkjoin
