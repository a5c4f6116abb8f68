// SPDX-License-Identifier: MIT
// What is made of a measurement's bursts before a row is: a launch that is taken back, and
// latencies that are the scheduler's.
#include "harness/bursts.hpp"
#include "scenarios/rules.hpp"
#include "support/test.hpp"

namespace bursts_test { namespace {

using namespace handoff::lab;

Reading reading(double wall_ns) {
  Reading made;
  made.wall_ns = wall_ns;
  made.operations = made.items = 1;
  return made;
}

Measurement measured() {
  Measurement made{{}, Cell("delay"), nullptr};
  made.launches = {{reading(1)}, {reading(2)}, {reading(3)}};
  made.phases = {{1, 1, 1}, {2, 2, 2}, {3, 3, 3}};
  made.layouts = {{1, 1}, {2, 2}, {3, 3}};
  return made;
}

TEST(EraseLaunch, LeavesNothingOfIt) {
  Measurement one = measured();
  erase_launch(one, 1);
  ASSERT_EQ(one.launches.size(), 2U);
  EXPECT_EQ(one.launches[1].front().wall_ns, 3);
  ASSERT_EQ(one.phases.size(), 2U);
  EXPECT_EQ(one.phases[1].start_ns, 3);
  ASSERT_EQ(one.layouts.size(), 2U);
  EXPECT_EQ(one.layouts[1].link, 3U);
  erase_launch(one, 2);  // there are only two
  EXPECT_EQ(one.launches.size(), 2U);
}

// A burst of 100 ms in which its threads lost their CPU so often and waited so long for one.
Measurement preempted_for(double switches, double submitter_ns, double others_ns) {
  Measurement made{{}, Cell("delay"), nullptr};
  made.launches = {{reading(100e6)}};
  Reading& burst = made.launches.front().front();
  burst.latencies = {{100, 1}};
  burst.usage = {{"involuntary_switches", switches},
                 {"submitter_ready_ns", submitter_ns},
                 {"others_ready_ns", others_ns}};
  return made;
}

TEST(Preempted, IsALatencyOfThreadsThatHadNoCpu) {
  EXPECT_EQ(preempted(preempted_for(20, 0, 43e6)),
            "its threads waited for a CPU for 43 % of the time");
  EXPECT_EQ(preempted(preempted_for(20, 5e6, 5e6)),
            "its threads waited for a CPU for 10 % of the time");
}

TEST(Preempted, IsNotWhoIsWokenOften) {
  EXPECT_EQ(preempted(preempted_for(0, 0, 30e6)), "");
  EXPECT_EQ(preempted(preempted_for(1, 0, 30e6)), "");
}

TEST(Preempted, IsNotWhoWaitedForNextToNothing) {
  EXPECT_EQ(preempted(preempted_for(20, 1e6, 1e6)), "");
}

TEST(Preempted, IsNoneWhoseThreadsTakeEachOthersCpu) {
  Measurement shared = preempted_for(20, 0, 43e6);
  shared.problem = problem_by<std::uint64_t>({.fault = {}, .threads_share_cpus = true});
  EXPECT_EQ(preempted(shared), "");
}

TEST(Preempted, IsNothingWithoutLatencies) {
  Measurement none = preempted_for(20, 0, 50e6);
  none.launches.front().front().latencies.clear();
  EXPECT_EQ(preempted(none), "");
  EXPECT_EQ(preempted(Measurement{{}, Cell("delay"), nullptr}), "");
}

}}  // namespace bursts_test
