// SPDX-License-Identifier: MIT
//
// RingSlots: what capacities there are, and what is left behind when there is no memory.
#include <handoff/queue/internal/ring_slots.hpp>

#include "support/failing.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff;
using detail::RingSlots;

struct alignas(128) Slot {
  int number = 7;
};

TEST(RingSlots, PositionsGoRoundForEver) {
  RingSlots<Slot> slots(4);
  const std::uint64_t last = ~std::uint64_t{0};
  EXPECT_EQ(&slots[0], &slots[4]);
  EXPECT_EQ(&slots[last], &slots[3]);
  EXPECT_EQ(&slots[last + 1], &slots[0]);
  EXPECT_EQ(&slots[0] + 3, &slots[3]);
}

TEST(RingSlots, EachIsMadeAndAligned) {
  RingSlots<Slot> slots(5);
  EXPECT_EQ(slots.capacity(), 8U);
  for (std::uint64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(slots[i].number, 7);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&slots[i]) % alignof(Slot), 0U);
  }
}

TEST(RingSlots, AnImpossibleCapacitySaysWhatIsPossible) {
  const std::size_t most = (~std::size_t{0} / 2 + 1) / (2 * sizeof(Slot));
  for (const std::size_t wrong : {most + 1, ~std::size_t{0}}) {
    const auto error = test::caught<std::length_error>([&] { const RingSlots<Slot> slots(wrong); });
    EXPECT_EQ(error.value().what(), "a ring has between 1 and " + std::to_string(most) +
                                        " places, not " + std::to_string(wrong));
  }
  EXPECT_THROW(RingSlots<Slot>{0}, std::logic_error);
}

TEST(RingSlots, TheMostThatIsPossibleIsAskedOfTheMemory) {
  const std::size_t most = (~std::size_t{0} / 2 + 1) / (2 * sizeof(Slot));
  test::fail_after(test::Call::allocation, 0, ENOMEM);
  EXPECT_THROW(RingSlots<Slot>{most}, std::bad_alloc);
  EXPECT_TRUE(test::stop_failing(test::Call::allocation));
}

// Ends with a look at itself, which must be there still.
struct Ending {
  ~Ending() { sum += number; }
  int number = 1;
  static inline int sum = 0;
};

TEST(RingSlots, EachIsEndedOnceBeforeItsMemoryGoes) {
  Ending::sum = 0;
  {
    RingSlots<Ending> slots(4);
    slots[1].number = 10;
  }
  EXPECT_EQ(Ending::sum, 13);
}

TEST(RingSlots, NoMemoryIsBadAlloc) {
  test::fail_after(test::Call::allocation, 0, ENOMEM);
  EXPECT_THROW(RingSlots<Slot>(4), std::bad_alloc);
  test::stop_failing(test::Call::allocation);
}

TEST(RingSlots, RefusesAStorageThatIsTooSmall) {
  const std::size_t bytes = RingSlots<Slot>::storage_bytes(4);
  std::vector<std::byte> storage(bytes);
  EXPECT_EQ(RingSlots<Slot>(4, {storage.data(), bytes}).capacity(), 4U);
  const auto error = test::caught<std::length_error>(
      [&] { const RingSlots<Slot> slots(4, {storage.data(), 4 * sizeof(Slot) - 1}); });
  EXPECT_TRUE(test::says(error.value(), std::to_string(bytes))) << error->what();
}

}  // namespace
