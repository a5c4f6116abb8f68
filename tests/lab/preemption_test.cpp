// SPDX-License-Identifier: MIT
// What others took from a contender's threads, on made-up books of the scheduler.
#include "harness/bursts.hpp"
#include "support/test.hpp"

namespace preemption_test { namespace {

using namespace handoff::lab;

constexpr double ms = 1e6;

// A burst of 50 ms of one thread, which waited so long for a CPU.
Reading burst(double ready_ns) {
  Reading reading;
  reading.wall_ns = 50 * ms;
  reading.cpu_ns = 50 * ms - ready_ns;
  reading.usage = {{"submitter_on_cpu_ns", reading.cpu_ns}, {"submitter_ready_ns", ready_ns}};
  return reading;
}

TEST(KeptTheirCpus, IsWhoWaitedForNone) {
  EXPECT_TRUE(kept_their_cpus({burst(0), burst(0), burst(0)}));
  EXPECT_TRUE(kept_their_cpus({burst(0), burst(1.4 * ms), burst(0)}));  // of 150 ms
  EXPECT_FALSE(kept_their_cpus({burst(0), burst(1.6 * ms), burst(0)}));
  EXPECT_FALSE(kept_their_cpus({burst(0), burst(25 * ms), burst(0)}));
}

TEST(KeptTheirCpus, CountsAllThreads) {
  Reading two = burst(0);
  two.cpu_ns += 40 * ms;
  two.usage["others_on_cpu_ns"] = 40 * ms;
  two.usage["others_ready_ns"] = 0.1 * ms;
  EXPECT_TRUE(kept_their_cpus({two}));
  two.usage["others_ready_ns"] = 10 * ms;
  EXPECT_FALSE(kept_their_cpus({two}));
}

TEST(KeptTheirCpus, IsNotBelievedOfThreadsThatNobodyKnows) {
  Reading silent = burst(0);
  silent.usage.clear();
  EXPECT_FALSE(kept_their_cpus({silent}));
  EXPECT_FALSE(kept_their_cpus({}));
  Reading empty_books = burst(0);
  empty_books.usage = {{"submitter_on_cpu_ns", 0}, {"submitter_ready_ns", 0}};
  EXPECT_FALSE(kept_their_cpus({empty_books}));
  Reading threads_that_went = burst(0);
  threads_that_went.cpu_ns += 5 * ms;
  EXPECT_FALSE(kept_their_cpus({threads_that_went}));
  Reading a_tick_behind = burst(0);
  a_tick_behind.cpu_ns += 2 * ms;
  EXPECT_TRUE(kept_their_cpus({a_tick_behind}));
}

}}  // namespace preemption_test
