// SPDX-License-Identifier: MIT
//
// The small parts of core/: Status, IndexRange, Tally, misuse, min and max.
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/internal/status_of.hpp>

#include "support/test.hpp"

namespace {

using namespace handoff;

TEST(Status, EachHasItsOwnName) {
  std::set<std::string> names;
  for (const Status status : {Status::ok, Status::full, Status::empty, Status::closed,
                              Status::stopped, Status::timed_out}) {
    names.insert(to_string(status));
  }
  EXPECT_EQ(names.size(), 6U);
  EXPECT_EQ(names.count("timed_out"), 1U);
  EXPECT_STREQ(to_string(static_cast<Status>(99)), "no Status");
}

TEST(Status, SaysWhyAWaitEnded) {
  EXPECT_EQ(detail::status_of(sync::Wakeup::notified), Status::ok);
  EXPECT_EQ(detail::status_of(sync::Wakeup::stopped), Status::stopped);
  EXPECT_EQ(detail::status_of(sync::Wakeup::timed_out), Status::timed_out);
}

TEST(MinMax, OfTwoAndOfMore) {
  EXPECT_EQ(detail::min(3, 4), 3);
  EXPECT_EQ(detail::min(4, 3), 3);
  EXPECT_EQ(detail::max(3, 4), 4);
  EXPECT_EQ(detail::max(1, 2, 3), 3);
  EXPECT_EQ(detail::max(1, 3, 2), 3);
  EXPECT_EQ(detail::max(4, 3, 1, 2), 4);
  EXPECT_EQ(detail::max(1, 2, 3, 4), 4);
}

TEST(IndexRange, IteratesHalfOpen) {
  std::vector<std::size_t> seen;
  for (const std::size_t i : IndexRange{3, 6}) seen.push_back(i);
  EXPECT_EQ(seen, (std::vector<std::size_t>{3, 4, 5}));
  EXPECT_EQ((IndexRange{3, 6}.size()), 3U);
  EXPECT_TRUE(IndexRange{}.empty());
  for (const std::size_t i : IndexRange{7, 7}) FAIL() << i;
}

TEST(Tally, IsBalancedOnlyIfEveryItemIsAccountedFor) {
  Tally tally{.accepted = 15, .done = 5, .failed = 4, .cancelled = 3, .expired = 2, .pending = 1};
  EXPECT_TRUE(tally.balanced());
  for (std::uint64_t* part : {&tally.accepted, &tally.done, &tally.failed, &tally.cancelled,
                              &tally.expired, &tally.pending}) {
    ++*part;
    EXPECT_FALSE(tally.balanced());
    --*part;
  }
}

TEST(Closing, SaysWhatMayStillBegin) {
  EXPECT_TRUE(Closing::finish.begins_more);
  EXPECT_EQ(Closing::finish.deadline, sync::no_deadline);
  EXPECT_FALSE(Closing::abandon.begins_more);
  const auto before = sync::clock::now();
  const Closing closing = Closing::finish_until(std::chrono::seconds(10));
  EXPECT_TRUE(closing.begins_more);
  EXPECT_GE(closing.deadline, before + std::chrono::seconds(10));
  EXPECT_LE(closing.deadline, sync::clock::now() + std::chrono::seconds(10));
}

TEST(Closing, TakesNoStop) {
  const sync::StopSource source;
  const sync::StopToken token = source.token();
  EXPECT_THROW((void)Closing::finish_until(token), std::logic_error);
  EXPECT_EQ(Closing::finish_until(sync::StopToken()).deadline, sync::no_deadline);
}

TEST(MisuseTest, RaiseThrowsTheErrorItself) {
  try {
    raise(std::length_error("too long"));
  } catch (const std::length_error& error) {
    EXPECT_STREQ(error.what(), "too long");
  }
}

std::string reported;

TEST(MisuseTest, IsThrownAfterTellingTheHandler) {
  EXPECT_THROW(misuse("wrong"), Misuse);
  const MisuseHandler before = set_misuse_handler([](const char* what) { reported = what; });
  EXPECT_EQ(before, nullptr);
  EXPECT_THROW(misuse("wrong again"), std::logic_error);
  EXPECT_EQ(reported, "wrong again");
  EXPECT_NE(set_misuse_handler(nullptr), nullptr);
}

}  // namespace
