// SPDX-License-Identifier: MIT
// Loads drawn at random: a draw is always the same, and a hundred of them have all there is.
#include "scenarios/loads/draw.hpp"
#include "support/test.hpp"

namespace handoff::lab::loads { namespace {

std::vector<Load> hundred(std::uint64_t seed) {
  std::vector<Load> loads;
  for (std::uint64_t number = 0; number < 100; ++number) loads.push_back(draw(seed, number));
  return loads;
}

template <class Condition>
auto count_of(const std::vector<Load>& loads, const Condition& condition) {
  return std::count_if(loads.begin(), loads.end(), condition);
}

TEST(LoadsDraw, IsAFunctionOfSeedAndNumber) {
  EXPECT_EQ(hundred(1), hundred(1));
  const std::vector<Load> others = hundred(2);
  for (std::uint64_t number = 0; number < 100; ++number) {
    const Load load = draw(1, number);
    EXPECT_NE(load, others[number]);
    EXPECT_EQ(pieces_of(load), pieces_of(load));
  }
}

TEST(LoadsDraw, StaysWithinItsRanges) {
  for (const std::uint64_t seed : {1U, 7U, 23U}) {
    for (const Load& load : hundred(seed)) {
      EXPECT_GE(load.piece_ns, kLeastPieceNs);
      EXPECT_LE(load.piece_ns, kMostPieceNs);
      EXPECT_GE(load.count, 2U);
      EXPECT_LE(load.piece_ns * static_cast<double>(load.count), kMostWorkNs * 1.001);
      EXPECT_GE(load.kinds, 1U);
      EXPECT_LE(load.kinds, kMostKinds);
      EXPECT_GE(load.waves, 1U);
      EXPECT_LE(load.waves, std::min(load.count, kMostWaves));
      EXPECT_LE(load.fan_out, kMostFanOut);
      EXPECT_TRUE(load.fan_out == 0 || !load.by_index);
    }
  }
}

TEST(LoadsDraw, AHundredHaveEverySort) {
  for (const std::uint64_t seed : {1U, 7U, 23U}) {
    const std::vector<Load> loads = hundred(seed);
    EXPECT_EQ(count_of(loads, [](const Load& load) { return load.by_memory; }), 20);
    for (const Skew skew : {Skew::none, Skew::linear, Skew::heavy, Skew::bimodal}) {
      EXPECT_GE(count_of(loads, [skew](const Load& load) { return load.skew == skew; }), 10);
    }
    EXPECT_GE(count_of(loads, [](const Load& load) { return load.by_index; }), 30);
    EXPECT_GE(count_of(loads, [](const Load& load) { return load.fan_out > 0; }), 10);
    EXPECT_GE(count_of(loads, [](const Load& load) { return load.waves == 1; }), 30);
    EXPECT_GE(count_of(loads, [](const Load& load) { return load.waves > 1; }), 30);
    std::set<std::size_t> kinds;
    std::set<int> decades;
    for (const Load& load : loads) {
      kinds.insert(load.kinds);
      decades.insert(static_cast<int>(std::log10(load.piece_ns)));
    }
    EXPECT_EQ(kinds.size(), kMostKinds);
    EXPECT_EQ(decades, (std::set<int>{2, 3, 4, 5, 6}));
  }
}

TEST(LoadsDraw, PiecesAreAsLargeAndAsUnevenAsTheLoadSays) {
  for (const Skew skew : {Skew::none, Skew::linear, Skew::heavy, Skew::bimodal}) {
    Load load;
    load.piece_ns = 10'000;
    load.count = 6400;
    load.skew = skew;
    load.kinds = 3;
    const std::vector<Piece> pieces = pieces_of(load);
    double sum = 0;
    double most = 0;
    std::set<std::uint32_t> kinds;
    for (const Piece& piece : pieces) {
      sum += piece.work;
      most = std::max<double>(most, piece.work);
      kinds.insert(piece.kind);
    }
    EXPECT_NEAR(sum / 6400, 10'000, 2);  // each is rounded to a whole step
    const double largest = most / 10'000;
    const double expected = skew == Skew::none ? 1 : skew == Skew::linear ? 2 : 0;
    if (expected > 0) {
      EXPECT_NEAR(largest, expected, 0.01);
    }
    if (skew == Skew::heavy) {
      EXPECT_TRUE(largest > 12 && largest < 20) << largest;
    }
    if (skew == Skew::bimodal) {
      EXPECT_TRUE(largest > 1.6 && largest < 2) << largest;
    }
    EXPECT_EQ(kinds, (std::set<std::uint32_t>{0, 1, 2}));
  }
}

TEST(LoadsDraw, WavesAreAllOfThePieces) {
  for (const Load& load : hundred(7)) {
    EXPECT_EQ(begin_of_wave(load, 0), 0U);
    EXPECT_EQ(begin_of_wave(load, load.waves), load.count);
    for (std::size_t wave = 0; wave < load.waves; ++wave) {
      EXPECT_LT(begin_of_wave(load, wave), begin_of_wave(load, wave + 1));
    }
  }
}

}}  // namespace handoff::lab::loads
