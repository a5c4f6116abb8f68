// SPDX-License-Identifier: MIT
// What `handoff try` says of rows: which way to take, what is as fast, what is not safe.
#include "report/try_text.hpp"
#include "texts.hpp"

namespace handoff::lab { namespace {

Row measured(const std::string& contender, double us, std::size_t launches = 5) {
  Row row;
  row.scenario = "try";
  row.contender = contender;
  row.launches.assign(launches, std::vector<double>(3, us));
  row.median = us;
  row.figures = {{"watched_ns", us * 1000},
                 {"busy_ns", 100'000.0},
                 {"late_ns", 0.0},
                 {"between_ns", 0.0},
                 {"early_ns", 0.0}};
  return row;
}

Row unmeasured(const std::string& contender, RowStatus status, const std::string& reason) {
  Row row;
  row.contender = contender;
  row.status = status;
  row.reason = reason;
  return row;
}

TryText text_for(std::vector<Row> rows) {
  return try_text({"k.so", 64, 2, "CPUs", std::move(rows), 1});
}

bool begins(const TryText& answer, const std::string& words) {
  return answer.text.starts_with(words);
}

TEST(TryText, BeginsWithTheWayToTake) {
  const TryText answer = text_for({measured("limit.serial", 100), measured("own.thread_team", 52)});
  EXPECT_TRUE(begins(answer, "take ThreadTeam: 1.92x of serial, 96 % efficiency on 2 CPUs\n"))
      << answer.text;
  EXPECT_TRUE(says(answer.text, "ThreadTeam loses little"));
  EXPECT_TRUE(says(answer.text, "handoff::ThreadTeam team({.width = 2});"));
  EXPECT_TRUE(answer.told);
}

TEST(TryText, StaysSerialWhereNothingIsFaster) {
  const TryText answer = text_for({measured("limit.serial", 100), measured("own.pool", 120)});
  EXPECT_TRUE(begins(answer, "stay serial: the best other way, ThreadPool loop, is at 0.83x"))
      << answer.text;
  EXPECT_TRUE(says(answer.text, "the code for serial"));
}

TEST(TryText, MarksWhatIsAsFast) {
  const TryText answer = text_for({measured("limit.serial", 100), measured("own.pool", 60),
                                   measured("peer.openmp", 60.1), measured("peer.onetbb", 90)});
  EXPECT_TRUE(says(answer.text, "~ no measured difference to ThreadPool loop"));
  EXPECT_EQ(answer.text.find('~'), answer.text.find('~', answer.text.find("OpenMP")));
}

TEST(TryText, WhatCannotBeIsLeftOut) {
  const TryText answer = text_for(
      {measured("limit.serial", 100), measured("own.pool", 60),
       unmeasured("peer.openmp", RowStatus::impossible, "it is 3.00 times as fast as one thread")});
  EXPECT_TRUE(begins(answer, "take ThreadPool loop")) << answer.text;
  EXPECT_TRUE(says(answer.text, "left out:\n  OpenMP: it is 3.00 times as fast"));
}

TEST(TryText, SaysWhereTimeWasLost) {
  Row slow = measured("own.pool", 80);
  slow.figures["early_ns"] = 50'000;
  const TryText answer = text_for({measured("limit.serial", 100), slow});
  EXPECT_TRUE(
      says(answer.text, "loses most, 31 % of the CPUs' time, to this: at the end threads wait"));
}

TEST(TryText, AFewLaunchesAreBelievedOnlyFarApart) {
  EXPECT_TRUE(begins(text_for({measured("limit.serial", 100, 1), measured("own.pool", 60, 1)}),
                     "take ThreadPool loop"));
  const TryText near = text_for({measured("limit.serial", 100, 1), measured("own.pool", 99, 1)});
  EXPECT_TRUE(begins(near, "too noisy to tell: ThreadPool loop would be at 1.01x"));
  EXPECT_FALSE(near.told);
}

TEST(TryText, NamesWhatIsNotSafe) {
  const TryText answer = text_for({unmeasured("limit.serial", RowStatus::unavailable, "alone"),
                                   unmeasured("own.pool", RowStatus::failed, "crashed"),
                                   unmeasured("peer.openmp", RowStatus::unavailable, "luck")});
  EXPECT_TRUE(begins(answer,
                     "stay serial: the kernel is not safe under other ways\n"
                     "  ThreadPool loop: crashed\n"
                     "not timed:\n"
                     "  serial: alone\n"
                     "  OpenMP: luck\n"))
      << answer.text;
}

}}  // namespace handoff::lab
