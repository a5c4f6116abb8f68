// SPDX-License-Identifier: MIT
//
// ThreadTeam, as its head comment promises it.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <handoff/core/detail/block_claims.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/team/thread_team.hpp>
#include <mutex>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "support/own_parts.hpp"
#include "support/support.hpp"

namespace {

using namespace handoff;

TEST(ThreadTeam, HasTheWidthAskedForOrThatOfTheMachine) {
  EXPECT_EQ(ThreadTeam({.width = 1}).width(), 1U);
  EXPECT_EQ(ThreadTeam({.width = 5}).width(), 5U);
  EXPECT_GE(ThreadTeam().width(), 1U);
}

TEST(ThreadTeam, DoesEveryIndexOnce) {
  ThreadTeam team({.width = 3});
  std::vector<int> times(1000);  // plain: run() orders it
  const Tally tally = team.run(times.size(), [&](IndexRange range) {
    for (const std::size_t i : range) ++times[i];
  });
  EXPECT_EQ(times, std::vector<int>(1000, 1));
  EXPECT_EQ(tally.accepted, 1000U);
  EXPECT_EQ(tally.done, 1000U);
  EXPECT_TRUE(tally.balanced());
}

TEST(ThreadTeam, NothingToDoIsDoneAtOnce) {
  ThreadTeam team({.width = 2});
  const Tally tally = team.run(0, [](IndexRange) { FAIL(); });
  EXPECT_EQ(tally.accepted, 0U);
  EXPECT_TRUE(tally.balanced());
}

TEST(ThreadTeam, OneMemberIsTheCaller) {
  ThreadTeam team({.width = 1});
  team.run(100, [caller = std::this_thread::get_id()](IndexRange) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
  });
}

// Both must be inside at once, or this hangs.
TEST(ThreadTeam, MembersRunAtTheSameTimeEvenBeyondTheCpus) {
  for (const std::size_t width : {2U, 8U}) {
    ThreadTeam team({.width = width});
    for (int round = 0; round < 20; ++round) {
      std::atomic<std::size_t> inside{0};
      team.run(width,
               [&](IndexRange) {
                 inside.fetch_add(1);
                 while (inside < width) std::this_thread::yield();
               },
               {.block = 1});
    }
  }
}

