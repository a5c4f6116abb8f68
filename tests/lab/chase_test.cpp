// SPDX-License-Identifier: MIT
// The way through memory that `machine` chases.
#include "scenarios/machine/chase.hpp"
#include "support/test.hpp"

namespace chase_test { namespace {

using handoff::lab::machine::Chase;

TEST(Chase, MeetsEachLineOnceBeforeItBeginsAnew) {
  for (std::uint64_t lines = 4; lines <= 1 << 15; lines *= 2) {
    const Chase chase(lines);
    std::vector<bool> met(lines);
    std::uint64_t line = chase.line_at(0);
    for (std::uint64_t step = 0; step < lines; ++step) {
      ASSERT_EQ(line, chase.line_at(step));
      ASSERT_LT(line, lines);
      ASSERT_FALSE(met[line]) << "line " << line << " of " << lines << " at step " << step;
      met[line] = true;
      line = chase.line_after(line);
    }
    EXPECT_EQ(line, chase.line_at(0));
    EXPECT_EQ(chase.line_at(lines + 3), chase.line_at(3));
  }
}

// A prefetcher looks for distances that come again. By chance some come twice.
TEST(Chase, HasNoDistanceThatItKeepsTo) {
  constexpr std::uint64_t lines = 1 << 21;
  const Chase chase(lines);
  std::multiset<std::uint64_t> distances;
  for (std::uint64_t step = 0; step < 4096; ++step) {
    distances.insert((chase.line_at(step + 1) - chase.line_at(step)) % lines);
  }
  std::size_t most = 0;
  for (const std::uint64_t distance : distances) most = std::max(most, distances.count(distance));
  EXPECT_LT(most, 10U);
}

TEST(Chase, GoesFarBeyondTheCachesWhereThereIsTheMemory) {
  using namespace handoff::lab::machine;
  EXPECT_GE(last_level_cache_bytes(), 1U << 20);
  EXPECT_TRUE(std::has_single_bit(chase_bytes()));
  EXPECT_LE(chase_bytes(), std::uint64_t{1} << 30);
}

}}  // namespace chase_test
