// SPDX-License-Identifier: MIT
//
// Whose turn it is among classes.
#include <handoff/core/internal/class_turns.hpp>

#include "support/test.hpp"

namespace class_turns_test { namespace {

using namespace handoff;

constexpr std::size_t kClasses = 4;

// How many of each class wait.
struct Waiting {
  std::array<std::size_t, kClasses> of{};

  std::optional<std::size_t> next(detail::ClassTurns<kClasses>& turns, std::uint32_t limit) {
    return turns.next(limit, [this](std::size_t i) noexcept {
      if (of.at(i) == 0) return std::optional<std::size_t>();
      --of.at(i);
      return std::optional<std::size_t>(i);
    });
  }
};

TEST(ClassTurns, TheMostUrgentComesFirst) {
  detail::ClassTurns<kClasses> turns;
  Waiting waiting{{1, 2, 0, 1}};
  for (const std::size_t expected : {0U, 1U, 1U, 3U}) EXPECT_EQ(waiting.next(turns, 0), expected);
  EXPECT_EQ(waiting.next(turns, 0), std::nullopt);
  EXPECT_EQ(waiting.next(turns, 5), std::nullopt);
}

TEST(ClassTurns, OneOfTenIsOfTheOtherClass) {
  detail::ClassTurns<kClasses> turns;
  Waiting waiting{{1000, 0, 1000, 0}};
  for (std::size_t i = 1; i <= 1000; ++i) {
    EXPECT_EQ(waiting.next(turns, 9), i % 10 == 0 ? 2U : 0U) << i;
  }
}

// Classes fill and run empty at random. What waits is passed by `limit` more urgent ones at most,
// and what comes without being due is the most urgent.
TEST(ClassTurns, NoneIsPassedMoreOftenThanTheLimit) {
  auto random = test::random();
  for (const std::uint32_t limit : {1U, 2U, 7U}) {
    detail::ClassTurns<kClasses> turns;
    Waiting waiting;
    std::array<std::size_t, kClasses> passed{};  // while one waits
    for (int i = 0; i < 20'000; ++i) {
      waiting.of.at(random() % kClasses) += random() % 3;
      const Waiting before = waiting;
      const std::optional<std::size_t> next = waiting.next(turns, limit);
      std::size_t most_urgent = 0;
      while (most_urgent < kClasses && before.of.at(most_urgent) == 0) ++most_urgent;
      if (!next) {
        EXPECT_EQ(most_urgent, kClasses);
        continue;
      }
      EXPECT_GE(*next, most_urgent);
      for (std::size_t of = *next + 1; of < kClasses; ++of) {
        if (before.of.at(of) == 0) continue;
        EXPECT_LE(++passed.at(of), limit);
      }
      passed.at(*next) = 0;
      for (std::size_t of = 0; of < kClasses; ++of) {
        if (waiting.of.at(of) == 0) passed.at(of) = 0;
      }
    }
  }
}

}}  // namespace class_turns_test
