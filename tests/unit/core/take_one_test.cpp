// SPDX-License-Identifier: MIT
//
// Taking one from a count of what is left.
#include <handoff/core/internal/take_one.hpp>
#include <handoff/sync/internal/atomic.hpp>

#include "support/test.hpp"

namespace {

using namespace handoff;
using detail::take_one;

constexpr sync::order kRelaxed = sync::order::relaxed;  // order: relaxed, read at rest

TEST(TakeOne, ReturnsHowManyThereWere) {
  sync::atomic<std::uint32_t> count(2);
  EXPECT_EQ(take_one(count), 2U);
  EXPECT_EQ(take_one(count), 1U);
  EXPECT_EQ(take_one(count), 0U);
  EXPECT_EQ(count.load(kRelaxed), 0U);
}

TEST(TakeOne, TakesNothingFromLessThanNothing) {
  sync::atomic<std::int64_t> count(-1);
  EXPECT_EQ(take_one(count), 0);
  EXPECT_EQ(count.load(kRelaxed), -1);
}

}  // namespace
