// SPDX-License-Identifier: MIT
//
// Part of the transfer suite, for queues that give the item itself: try_pop() without a variable to
// put it in, for items that have no empty state.
#pragma once

#include "support/test.hpp"

namespace handoff::test {

// Neither made without a number, nor assigned.
class Fixed {
 public:
  explicit Fixed(int number) noexcept : number_(number) {}
  Fixed(Fixed&&) noexcept = default;
  Fixed& operator=(Fixed&&) = delete;
  int number() const noexcept { return number_; }

 private:
  int number_;
};

template <class Family>
class TransferWholeItem : public testing::Test {};
TYPED_TEST_SUITE_P(TransferWholeItem);

TYPED_TEST_P(TransferWholeItem, in_order_then_drained) {
  typename TypeParam::template Queue<Fixed> queue(4);
  EXPECT_FALSE(queue.try_pop().has_value());
  for (int lap = 0; lap < 100; ++lap) {
    for (int i = 0; i < 3; ++i) ASSERT_EQ(queue.try_push(Fixed(lap + i)), Status::ok);
    for (int i = 0; i < 3; ++i) {
      const std::optional<Fixed> item = queue.try_pop();
      ASSERT_TRUE(item.has_value());
      EXPECT_EQ(item->number(), lap + i);
    }
    EXPECT_FALSE(queue.try_pop().has_value());
  }
  ASSERT_EQ(queue.try_push(Fixed(7)), Status::ok);
  queue.close();
  const std::optional<Fixed> last = queue.try_pop();
  ASSERT_TRUE(last.has_value()) << "what was there is drained";
  EXPECT_EQ(last->number(), 7);
  EXPECT_FALSE(queue.try_pop().has_value());
}

REGISTER_TYPED_TEST_SUITE_P(TransferWholeItem, in_order_then_drained);

}  // namespace handoff::test
