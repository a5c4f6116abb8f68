// SPDX-License-Identifier: MIT
// At which size of a task `grain` says that a way runs at half of full efficiency.
#include "scenarios/grain/sweep.hpp"
#include "support/test.hpp"

namespace sweep_test { namespace {

using handoff::lab::grain::Efficiency;
using handoff::lab::grain::half_size;
using handoff::lab::grain::sizes;

// From the size of this index on all of it, below nothing.
Efficiency full_from(std::size_t index) {
  Efficiency efficiency{};
  for (std::size_t i = index; i < sizes.size(); ++i) efficiency[i] = 1;
  return efficiency;
}

TEST(HalfSize, LiesBetweenTheSizesAroundHalf) {
  for (std::size_t i = 1; i + 1 < sizes.size(); ++i) {
    const double size = half_size(full_from(i), 0.5);
    EXPECT_GT(size, static_cast<double>(sizes[i - 1]));
    EXPECT_LT(size, static_cast<double>(sizes[i]));
  }
}

TEST(HalfSize, OfTheSmallestIsTheSmallest) {
  EXPECT_EQ(half_size(full_from(0), 0.5), static_cast<double>(sizes[0]));
}

TEST(HalfSize, LooksPastALuckyMoment) {
  Efficiency efficiency = full_from(10);
  efficiency[3] = 1;
  EXPECT_GT(half_size(efficiency, 0.5), static_cast<double>(sizes[9]));
}

TEST(HalfSize, IsNotMovedByADisturbedLargerSize) {
  Efficiency efficiency = full_from(5);
  const double before = half_size(efficiency, 0.5);
  efficiency[12] = 0;
  EXPECT_EQ(half_size(efficiency, 0.5), before);
}

TEST(HalfSize, IsTheLargestWhereNoneIsHalfEfficient) {
  EXPECT_EQ(half_size(Efficiency{}, 0.5), static_cast<double>(sizes.back()));
  EXPECT_EQ(half_size(full_from(sizes.size() - 1), 0.5), static_cast<double>(sizes.back()))
      << "the largest alone may be a lucky moment";
}

}}  // namespace sweep_test
