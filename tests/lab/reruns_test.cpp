// SPDX-License-Identifier: MIT
// What a recording takes with more workers, of recordings small enough to see it.
#include "tracing/reruns.hpp"
#include "events_in.hpp"
#include "support/test.hpp"
#include "tracing/usage.hpp"

namespace handoff::lab::tracing { namespace {

std::optional<Reruns> reruns_in(const std::string& lines) {
  const Recording recording = recording_in(whole(lines));
  const Usage usage = usage_of(recording);
  std::uint64_t cpu_ns = 0;
  for (const LaneUsage& lane : usage.lanes) cpu_ns += lane.on_cpu_ns;
  return reruns_of(recording, usage.at_work(), cpu_ns);
}

// In us: workers, as it was, with one more, with any number.
std::string said(const std::string& lines) {
  const std::optional<Reruns> reruns = reruns_in(lines);
  if (!reruns) return "nothing";
  return fmt::format("{}: {} {} {}", reruns->workers, reruns->as_it_was_ns / 1000,
                     reruns->one_more_ns / 1000, reruns->any_number_ns / 1000);
}

const std::string kTwoWorkers = named(1, "main") + named(2, "w2") + named(3, "w3") +
                                asleep(2, "idle", 0, 1) + asleep(3, "idle", 0, 1);

// A task of 10 us.
std::string task(int id, int handed, int worker, int begins) {
  return hand_over(id, 1, handed, worker, begins) + slice(worker, "task", begins, begins + 10);
}

TEST(Reruns, AreOfWorkers) {
  EXPECT_EQ(said(slice(1, "a", 0, 100)), "nothing");
  EXPECT_EQ(said(kTwoWorkers), "nothing");
  EXPECT_EQ(said(kTwoWorkers + slice(1, "a", 0, 100)), "nothing");
}

TEST(Reruns, ShareIndependentTasksOut) {
  std::string lines = kTwoWorkers + slice(1, "posts", 0, 1);
  for (int i = 0; i < 6; ++i) lines += task(i, 1, 2 + i % 2, 10 + 20 * (i / 2));
  EXPECT_EQ(said(lines), "2: 31 21 11");
}

TEST(Reruns, KeepChains) {
  const std::string chain = kTwoWorkers + slice(1, "posts", 0, 1) + task(1, 1, 2, 5) +
                            hand_over(2, 2, 14, 3, 20) + slice(3, "then", 20, 40);
  EXPECT_EQ(said(chain), "2: 30 30 30");
  const std::string waits = kTwoWorkers + slice(1, "posts", 0, 1) + task(1, 1, 2, 5) +
                            asleep(1, "wait", 1, 17) + slice(1, "goes on", 17, 37);
  EXPECT_EQ(said(waits), "1: 31 31 31");
}

// The third post finds no room behind it, until a worker takes the task.
TEST(Reruns, FindRoomSoonerWithMoreWorkers) {
  const std::string lines =
      kTwoWorkers + slice(1, "posts", 0, 2) + task(1, 1, 2, 2) + task(2, 1, 3, 2) +
      hand_over(3, 1, 2, 2, 14) + slice(2, "task", 14, 24) + asleep(1, "full", 2, 15) +
      slice(1, "posts", 15, 17) + hand_over(4, 1, 16, 3, 16) + slice(3, "task", 16, 26);
  EXPECT_EQ(said(lines), "2: 22 21 13");
}

TEST(Reruns, AreNotShorterThanTheCpusNeed) {
  std::string lines = kTwoWorkers + slice(1, "posts", 0, 1) + cpus(2) + counted(1, 2, 0) +
                      counted(2, 30, 0) + counted(3, 30, 0);
  for (int i = 0; i < 6; ++i) lines += task(i, 1, 2 + i % 2, 10 + 20 * (i / 2));
  EXPECT_EQ(said(lines), "2: 31 31 31");
}

TEST(Reruns, LeaveOutTheTimeInWhichWorkersWereReady) {
  // Four of them on two CPUs: half of their 20 us each waited for one.
  std::string lines = named(1, "main") + slice(1, "posts", 0, 1);
  for (int worker = 2; worker <= 5; ++worker) {
    lines += named(worker, "w") + asleep(worker, "idle", 0, 1) +
             hand_over(worker, 1, 1, worker, 1) + slice(worker, "task", 1, 21) +
             counted(worker, 10, 10);
  }
  EXPECT_EQ(said(lines + counted(1, 1, 0) + cpus(8)), "4: 11 11 11");
}

TEST(Reruns, EndWhateverTheGuesses) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const std::optional<Reruns> reruns = reruns_in(kTwoWorkers + random_lines(random));
    ASSERT_TRUE(reruns);
    EXPECT_GT(reruns->any_number_ns, 0U);
    EXPECT_LE(reruns->any_number_ns, 1'000'000U);
  }
}

TEST(Reruns, AreOfShortRecordings) {
  std::string lines = kTwoWorkers;
  for (int i = 0; i < 1000; ++i) lines += slice(2, "task", i, i + 1);
  EXPECT_NE(said(lines), "nothing");
  const int many = static_cast<int>(most_rerun);
  for (int i = 1000; i < many; ++i) lines += slice(2, "task", i, i + 1);
  EXPECT_EQ(said(lines), "nothing");
}

}}  // namespace handoff::lab::tracing
