// SPDX-License-Identifier: MIT
//
// Memory for one object that is not made yet. What leaks, or is freed twice, AddressSanitizer sees.
#include <handoff/core/internal/raw_box.hpp>

#include "support/failing.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff;
using detail::RawBox;

class Counted {
 public:
  static inline int alive = 0;

 private:
  friend class RawBox<Counted>;

  explicit Counted(int value) {
    if (value < 0) throw std::invalid_argument("negative");
    ++alive;
  }
  ~Counted() { --alive; }
};

TEST(RawBox, MakesAndEndsWhatOnlyItMay) {
  Counted* const made = RawBox<Counted>().make(1);
  EXPECT_EQ(Counted::alive, 1);
  RawBox<Counted>::destroy(made);
  EXPECT_EQ(Counted::alive, 0);
  {
    const RawBox<Counted>::Owner owner(RawBox<Counted>().make(2));
    EXPECT_EQ(Counted::alive, 1);
  }
  EXPECT_EQ(Counted::alive, 0);
}

TEST(RawBox, GivesTheMemoryBackIfNothingIsMade) {
  {
    const RawBox<Counted> unused;
  }
  EXPECT_THROW(RawBox<Counted>().make(-1), std::invalid_argument);
  EXPECT_EQ(Counted::alive, 0);
}

TEST(RawBox, HasItsMemoryBeforeAnythingIsMade) {
  test::fail_after(test::Call::allocation, 0, ENOMEM);
  EXPECT_THROW(RawBox<Counted>{}, std::bad_alloc);
  EXPECT_TRUE(test::stop_failing(test::Call::allocation));
}

TEST(RawBox, KeepsToTheAlignment) {
  struct alignas(256) Wide {
    std::byte bytes[256];
  };
  const RawBox<Wide>::Owner wide(RawBox<Wide>().make());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wide.get()) % alignof(Wide), 0U);
}

}  // namespace
