// SPDX-License-Identifier: MIT
// Both sides compute the pieces, and their answers must agree to the last bit: so this is compiled
// once, not for each side with flags of its own.
#include "scenarios/loads/draw.hpp"

namespace handoff::lab::loads {
namespace {

// A step of the computation takes about a nanosecond, a line of memory about so many.
constexpr double kStepNs = 1;
constexpr double kLineNs = 5;

// SplitMix64: a bijection that leaves no trace of the order of its arguments.
constexpr std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

class Dice {
 public:
  Dice(std::uint64_t seed, std::uint64_t number) : state_(mixed(seed) ^ mixed(~number)) {}

  // From 0 to below 1.
  double share() { return static_cast<double>(next() >> 11) / 9007199254740992.0; }
  std::size_t from(std::size_t low, std::size_t high) {
    return low + static_cast<std::size_t>(share() * static_cast<double>(high - low + 1));
  }
  // As likely in each decade.
  double log_from(double low, double high) {
    return low * std::exp(share() * std::log(high / low));
  }

 private:
  std::uint64_t next() {
    state_ = mixed(state_);
    return state_;
  }

  std::uint64_t state_;
};

// Of a piece, relative to others of its load.
double weight_of(const Load& load, std::size_t i, std::uint64_t chance) {
  switch (load.skew) {
    case Skew::linear: return static_cast<double>(2 * i + 1) / static_cast<double>(load.count);
    case Skew::heavy: return chance % 32 == 0 ? 32 : 1;
    case Skew::bimodal: return chance % 2 == 0 ? 9 : 1;
    default: return 1;
  }
}

}  // namespace

Load draw(std::uint64_t seed, std::uint64_t number) {
  constexpr double least_work_ns = 40'000;
  Dice dice(seed, number);
  Load load;
  load.by_memory = number % kMemoryEvery == kMemoryEvery - 1;
  load.piece_ns = dice.log_from(kLeastPieceNs, kMostPieceNs);
  const double work_ns = dice.log_from(std::max(least_work_ns, 2 * load.piece_ns), kMostWorkNs);
  load.count = std::max<std::size_t>(2, static_cast<std::size_t>(work_ns / load.piece_ns));
  load.skew = static_cast<Skew>(dice.from(0, 3));
  load.kinds = dice.from(1, kMostKinds);
  const std::size_t waves = dice.from(2, kMostWaves);
  if (dice.from(0, 1) == 1) load.waves = std::min(waves, load.count);
  load.by_index = dice.from(0, 1) == 1;
  const std::size_t fan_out = dice.from(2, kMostFanOut);
  if (dice.from(0, 1) == 1 && !load.by_index) load.fan_out = fan_out;
  return load;
}

std::vector<Piece> pieces_of(const Load& load) {
  std::vector<double> weights(load.count);
  std::vector<Piece> pieces(load.count);
  double sum = 0;
  for (std::size_t i = 0; i < load.count; ++i) {
    const std::uint64_t chance = mixed(i);
    weights[i] = weight_of(load, i, chance >> 32);
    pieces[i].kind = static_cast<std::uint32_t>(chance % load.kinds);
    sum += weights[i];
  }
  const double unit_ns = load.by_memory ? kLineNs : kStepNs;
  const double scale = load.piece_ns / unit_ns * static_cast<double>(load.count) / sum;
  for (std::size_t i = 0; i < load.count; ++i) {
    pieces[i].work = static_cast<std::uint32_t>(std::max(1.0, weights[i] * scale));
  }
  return pieces;
}

}  // namespace handoff::lab::loads