TEST(ThreadTeam, RunsAgainOnTheSameThreads) {
  ThreadTeam team({.width = 4});
  std::mutex mutex;
  std::set<std::thread::id> seen;
  for (int round = 0; round < 500; ++round) {
    team.run(64, [&](IndexRange) {
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
  }
  EXPECT_LE(seen.size(), 4U);
}

struct Squares {
  std::atomic<std::uint64_t>* sum;
};
void add_squares(IndexRange range, const Squares& squares) {
  std::uint64_t sum = 0;
  for (const std::size_t i : range) sum += i * i;
  squares.sum->fetch_add(sum);
}

TEST(ThreadTeam, EachMemberBeginsInItsOwnPart) {
  ThreadTeam team({.width = 3});
  test::expect_own_parts(
      3,
      [&](std::size_t count, test::FirstBlocks& blocks) {
        (void)team.run(count, [&](IndexRange block) { blocks(block); });
      },
      std::this_thread::get_id());
}

TEST(ThreadTeam, TakesAKernel) {
  ThreadTeam team({.width = 2});
  std::atomic<std::uint64_t> sum{0};
  const Tally tally = team.run<add_squares>(1000, Squares{&sum});
  EXPECT_EQ(sum, 332'833'500U);
  EXPECT_EQ(tally.done, 1000U);
}

// The call shape works between processes: claims, arguments and results in shared memory, the
// kernel found by each process in its own copy of the program.
struct SharedJob {
  detail::BlockClaims claims;
  Squares squares;
  std::atomic<std::uint64_t> sum;
  std::atomic<std::uint64_t> blocks[2];
};

template <auto kernel, class Arguments>
void claim_all(detail::BlockClaims& claims, const Arguments& arguments,
               std::atomic<std::uint64_t>& blocks) {
  const BlockCall call = &call_kernel<kernel, Arguments>;
  for (IndexRange block = claims.claim(); !block.empty(); block = claims.claim()) {
    call(&arguments, block);
    blocks.fetch_add(1);
  }
}

TEST(Kernel, CanBeClaimedByAForkedProcess) {
  void* const memory =
      mmap(nullptr, sizeof(SharedJob), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& job = *new (memory) SharedJob{};
  job.squares.sum = &job.sum;
  job.claims.open(100'000, 2, 10);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    claim_all<add_squares>(job.claims, job.squares, job.blocks[1]);
    _exit(0);
  }
  while (job.blocks[1] == 0 && job.claims.left()) std::this_thread::yield();
  claim_all<add_squares>(job.claims, job.squares, job.blocks[0]);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_GT(job.blocks[1], 0U);
  EXPECT_EQ(job.sum, 333'328'333'350'000U);
  munmap(memory, sizeof(SharedJob));
}

TEST(ThreadTeam, AThrowingBlockFailsAloneAndTheFirstIsRethrown) {
  ThreadTeam team({.width = 3});
  std::vector<std::atomic<int>> times(100);
  try {
    team.run(times.size(),
             [&](IndexRange range) {
               for (const std::size_t i : range) times[i].fetch_add(1);
               if (range.first == 30) throw std::runtime_error("row 30");
             },
             {.block = 10});
    FAIL() << "not rethrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "row 30");
  }
  for (const auto& count : times) EXPECT_EQ(count, 1);
  const Tally tally = team.tally();
  EXPECT_TRUE(tally.balanced());
  EXPECT_EQ(tally.accepted, 100U);
  EXPECT_GE(tally.failed, 10U);  // the block that held row 30, whole
  EXPECT_EQ(tally.done + tally.failed, 100U);
  EXPECT_TRUE(tally.first_failure);
  EXPECT_EQ(team.run(5, [](IndexRange) {}).done, 5U) << "usable afterwards";
  EXPECT_FALSE(team.tally().first_failure);
}

TEST(ThreadTeam, EveryBlockMayThrowAnything) {
  ThreadTeam team({.width = 2});
  EXPECT_THROW(team.run(50, [](IndexRange) { throw 7; }, {.block = 1}), int);
  EXPECT_EQ(team.tally().failed, 50U);
  EXPECT_TRUE(team.tally().balanced());
}

TEST(ThreadTeam, AStopCancelsWhatHasNotBegun) {
  ThreadTeam team({.width = 2});
  std::stop_source source;
  std::atomic<std::uint64_t> ran{0};
  const Tally tally = team.run(10'000,
                               [&](IndexRange range) {
                                 ran += range.size();
                                 source.request_stop();
                               },
                               {.until = source.get_token()});
  EXPECT_TRUE(tally.balanced());
  EXPECT_EQ(tally.done, ran);
  EXPECT_GT(tally.cancelled, 0U);
  EXPECT_EQ(tally.expired, 0U);
  const Tally none = team.run(10, [](IndexRange) { FAIL(); }, {.until = source.get_token()});
  EXPECT_EQ(none.cancelled, 10U);
}

TEST(ThreadTeam, ADeadlineExpiresWhatHasNotBegun) {
  ThreadTeam team({.width = 2});
  const Tally none = team.run(10, [](IndexRange) { FAIL(); }, {.until = sync::Deadline{}});
  EXPECT_EQ(none.expired, 10U);
  EXPECT_TRUE(none.balanced());
  const sync::Deadline soon = sync::deadline_after(std::chrono::milliseconds(5));
  const Tally some = team.run(1'000'000'000,
                              [&](IndexRange) {
                                while (sync::clock::now() < soon) std::this_thread::yield();
                              },
                              {.until = soon});
  EXPECT_TRUE(some.balanced());
  EXPECT_GT(some.done, 0U);
  EXPECT_GT(some.expired, 0U);
  EXPECT_EQ(team.run(10, [](IndexRange) {}, {.until = std::chrono::hours(1)}).done, 10U);
}

TEST(ThreadTeam, RunFromInsideItsOwnBlockIsMisuse) {
  ThreadTeam team({.width = 2});
  EXPECT_THROW(team.run(8, [&](IndexRange) { team.run(1, [](IndexRange) {}); }, {.block = 1}),
               std::logic_error);
  EXPECT_EQ(team.tally().failed, 8U);
  ThreadTeam outer({.width = 2});
  EXPECT_THROW(outer.run(4,
                         [&](IndexRange) {
                           team.run(4, [&](IndexRange) { outer.run(1, [](IndexRange) {}); });
                         }),
               std::logic_error);
}

TEST(ThreadTeam, AnotherTeamMayBeRunInside) {
  ThreadTeam outer({.width = 2});
  ThreadTeam inner({.width = 2});
  std::atomic<std::uint64_t> ran{0};
  outer.run(8, [&](IndexRange range) {
    for ([[maybe_unused]] const std::size_t i : range) {
      inner.run(10, [&](IndexRange r) { ran += r.size(); });
    }
  });
  EXPECT_EQ(ran, 80U);
}

TEST(ThreadTeam, CallersFromManyThreadsTakeTurns) {
  ThreadTeam team({.width = 2});
  std::atomic<int> inside{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (std::size_t round = 0; round < test::rounds(500); ++round) {
        std::uint64_t mine[2] = {0, 0};
        const Tally tally = team.run(2,
                                     [&](IndexRange range) {
                                       EXPECT_LE(inside.fetch_add(1), 1);
                                       for (const std::size_t k : range) ++mine[k];
                                       inside.fetch_sub(1);
                                     },
                                     {.block = 1});
        ASSERT_EQ(tally.done, 2U);
        ASSERT_EQ(mine[0] + mine[1], 2U);
      }
    });
  }
  for (auto& caller : callers) caller.join();
}

TEST(ThreadTeam, AWidthBeyondAnySenseIsMisuse) {
  EXPECT_THROW(ThreadTeam({.width = ThreadTeam::max_width + 1}), std::logic_error);
  EXPECT_THROW(ThreadTeam({.width = ~std::size_t{0}}), std::logic_error);
}

TEST(ThreadTeam, NamesAndPinsItsThreads) {
  const int cpu = sched_getcpu();
  ThreadTeam team({.name = "rows", .width = 2, .cpus = {cpu}});
  std::atomic<int> named{0};
  std::atomic<bool> met{false};
  team.run(2,
           [&, caller = std::this_thread::get_id()](IndexRange) {
             if (std::this_thread::get_id() == caller) {
               while (!met) std::this_thread::yield();
               return;
             }
             char name[32] = {};
             pthread_getname_np(pthread_self(), name, sizeof name);
             named += std::string(name) == "rows" && sched_getcpu() == cpu;
             met = true;
           },
           {.block = 1});
  EXPECT_EQ(named, 1);
}

// Not a team that is narrower than asked for, and says nothing.
TEST(ThreadTeam, ACpuThatThereIsNotIsAnError) {
  for (const int none : {CPU_SETSIZE - 1, CPU_SETSIZE}) {
    const ThreadTeamOptions options{.width = 3, .cpus = {sched_getcpu(), none}};
    EXPECT_THROW(ThreadTeam{options}, std::system_error);
  }
}

TEST(ThreadTeam, MovesWithItsThreads) {
  ThreadTeam first({.width = 2});
  ThreadTeam second(std::move(first));
  EXPECT_EQ(second.run(10, [](IndexRange) {}).done, 10U);
  second = ThreadTeam({.width = 3});
  EXPECT_EQ(second.width(), 3U);
  EXPECT_EQ(second.run(10, [](IndexRange) {}).done, 10U);
}

}  // namespace
