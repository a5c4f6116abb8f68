// SPDX-License-Identifier: MIT
//
// SpscRing beyond the transfer suite: constructors that throw, what it allocates, how it lies in
// memory.
#include "support/failing.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff;

static_assert(!std::is_copy_constructible_v<SpscRing<int>>);
static_assert(!std::is_move_constructible_v<SpscRing<int>>);
static_assert(sizeof(SpscRing<int>) == 3 * sync::destructive_span,
              "what is fixed, the producer's line, the consumer's line");

// Its constructors throw as asked, except those that a ring relies on.
struct Moody {
  explicit Moody(int number) : value(number) {
    if (number < 0) throw number;
  }
  Moody(const Moody& other) : value(other.value) { throw value; }
  Moody(Moody&&) noexcept = default;
  Moody& operator=(Moody&&) noexcept = default;

  int value;
};

TEST(SpscRing, AThrowingConstructorLeavesTheRingAsItWas) {
  SpscRing<Moody> ring(2);
  ASSERT_EQ(ring.try_emplace(1), Status::ok);
  const Moody sample(5);
  for (int i = 0; i < 10; ++i) {
    EXPECT_THROW(static_cast<void>(ring.try_emplace(-1)), int);
    EXPECT_THROW(static_cast<void>(ring.try_push(sample)), int);
  }
  EXPECT_EQ(ring.size(), 1U);
  ASSERT_EQ(ring.try_emplace(2), Status::ok);
  EXPECT_EQ(ring.try_push(sample), Status::full) << "no constructor runs where there is no place";
  Moody out(0);
  ASSERT_EQ(ring.try_pop(out), Status::ok);
  EXPECT_EQ(out.value, 1);
  ASSERT_EQ(ring.try_pop(out), Status::ok);
  EXPECT_EQ(out.value, 2);
  EXPECT_EQ(ring.try_pop(out), Status::empty);
}

TEST(SpscRing, OnlyTheConstructorAllocates) {
  SpscRing<int> ring(8);
  const std::size_t before = test::calls(test::Call::allocation);
  int items[8] = {};
  for (int lap = 0; lap < 100; ++lap) {
    while (ring.try_push(lap) == Status::ok) {
    }
    ring.consume([](int&) {}, 3);
    ASSERT_EQ(ring.try_pop_batch(items), 5U);
    ASSERT_EQ(ring.try_push_batch(items), 8U);
    ASSERT_EQ(ring.try_pop(items[0]), Status::ok);
    ring.consume([](int&) {});
  }
  EXPECT_EQ(test::calls(test::Call::allocation), before);
}

}  // namespace
