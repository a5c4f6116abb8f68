// SPDX-License-Identifier: MIT
#include "scenarios/loads/work.hpp"
#include "peers/kernel.hpp"

namespace handoff::lab::loads {
namespace {

constexpr std::size_t kWords = kLineBytes / sizeof(std::uint64_t);

std::vector<std::uint64_t> memory;

// A kind is a function of its own, so that those of many kinds are called at random.
using Compute = std::uint64_t (*)(std::uint64_t number, std::size_t steps);
using Walk = std::uint64_t (*)(std::uint64_t number, std::size_t lines, std::size_t shift);

template <std::size_t kKind>
[[gnu::noinline]] std::uint64_t compute_kind(std::uint64_t number, std::size_t steps) {
  return peers::burn(start_of(number, kKind), steps);
}

template <std::size_t kKind>
[[gnu::noinline]] std::uint64_t walk_kind(std::uint64_t number, std::size_t lines,
                                          std::size_t shift) {
  const std::size_t first = first_line_of(start_of(number, kKind), shift);
  const std::uint64_t* const words = memory.data();
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < lines; ++i) sum += words[(first + i) % kLines * kWords];
  return sum;
}

struct Kinds {
  Compute compute[kMostKinds];
  Walk walk[kMostKinds];
};
template <std::size_t... kEach>
constexpr Kinds all_of(std::index_sequence<kEach...> /*kinds*/) {
  return {{&compute_kind<kEach>...}, {&walk_kind<kEach>...}};
}
constexpr Kinds kKinds = all_of(std::make_index_sequence<kMostKinds>());

}  // namespace

void have_memory() {
  memory.resize(kLines * kWords);
  for (std::size_t line = 0; line < kLines; ++line) memory[line * kWords] = content_of(line);
}

std::uint64_t compute(std::uint64_t number, const Piece& piece) {
  return kKinds.compute[piece.kind](number, piece.work);
}
std::uint64_t walk(std::uint64_t number, const Piece& piece, std::size_t shift) {
  return kKinds.walk[piece.kind](number, piece.work, shift);
}

}  // namespace handoff::lab::loads
