// SPDX-License-Identifier: MIT
// Where the launches of an overview go, and that its rungs are what they say.
#include "harness/rungs.hpp"
#include "scenarios/registry.hpp"
#include "support/test.hpp"

namespace rung_order_test { namespace {

using namespace handoff::lab;

RungState wide(double range, double spent = 0, double seconds = 1) {
  return {.range = range, .seconds = seconds, .spent = spent};
}

constexpr double enough = 100;

TEST(NextRung, IsTheOneWithTheWidestRange) {
  EXPECT_EQ(next_rung({wide(0.1), wide(0.3), wide(0.2)}, enough, enough), 1U);
  EXPECT_EQ(next_rung({wide(0.1), wide(INFINITY)}, enough, enough), 1U);
  EXPECT_EQ(next_rung({wide(0.1), wide(0.1)}, enough, enough), 0U);
  EXPECT_EQ(next_rung({}, enough, enough), std::nullopt);
}

TEST(NextRung, FitsIntoTheTimeLeftAndIntoItsShare) {
  EXPECT_EQ(next_rung({wide(0.5, 0, 10), wide(0.1)}, 9, enough), 1U);
  EXPECT_EQ(next_rung({wide(0.5, 0, 10), wide(0.1)}, 0.5, enough), std::nullopt);
  EXPECT_EQ(next_rung({wide(0.5, 14.5), wide(0.1)}, enough, 15), 1U);
}

TEST(RungKinds, NameWaysThatTheLabKnowsAndFourAtMost) {
  std::set<std::string> names;
  const Scenarios scenarios = all_scenarios();
  for (const auto& scenario : scenarios) names.insert(scenario->name());
  for (const RungKind& kind : rung_kinds()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name << " names two things";
    EXPECT_TRUE(names.contains(kind.scenario)) << kind.name;
    EXPECT_TRUE(kind.own.starts_with("own.")) << kind.name;
    EXPECT_FALSE(kind.peers.empty()) << kind.name;
    for (const std::string& peer : kind.peers) EXPECT_TRUE(peer.starts_with("peer.")) << peer;
  }
}

TEST(RungKinds, ByInterestAreTheSame) {
  std::set<const RungKind*> kinds;
  for (const RungKind* kind : rung_kinds_by_interest()) kinds.insert(kind);
  EXPECT_FALSE(kinds.contains(nullptr));
  EXPECT_EQ(kinds.size(), rung_kinds().size());
  EXPECT_EQ(rung_kinds_by_interest().front()->name, "task");
}

}}  // namespace rung_order_test
