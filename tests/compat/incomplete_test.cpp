// SPDX-License-Identifier: MIT
//
// A list is the same thing all over a program, wherever its arguments become complete.
#include "incomplete.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff::test;

TEST(CompatIncomplete, AListIsTheSameBeforeAndAfterItsArgumentIsComplete) {
  static_assert(sizeof(LateList) > 0);
  ASSERT_EQ(early_size(), sizeof(LateLists));
  const auto lists = make_late_lists();
  EXPECT_EQ(lists->behind, 42);
  int sum = 0;
  lists->list.append([&](LateValue value) { sum += value.number; });
  lists->dispatcher.appendListener(7, [&](LateValue value) { sum += 10 * value.number; });
  lists->list(LateValue{1});
  lists->dispatcher.dispatch(7, LateValue{2});
  EXPECT_EQ(sum, 21);
}

}  // namespace
