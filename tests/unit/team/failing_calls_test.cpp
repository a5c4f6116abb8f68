// SPDX-License-Identifier: MIT
//
// A team's life while the system refuses something: the k-th thread, allocation or sleep, for
// every k until all goes well. Whatever fails, a team that came to be does all its work, and one
// that did not leaves no thread behind.
#include "support/failing.hpp"
#include "support/test.hpp"
#include "support/threads_of_process.hpp"

namespace {

using handoff::IndexRange;
using handoff::ThreadTeam;
using namespace handoff::test;

constexpr std::size_t kWidth = 5;

// What a user does with a team; `width` is what it came to.
void live(std::size_t& width) {
  ThreadTeam team({.name = "a name too long to be kept inside a string", .width = kWidth});
  width = team.width();
  for (int run = 0; run < 3; ++run) {
    std::atomic<std::size_t> ran{0};
    EXPECT_EQ(team.run(1000, [&](IndexRange range) { ran += range.size(); }).done, 1000U);
    EXPECT_EQ(ran, 1000U);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // so that members fall asleep
  }
}

TEST(FailingCalls, ThreadsThatAreRefusedMakeTheTeamNarrower) {
  const std::size_t before = threads_of_process().size();
  std::size_t refused = 0;
  const int places = until_whole(Call::thread, EAGAIN, [&] {
    std::size_t width = 0;
    live(width);
    EXPECT_EQ(width, std::min(refused + 1, kWidth));
    ++refused;
    EXPECT_TRUE(threads_become_at_most(before));
  });
  EXPECT_EQ(places, static_cast<int>(kWidth) - 1);
}

// The most that may be asked for, where the system has no thread to give.
TEST(FailingCalls, TheWidestTeamMayBeNarrow) {
  handoff::test::fail_after(Call::thread, 0, EAGAIN);
  EXPECT_EQ(ThreadTeam({.width = ThreadTeam::max_width}).width(), 1U);
  EXPECT_TRUE(handoff::test::stop_failing(Call::thread));
}

TEST(FailingCalls, AnAllocationThatFailsLeavesNothingBehind) {
  const std::size_t before = threads_of_process().size();
  std::size_t width = 0;
  const int places = until_whole(
      Call::allocation, ENOMEM,
      [&] {
        if (!handoff::test::had_memory([&] { live(width); })) width = 0;
      },
      [&] {
        EXPECT_TRUE(width == 0 || width == kWidth);
        EXPECT_TRUE(threads_become_at_most(before));
      });
  EXPECT_GT(places, static_cast<int>(kWidth));
  EXPECT_EQ(width, kWidth);
}

// A sleep that ends for no reason is one more look at the condition. How often members sleep is
// chance, so a fixed number of places is tried.
TEST(FailingCalls, SleepsThatAreInterruptedLoseNothing) {
  for (const int error : {EINTR, EAGAIN}) {
    for (int k = 0; k < 20; ++k) {
      handoff::test::fail_after(Call::futex, k, error);
      std::size_t width = 0;
      live(width);
      EXPECT_EQ(width, kWidth);
      handoff::test::stop_failing(Call::futex);
    }
  }
}

}  // namespace
