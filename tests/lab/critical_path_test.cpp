// SPDX-License-Identifier: MIT
// The critical path of traces that are small enough to see it.
#include "tracing/critical_path.hpp"
#include "events_in.hpp"
#include "support/test.hpp"
#include "tracing/usage.hpp"

namespace handoff::lab::tracing { namespace {

CriticalPath path_in(const std::string& lines) {
  Recording recording = recording_in(whole(lines));
  const CriticalPath path = critical_path(recording, usage_of(recording).at_work());
  std::uint64_t sum = 0;
  for (const PathPart& part : path.parts) sum += part.ns;
  EXPECT_EQ(sum, path.length_ns) << lines;
  EXPECT_LE(path.length_ns + path.between_ns, recording.wall_ns()) << lines;
  return path;
}

std::string said(const CriticalPath& path) {
  std::string text = fmt::format("{}:", path.length_ns / 1000);
  for (const PathPart& part : path.parts) {
    text += fmt::format(" {}{} {}", part.outside ? "outside " : "", part.name, part.ns / 1000);
  }
  return text;
}

// Workers are threads that were idle once.
const std::string kWorkers = named(1, "main") + named(2, "w2") + named(3, "w3") +
                             asleep(2, "idle", 0, 1) + asleep(3, "idle", 0, 1);

TEST(CriticalPath, OfNothingIsNothing) {
  EXPECT_EQ(path_in("").length_ns, 0U);
  EXPECT_EQ(path_in(asleep(1, "idle", 0, 50)).length_ns, 0U);
}

TEST(CriticalPath, OfOneThreadIsAllOfIt) {
  EXPECT_EQ(said(path_in(slice(1, "in", 20, 30) + slice(1, "a", 10, 60) + slice(1, "b", 70, 90))),
            "80: a 40 b 20 in 10 outside thread 1 10");
}

TEST(CriticalPath, GoesThroughHandOversAndNotThroughTheWorkerBefore) {
  const CriticalPath path =
      path_in(kWorkers + slice(2, "other", 1, 50) + hand_over(1, 1, 10, 2, 50) +
              slice(1, "makes", 0, 20) + slice(2, "task", 50, 80) + slice(3, "short", 30, 40));
  EXPECT_EQ(said(path), "49: other 49");
  const CriticalPath longer = path_in(kWorkers + hand_over(1, 1, 30, 2, 50) +
                                      slice(1, "makes", 0, 40) + slice(2, "task", 50, 80));
  EXPECT_EQ(said(longer), "60: makes 30 task 30");
  EXPECT_EQ(longer.hand_overs, 1U);
  EXPECT_EQ(longer.between_ns, 20'000U);
}

TEST(CriticalPath, GoesOnInATaskThatHandsOver) {
  const CriticalPath path =
      path_in(kWorkers + slice(1, "makes", 0, 5) + hand_over(1, 1, 5, 2, 10) +
              slice(2, "first", 10, 40) + hand_over(2, 2, 35, 3, 45) + slice(3, "second", 45, 60) +
              hand_over(3, 1, 5, 3, 12) + slice(3, "beside", 12, 30));
  EXPECT_EQ(said(path), "45: first 25 second 15 makes 5");
  EXPECT_EQ(path.hand_overs, 2U);
}

TEST(CriticalPath, WaitsForWhatEndedLast) {
  const std::string work = kWorkers + slice(1, "makes", 0, 5) + hand_over(1, 1, 5, 2, 10) +
                           slice(2, "long", 10, 60) + hand_over(2, 1, 5, 3, 10) +
                           slice(3, "short", 10, 20) + slice(1, "goes on", 65, 70);
  EXPECT_EQ(said(path_in(work + asleep(1, "wait", 6, 63))),
            "62: long 50 makes 5 goes on 5 outside main 2");
  EXPECT_EQ(said(path_in(work + asleep(1, "join", 6, 63))),
            "62: long 50 makes 5 goes on 5 outside main 2");
  // What was asleep for another reason waited for none of them.
  EXPECT_EQ(said(path_in(work + asleep(1, "idle", 6, 63))), "55: long 50 makes 5");
}

TEST(CriticalPath, CountsWaitsForFilesAndNoOtherSleep) {
  EXPECT_EQ(
      said(path_in(slice(1, "a", 0, 100) + asleep(1, "io", 10, 40) + asleep(1, "full", 50, 60))),
      "90: a 60 io 30");
}

// Two workers and a queue of one: a third worker makes this shorter, so it is no chain.
TEST(CriticalPath, DoesNotWaitForRoom) {
  const std::string lines =
      kWorkers + slice(1, "posts", 1, 2) + hand_over(1, 1, 1, 2, 10) + slice(2, "task", 10, 30) +
      asleep(1, "full", 2, 31) + slice(1, "posts", 31, 33) + hand_over(2, 1, 32, 2, 32) +
      slice(2, "task", 32, 52) + spun(1, "full", 33, 53) + slice(1, "posts", 53, 54);
  EXPECT_EQ(said(path_in(lines)), "22: task 20 posts 2");
}

TEST(CriticalPath, IsThatOfWorkAndNotOfThreadsThatAreReady) {
  const std::string alone = slice(1, "a", 0, 60) + slice(1, "b", 60, 100);
  EXPECT_EQ(said(path_in(alone + counted(1, 40, 60))), "40: a 24 b 16");
  EXPECT_EQ(said(path_in(alone + counted(1, 40, 10))), "90: a 54 b 36");  // the rest it slept
  // What the kernel counted was in the wait for room.
  EXPECT_EQ(said(path_in(alone + spun(1, "full", 100, 500) + counted(1, 100, 400))),
            "100: a 60 b 40");
}

TEST(CriticalPath, TakesTheLongerOfTwoThatComeTogether) {
  EXPECT_EQ(said(path_in(kWorkers + slice(1, "makes", 0, 40) + slice(3, "other", 1, 50) +
                         hand_over(1, 1, 20, 2, 60) + hand_over(2, 3, 45, 2, 60) +
                         slice(2, "both", 60, 70))),
            "54: other 44 both 10");
  // A task inside another one follows both.
  EXPECT_EQ(said(path_in(kWorkers + slice(1, "makes", 0, 40) + hand_over(1, 1, 35, 2, 50) +
                         slice(2, "outer", 45, 70) + slice(2, "helped", 50, 60))),
            "55: makes 35 outer 10 helped 10");
}

TEST(CriticalPath, IsNeverLongerThanTheRecordingAndSumsUp) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const std::string lines = random_lines(random);
    const std::string more[] = {
        "", kWorkers, counted(1 + below(3, random), below(250, random), below(250, random))};
    for (const std::string& one : more) path_in(one + lines);
  }
}

}}  // namespace handoff::lab::tracing
