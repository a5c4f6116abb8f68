// SPDX-License-Identifier: MIT
// A contender's answer to a burst: what is read from it, and what is none.
#include "harness/reading.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff::lab;

TEST(Reading, HasItsTimeAndWhatWasDone) {
  const auto reading = read_reading("done 2000 3000 4 8");
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->wall_ns, 2000);
  EXPECT_EQ(reading->cpu_ns, 3000);
  EXPECT_EQ(reading->operations, 4);
  EXPECT_EQ(reading->items, 8);
  EXPECT_EQ(reading->ns_per_item(), 250);
  EXPECT_FALSE(reading->share_elsewhere());
  EXPECT_TRUE(std::isnan(reading->figure("p99")));
}

TEST(Reading, HasWhatElseWasReported) {
  const auto reading = read_reading(
      "done 1 1 1 1 executed=1,0,2.5 figure.p99=1.5e3 figure.loss=-1 curve.grain=1:0.5,2:0.75");
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->executed, (std::vector<double>{1, 0, 2.5}));
  EXPECT_DOUBLE_EQ(reading->share_elsewhere().value(), 2.5 / 3.5);
  EXPECT_EQ(reading->figure("p99"), 1500);
  EXPECT_EQ(reading->figure("loss"), -1);
  const std::vector<std::pair<double, double>> grain{{1, 0.5}, {2, 0.75}};
  EXPECT_EQ(reading->curves.at("grain"), grain);
}

TEST(Reading, HasLatenciesUsageAndCounts) {
  const auto reading =
      read_reading("done 1 1 1 1 latency=7:2,9:1 usage.switches=3 count.cycles=2.5 count.faults=0");
  ASSERT_TRUE(reading);
  const std::vector<std::pair<double, double>> latencies{{7, 2}, {9, 1}};
  EXPECT_EQ(reading->latencies, latencies);
  EXPECT_EQ(reading->usage, (std::map<std::string, double>{{"switches", 3}}));
  EXPECT_EQ(reading->counts, (std::map<std::string, double>{{"cycles", 2.5}, {"faults", 0}}));
}

TEST(Reading, WhatIsNoneIsRefused) {
  for (const char* line : {"",
                           "ready",
                           "done",
                           "done 1 1 1",
                           "done 0 1 1 1",
                           "done -1 1 1 1",
                           "done 1 1 0 1",
                           "done 1 1 1 0",
                           "done nan 1 1 1",
                           "done 1e31 1 1 1",
                           "done 1 1 1 1e-31",
                           "done 1 1 1 1 figure.x=5e-324",
                           "done 1 1 1 1 figure.x\x1b=1",
                           "done 1 1 1 1 curve.\xc2\x9b=1:2",
                           "Done 1 1 1 1",
                           "done 1 1 1 1 more",
                           "done 1 1 1 1 more=1",
                           "done 1 1 1 1 figure.x=",
                           "done 1 1 1 1 figure.x=nan",
                           "done 1 1 1 1 figure.x=1,2",
                           "done 1 1 1 1 figure.x=1;2",
                           "done 1 1 1 1 executed=1,",
                           "done 1 1 1 1 executed=one",
                           "done 1 1 1 1 curve.x=1",
                           "done 1 1 1 1 curve.x=1:",
                           "done 1 1 1 1 latency=1",
                           "done 1 1 1 1 usage.x",
                           "done 1 1 1 1 curve.x=1:2,3"}) {
    EXPECT_FALSE(read_reading(line)) << line;
  }
}

TEST(Reading, ItemsThatNobodyExecutedHaveNoShare) {
  EXPECT_FALSE(read_reading("done 1 1 1 1 executed=0,0")->share_elsewhere());
  EXPECT_EQ(read_reading("done 1 1 1 1 executed=0,3")->share_elsewhere(), 1);
  EXPECT_EQ(read_reading("done 1 1 1 1 executed=3")->share_elsewhere(), 0);
}

}  // namespace
