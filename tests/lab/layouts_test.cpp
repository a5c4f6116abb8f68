// SPDX-License-Identifier: MIT
// Where code lies is drawn for each launch: what is dealt, and what becomes of a comparison then. A
// simulated contender is slower by some percent where its loop begins at an unlucky place of a
// cache line, in every launch of that layout. Dealt layouts must make equals equal; one layout for
// good, which is a planted bias, must be told apart by the same check.
#include "commands/self_test.hpp"
#include "harness/layout.hpp"
#include "harness/verdict.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff::lab;

constexpr std::size_t kLinks = 4;

TEST(LayoutDeck, DealsEachLinkOnceBeforeOneComesAgain) {
  std::mt19937_64 random(1);
  LayoutDeck deck;
  std::set<std::array<std::size_t, kLinks>> orders;
  for (int round = 0; round < 500; ++round) {
    std::array<std::size_t, kLinks> dealt{};
    for (std::size_t& link : dealt) link = deck.deal(kLinks, random).link;
    orders.insert(dealt);
    std::sort(dealt.begin(), dealt.end());
    EXPECT_EQ(dealt, (std::array<std::size_t, kLinks>{0, 1, 2, 3}));
  }
  EXPECT_EQ(orders.size(), 24U);  // every order there is
}

TEST(LayoutDeck, OneLinkIsAlwaysDealt) {
  std::mt19937_64 random(1);
  LayoutDeck deck;
  for (int launch = 0; launch < 10; ++launch) EXPECT_EQ(deck.deal(1, random).link, 0U);
}

TEST(LayoutDeck, MovesTheStackToEveryPlaceOfAPage) {
  std::mt19937_64 random(1);
  LayoutDeck deck;
  std::set<std::size_t> places;  // stacks begin at multiples of 16
  for (int launch = 0; launch < 10'000; ++launch) {
    const std::size_t shift = deck.deal(kLinks, random).stack_shift;
    ASSERT_LT(shift, 4096U);
    places.insert(shift / 16);
  }
  EXPECT_EQ(places.size(), 256U);
}

// How much slower the code is by the place of a cache line where it begins, in logarithms.
using Slowness = std::array<double, kLinks>;

// Two contenders of the same code, measured side by side. Which place a link of theirs has is their
// own; which link a launch has is drawn, or always the first.
class Twins {
 public:
  Twins(const Slowness& slowness, std::uint64_t seed) : slowness_(slowness), random_(seed) {}

  SelfTestComparison compare(bool dealt) {
    const std::size_t first_place = place();
    std::size_t second_place = place();
    while (!dealt && second_place == first_place) second_place = place();
    SelfTestComparison result{.canary = "simulated"};
    Launches first;
    Launches second;
    for (const std::size_t launches : kLooks) {
      while (first.size() < launches) {
        first.push_back(launch(first_deck_, dealt, first_place));
        second.push_back(launch(second_deck_, dealt, second_place));
      }
      result.launches = launches;
      result.judged = judge_change(first, second, {});
      if (result.judged.change != Change::too_noisy) break;
    }
    return result;
  }

 private:
  std::size_t place() { return std::uniform_int_distribution<std::size_t>(0, kLinks - 1)(random_); }
  double normal(double deviation) { return std::normal_distribution(0.0, deviation)(random_); }

  std::vector<double> launch(LayoutDeck& deck, bool dealt, std::size_t first_place) {
    const std::size_t link = dealt ? deck.deal(kLinks, random_).link : 0;
    const double level = slowness_[(first_place + link) % kLinks] + normal(0.003);
    std::vector<double> bursts(5);
    for (double& burst : bursts) burst = std::exp(level + normal(0.01));
    return bursts;
  }

  Slowness slowness_;
  std::mt19937_64 random_;
  LayoutDeck first_deck_;
  LayoutDeck second_deck_;
};

struct Tally {
  int equal = 0;
  int different = 0;
  int falls_short = 0;  // of the self-test, if the twins are its canaries
};

template <class MakeSlowness>
Tally tally(MakeSlowness make, bool dealt) {
  constexpr int comparisons = 200;
  std::mt19937_64 random(1);
  Tally tally;
  for (int i = 0; i < comparisons; ++i) {
    const SelfTestComparison result = Twins(make(random), random()).compare(dealt);
    tally.equal += result.judged.change == Change::unchanged ? 1 : 0;
    const bool told =
        result.judged.change == Change::improved || result.judged.change == Change::worse;
    tally.different += told ? 1 : 0;
    tally.falls_short += summary_of({result}).exit_code == exit_code::falls_short ? 1 : 0;
  }
  return tally;
}

double percent(std::mt19937_64& random, double low, double high) {
  return std::log(1 + std::uniform_real_distribution<double>(low, high)(random) / 100);
}

// As on the machine on which it was first seen: one place of four is 7 to 30 % slower.
Slowness one_slow_place(std::mt19937_64& random) {
  Slowness slowness{};
  slowness[random() % kLinks] = percent(random, 7, 30);
  return slowness;
}

// Each place has a speed of its own.
Slowness places_of_their_own(std::mt19937_64& random) {
  Slowness slowness{};
  for (double& place : slowness) place = percent(random, 0, 3);
  return slowness;
}

// Two places are slow, and these twins never lie at places of the same kind.
Slowness neighbours_differ(std::mt19937_64& random) {
  Slowness slowness{};
  for (std::size_t i = 0; i < kLinks; ++i) {
    slowness[i] = static_cast<double>(i) * percent(random, 7, 10);
  }
  return slowness;
}

TEST(SimulatedLayouts, DealtTheyMakeTwinsEqual) {
  for (const auto& make : {one_slow_place, places_of_their_own}) {
    const Tally dealt = tally(make, true);
    EXPECT_LE(dealt.different, 4);
    EXPECT_EQ(dealt.falls_short, dealt.different);
    EXPECT_GE(dealt.equal, 190);
  }
}

// One layout each, for good: that is how two contenders of the same code once differed.
TEST(SimulatedLayouts, APlantedBiasIsToldApart) {
  const Tally planted = tally(neighbours_differ, false);
  EXPECT_EQ(planted.equal, 0);
  EXPECT_GE(planted.different, 195);
  EXPECT_EQ(planted.falls_short, planted.different);
  // Where only one place of four is slow, half of the twins meet it on one side.
  const Tally one = tally(one_slow_place, false);
  EXPECT_NEAR(one.different, 100, 25);
}

}  // namespace
