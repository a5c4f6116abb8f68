// SPDX-License-Identifier: MIT
//
// What SegmentQueue does beyond the transfer suite: segments that go round, memory that fails.
#include "support/failing.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff;
using test::Call;

TEST(SegmentQueue, goes_round_in_two_segments) {
  SegmentQueue<int, 4> queue;
  int out = 0;
  const auto lap = [&] {
    for (int i = 0; i < 3; ++i) ASSERT_EQ(queue.try_push(i), Status::ok);
    for (int i = 0; i < 3; ++i) ASSERT_EQ(queue.try_pop(out), Status::ok);
  };
  for (int i = 0; i < 4; ++i) lap();  // by now both segments are there
  const std::size_t before = test::calls(Call::allocation);
  for (int i = 0; i < 1000; ++i) lap();
  EXPECT_EQ(test::calls(Call::allocation), before);
}

TEST(SegmentQueue, a_segment_is_filled_before_the_next_is_made) {
  SegmentQueue<int, 4> queue;
  const std::size_t before = test::calls(Call::allocation);
  std::array<int, 3> items{0, 1, 2};
  EXPECT_EQ(queue.try_push_batch(items), 3U);
  EXPECT_EQ(queue.try_push(3), Status::ok);
  EXPECT_EQ(test::calls(Call::allocation), before);
  EXPECT_EQ(queue.try_push(4), Status::ok);
  EXPECT_EQ(test::calls(Call::allocation), before + 1);
  for (int i = 0, out = -1; i < 5; ++i) {
    ASSERT_EQ(queue.try_pop(out), Status::ok);
    EXPECT_EQ(out, i);
  }
}

TEST(SegmentQueue, a_long_queue_gives_its_segments_back) {
  SegmentQueue<int, 4> queue;  // the leak checkers see what this test cannot
  for (int burst = 0; burst < 3; ++burst) {
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(queue.try_push(i), Status::ok);
    EXPECT_EQ(queue.size(), 1000U);
    for (int i = 0, out = -1; i < 1000; ++i) {
      ASSERT_EQ(queue.try_pop(out), Status::ok);
      ASSERT_EQ(out, i);
    }
    EXPECT_TRUE(queue.empty());
  }
}

TEST(SegmentQueue, failing_allocation_leaves_the_item_and_the_queue) {
  const int places = test::until_enough_memory([] {
    auto item = std::make_unique<int>(7);
    SegmentQueue<std::unique_ptr<int>, 2> queue;
    int accepted = 0;
    for (; accepted < 5; ++accepted) {
      auto other = std::make_unique<int>(accepted);
      try {
        ASSERT_EQ(queue.try_push(std::move(other)), Status::ok);
      } catch (const std::bad_alloc&) {
        ASSERT_NE(other, nullptr) << "a refused item stays whole";
        break;
      }
    }
    std::unique_ptr<int> out;
    for (int i = 0; i < accepted; ++i) {
      ASSERT_EQ(queue.try_pop(out), Status::ok);
      ASSERT_EQ(*out, i);
    }
    ASSERT_EQ(queue.try_pop(out), Status::empty);
    ASSERT_EQ(queue.try_push(std::move(item)), Status::ok) << "and the queue works";
  });
  EXPECT_GE(places, 3) << "the first segment and two more";
}

TEST(SegmentQueue, failing_allocation_in_a_batch_takes_nothing_of_it) {
  const int places = test::until_enough_memory([] {
    std::array<std::unique_ptr<int>, 7> items;
    for (int i = 0; i < 7; ++i) items[static_cast<std::size_t>(i)] = std::make_unique<int>(i);
    SegmentQueue<std::unique_ptr<int>, 2> queue;
    try {
      ASSERT_EQ(queue.try_push_batch(items), 7U);
    } catch (const std::bad_alloc&) {
      for (const auto& item : items) ASSERT_NE(item, nullptr);
      ASSERT_TRUE(queue.empty());
      ASSERT_EQ(queue.try_push_batch(items), 7U) << "what had been allocated is of use now";
    }
    std::array<std::unique_ptr<int>, 7> out;
    ASSERT_EQ(queue.try_pop_batch(out), 7U);
    for (int i = 0; i < 7; ++i) ASSERT_EQ(*out[static_cast<std::size_t>(i)], i);
  });
  EXPECT_GE(places, 7 + 4);
}

struct Fussy {
  explicit Fussy(int number) : value(number) {
    if (number < 0) throw std::invalid_argument("negative");
  }
  int value;
};

TEST(SegmentQueue, a_constructor_that_throws_changes_nothing) {
  SegmentQueue<Fussy, 2> queue;
  EXPECT_EQ(queue.try_emplace(1), Status::ok);
  EXPECT_THROW((void)queue.try_emplace(-1), std::invalid_argument);
  EXPECT_EQ(queue.try_emplace(2), Status::ok);
  EXPECT_THROW((void)queue.try_emplace(-1), std::invalid_argument);
  EXPECT_EQ(queue.try_emplace(3), Status::ok);
  std::vector<int> seen;
  EXPECT_EQ(queue.consume([&](Fussy& item) { seen.push_back(item.value); }), 3U);
  EXPECT_EQ(seen, (std::vector{1, 2, 3}));
}

TEST(SegmentQueue, visitors_may_push_pop_and_throw) {
  SegmentQueue<int, 2> queue;
  std::vector<int> in(6);
  std::iota(in.begin(), in.end(), 0);
  ASSERT_EQ(queue.try_push_batch(in), 6U);
  std::vector<int> seen;
  EXPECT_EQ(queue.consume(
                [&](int& item) {
                  seen.push_back(item);
                  EXPECT_EQ(queue.try_push(item + 10), Status::ok);
                  int out = -1;
                  EXPECT_EQ(queue.try_pop(out), Status::ok);
                  seen.push_back(out);
                },
                2),
            2U);
  EXPECT_EQ(seen, (std::vector{0, 1, 2, 3}));
  EXPECT_THROW(queue.consume([](int& item) { throw item; }), int);
  EXPECT_EQ(queue.size(), 3U) << "the item that was thrown at is gone, those behind it stay";
  int out = -1;
  EXPECT_EQ(queue.try_pop(out), Status::ok);
  EXPECT_EQ(out, 5);
}

TEST(SegmentQueue, close_drains) {
  SegmentQueue<int, 2> queue;
  for (int i = 0; i < 5; ++i) ASSERT_EQ(queue.try_push(i), Status::ok);
  EXPECT_FALSE(queue.closed());
  queue.close();
  queue.close();
  EXPECT_TRUE(queue.closed());
  int item = 9;
  EXPECT_EQ(queue.try_push(9), Status::closed);
  EXPECT_EQ(queue.try_emplace(9), Status::closed);
  EXPECT_EQ(queue.try_push_batch(std::span(&item, 1)), 0U);
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(queue.try_pop(item), Status::ok);
    EXPECT_EQ(item, i);
  }
  EXPECT_EQ(queue.try_pop(item), Status::closed);
  EXPECT_EQ(queue.try_pop_batch(std::span(&item, 1)), 0U);
  EXPECT_EQ(queue.consume([](int&) { FAIL() << "there is nothing to visit"; }), 0U);
}

}  // namespace
