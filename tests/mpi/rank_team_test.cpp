// SPDX-License-Identifier: MIT
//
// The contract of RankTeam. Every rank of the job runs this program, and makes the same calls.
#include <mpi.h>

#include <handoff/core/misuse.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/mpi/rank_team.hpp>
#include <handoff/team/thread_team.hpp>

#include "mpi/block_plan.hpp"
#include "support/support.hpp"
#include "support/test.hpp"

// What calls of MPI answer, where a test says so: they stand in for the library's, which are
// PMPI_*.
namespace {
bool fail_shared_window = false;
bool fail_world_window = false;
}  // namespace
extern "C" int MPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                                       void* base, MPI_Win* window) {
  if (fail_shared_window) return MPI_ERR_RMA_SHARED;
  return PMPI_Win_allocate_shared(size, unit, info, comm, base, window);
}
extern "C" int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base,
                                MPI_Win* window) {
  if (fail_world_window) return MPI_ERR_NO_MEM;
  return PMPI_Win_allocate(size, unit, info, comm, base, window);
}

namespace handoff::test { namespace {

using namespace std::chrono_literals;

// The teams of all tests, by `ranks_per_node`. They end before the program does.
std::map<std::size_t, RankTeam> teams;
class EndOfTeams : public testing::Environment {
  void TearDown() override { teams.clear(); }
};
[[maybe_unused]] const auto* const end_of_teams = testing::AddGlobalTestEnvironment(new EndOfTeams);

// All ranks on one node, and each rank on one of its own.
class RankTeams : public testing::TestWithParam<std::size_t> {
 protected:
  static RankTeam& team_of(std::size_t ranks_per_node) {
    const auto found = teams.find(ranks_per_node);
    if (found != teams.end()) return found->second;
    RankTeam team({.threads = 2, .ranks_per_node = ranks_per_node});
    return teams.emplace(ranks_per_node, std::move(team)).first->second;
  }

  RankTeam& team_ = team_of(GetParam());
  std::size_t nodes_ = GetParam() == 0 ? 1 : team_.ranks();

  std::uint64_t sum_of_ranks(std::uint64_t value) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return value;
  }
};
INSTANTIATE_TEST_SUITE_P(Nodes, RankTeams, testing::Values(0, 1), [](const auto& param_info) {
  return param_info.param == 0 ? "one" : "each";
});

template <class Call>
std::string what_of(const Call& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing thrown";
}

TEST_P(RankTeams, EachIndexRunsOnceOnSomeRank) {
  EXPECT_EQ(team_.threads(), 2U);
  EXPECT_EQ(team_.width(), 2 * team_.ranks());
  for (const std::size_t count : {0U, 1U, 2U, 7U, 1000U}) {
    for (const std::size_t block : {0U, 1U, 3U, 5000U}) {
      std::vector<std::atomic<unsigned>> times(count);
      const Tally tally = team_.run(count,
                                    [&](IndexRange range) {
                                      for (const std::size_t i : range) ++times[i];
                                    },
                                    {.block = block});
      EXPECT_EQ(tally.done, count);
      EXPECT_EQ(tally.accepted, count);
      EXPECT_TRUE(tally.balanced());
      std::vector<unsigned> all(times.begin(), times.end());
      MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(count), MPI_UNSIGNED, MPI_SUM,
                    MPI_COMM_WORLD);
      EXPECT_EQ(all, std::vector<unsigned>(count, 1)) << count << " in blocks of " << block;
    }
  }
}

TEST_P(RankTeams, ResultsAreInPlaceOnRank0ForAnyBlock) {
  for (const std::size_t each : {1U, 3U}) {
    for (const std::size_t block : {0U, 1U, 4U, 700U}) {
      std::vector<std::uint32_t> results(team_.rank() == 0 ? 1000 * each : 0);
      (void)team_.run(1000,
                      [&](IndexRange range, std::span<std::uint32_t> out) {
                        ASSERT_EQ(out.size() % range.size(), 0U);
                        const std::size_t per_index = out.size() / range.size();
                        for (std::size_t i = 0; i < out.size(); ++i) {
                          out[i] = static_cast<std::uint32_t>((range.first * per_index + i) * 17);
                        }
                      },
                      results, {.block = block});
      for (std::size_t i = 0; i < results.size(); ++i) ASSERT_EQ(results[i], i * 17);
    }
  }
}

// Blocks of a MiB at most are under way, and an index may have more.
TEST_P(RankTeams, LargeResultsComeInParts) {
  constexpr std::size_t kEach = 3 << 16;
  std::vector<std::uint64_t> results(team_.rank() == 0 ? 12 * kEach : 0);
  (void)team_.run(
      12,
      [&](IndexRange range, std::span<std::uint64_t> out) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = range.first * kEach + i;
      },
      results);
  for (std::size_t i = 0; i < results.size(); ++i) ASSERT_EQ(results[i], i);
}

// The counts follow from the plan alone. Which rank claims a block makes no difference.
TEST_P(RankTeams, ClaimsAndMessagesAreThoseOfThePlan) {
  std::vector<char> results(team_.rank() == 0 ? 5000 : 0);
  (void)team_.run(5000, [](IndexRange, std::span<char>) {}, results, {.block = 3});
  const detail::RankPlans plans{.count = 5000,
                                .nodes = nodes_,
                                .width = nodes_ == 1 ? team_.width() : team_.threads(),
                                .smallest = 3};
  const detail::BlockPlan world = plans.of_world();
  std::uint64_t blocks = 0;
  for (std::uint64_t n = 0; n < world.blocks(); ++n) {
    blocks += plans.of_node(world.block(n)).blocks();
  }
  const RankStatistics said = team_.statistics();
  EXPECT_EQ(said.node_blocks, nodes_ == 1 ? 0 : world.blocks());
  EXPECT_EQ(said.blocks, blocks);
  EXPECT_EQ(said.messages, 2 * (blocks - said.own_blocks)) << "a report and its results";
  EXPECT_EQ(said.restored, 0U);
}

TEST_P(RankTeams, ABroadcastIsRank0s) {
  std::vector<int> numbers(team_.rank() == 0 ? std::vector<int>{4, 7, 11} : std::vector<int>(3));
  team_.broadcast(numbers);
  EXPECT_EQ(numbers, (std::vector<int>{4, 7, 11}));
  std::vector<int> none;
  team_.broadcast(none);
}

TEST_P(RankTeams, AReductionHasTheBitsOfOneMachine) {
  const auto map = [](std::size_t i) { return 1.0 / (1.0 + static_cast<double>(i)); };
  ThreadTeam threads(2);
  for (const std::size_t count : {0U, 1U, 300U, 20'000U}) {
    const double here = parallel_reduce(threads, std::size_t{0}, count, 0.5, map, std::plus<>());
    EXPECT_EQ(team_.reduce(count, 0.5, map, std::plus<>()), here) << count;
  }
}

struct Numbers {
  std::atomic<std::uint64_t>* sum;
};
void add(IndexRange range, const Numbers& numbers) {
  for (const std::size_t i : range) *numbers.sum += i;
}

TEST_P(RankTeams, AKernelIsABody) {
  std::atomic<std::uint64_t> sum{0};
  EXPECT_EQ(team_.run<add>(100, Numbers{&sum}).done, 100U);
  EXPECT_EQ(sum_of_ranks(sum), 4950U);
}

TEST_P(RankTeams, AFailureReachesAllRanksWithRankHostAndText) {
  std::atomic<std::uint64_t> ran{0};
  const std::string told = what_of([&] {
    (void)team_.run(100,
                    [&](IndexRange range) {
                      ran += range.size();
                      if (range.first <= 31 && range.last > 31)
                        throw std::runtime_error("row 31 is bad");
                    },
                    {.block = 3});
  });
  std::array<char, 256> first{};
  told.copy(first.data(), first.size() - 1);
  MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_BYTE, 0, MPI_COMM_WORLD);
  EXPECT_EQ(told, first.data()) << "the same on all ranks";
  std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
  int length = 0;
  MPI_Get_processor_name(host.data(), &length);
  EXPECT_TRUE(told.starts_with("rank ")) << told;
  EXPECT_TRUE(told.ends_with(std::string(" on ") + host.data() + ": row 31 is bad")) << told;
  EXPECT_EQ(sum_of_ranks(ran), 100U) << "the others run";
  const Tally tally = team_.tally();
  EXPECT_TRUE(tally.balanced());
  EXPECT_GT(tally.failed, 0U);
  EXPECT_EQ(tally.done + tally.failed, 100U);
  EXPECT_NE(tally.first_failure, nullptr);
  EXPECT_THROW(team_.run(5, [](IndexRange) { throw 7; }), WorkFailed);
  EXPECT_EQ(team_.run(5, [](IndexRange) {}).done, 5U) << "usable afterwards";
}

TEST_P(RankTeams, AStopOfOneRankStopsAll) {
  sync::StopSource source;
  const sync::StopToken token = source.token();
  const auto late = std::chrono::steady_clock::now() + 300ms;
  const Tally amid = team_.run(100'000,
                               [&](IndexRange range) {
                                 if (range.first == 0) source.request_stop();
                                 std::this_thread::sleep_until(late);
                               },
                               {.block = 1, .until = token});
  EXPECT_TRUE(amid.balanced());
  EXPECT_GT(amid.done, 0U);
  EXPECT_GT(amid.cancelled, 0U);
  EXPECT_EQ(amid.done + amid.cancelled, 100'000U);
  source.request_stop();
  std::size_t ran = 0;
  const Tally before = team_.run(10, [&](IndexRange) { ++ran; }, {.until = token});
  EXPECT_EQ(before.cancelled, 10U);
  EXPECT_EQ(ran, 0U);
}

TEST_P(RankTeams, ADeadlineOfOneRankEndsAll) {
  const auto then = std::chrono::steady_clock::now() + 300ms;
  const auto nap = [then](IndexRange) { std::this_thread::sleep_until(then); };
  RankRunOptions options{.block = 1};
  if (team_.rank() == 0) options.until = 2ms;
  const Tally amid = team_.run(100'000, nap, options);
  EXPECT_TRUE(amid.balanced());
  EXPECT_GT(amid.expired, 0U);
  EXPECT_EQ(amid.cancelled, 0U);
  const Tally late = team_.run(10, nap, {.until = sync::Deadline{}});
  EXPECT_EQ(late.expired, 10U);
  EXPECT_EQ(team_.run(10, nap, {.until = 1h}).done, 10U);
}

// A block is begun with half of a thread's share, which takes many seconds here.
TEST_P(RankTeams, ADeadlineIsSeenWithinABlock) {
  constexpr std::size_t count = 1'000'000;
  std::atomic<std::size_t> ran{0};
  const auto one_by_one = [&](IndexRange range) {
    std::this_thread::sleep_for(range.size() * 100us);
    ran += range.size();
  };
  RankRunOptions options;
  if (team_.rank() == 0) options.until = 20ms;
  const Tally tally = team_.run(count, one_by_one, options);
  EXPECT_TRUE(tally.balanced());
  EXPECT_LT(tally.done, count / 4);
  EXPECT_EQ(tally.done + tally.expired, count);
  EXPECT_EQ(sum_of_ranks(ran), tally.done);
}

TEST_P(RankTeams, CallsThatDifferAreToldToAll) {
  if (team_.ranks() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const bool is_0 = team_.rank() == 0;
  const auto nothing = [](IndexRange) {};
  EXPECT_EQ(what_of([&] { (void)team_.run(is_0 ? 10 : 12, nothing); }),
            "RankTeam: the ranks do not make the same call: another number of indices or bytes (10 "
            "and 12): Invalid argument");
  const std::string other_block =
      what_of([&] { (void)team_.run(10, nothing, {.block = is_0 ? 1U : 2U}); });
  EXPECT_NE(other_block.find("another `block` (1 and 2)"), std::string::npos) << other_block;
  const std::string other_call = what_of([&] {
    int number = 0;
    if (is_0) return (void)team_.run(4, nothing);
    team_.broadcast(std::span(&number, 1));
  });
  EXPECT_NE(other_call.find("in other orders"), std::string::npos) << other_call;
  EXPECT_EQ(team_.run(10, nothing).done, 10U) << "usable afterwards";
}

TEST_P(RankTeams, ResultsWithoutRoomAreToldToAll) {
  std::vector<int> results(11);
  const std::string told =
      what_of([&] { (void)team_.run(10, [](IndexRange, std::span<int>) {}, results); });
  EXPECT_EQ(told,
            "RankTeam: rank 0 has room for 11 results of 10 indices: give the same number for "
            "each: Invalid argument");
}

TEST_P(RankTeams, CallsInsideABlockAreMisuse) {
  const std::string told = what_of(
      [&] { (void)team_.run(1, [&](IndexRange) { (void)team_.run(1, [](IndexRange) {}); }); });
  EXPECT_NE(told.find("RankTeam: run() from inside a block"), std::string::npos) << told;
}

TEST(RankTeam, AWindowThatCannotBeMadeIsToldToAll) {
  fail_shared_window = true;
  const std::string shared = what_of([] { RankTeam team; });
  fail_shared_window = false;
  EXPECT_TRUE(shared.starts_with("RankTeam: the window of the machine's ranks: ")) << shared;
  fail_world_window = true;
  const std::string world = what_of([] { RankTeam team({.ranks_per_node = 1}); });
  fail_world_window = false;
  RankTeam team;
  if (team.ranks() == 1) return;
  EXPECT_TRUE(world.starts_with("RankTeam: the window of all machines: ")) << world;
}

TEST(RankTeam, OptionsThatMakeNoSenseAreMisuse) {
  EXPECT_THROW(RankTeam({.patience = 1s}), Misuse);
}

TEST(RankTeam, ATeamMayBeOfSomeRanks) {
  RankTeam all;
  MPI_Comm some = MPI_COMM_NULL;
  const int color = static_cast<int>(all.rank() % 2);
  MPI_Comm_split(MPI_COMM_WORLD, color, 0, &some);
  {
    RankTeam team({.threads = 1, .communicator = some});
    EXPECT_EQ(team.ranks(), (all.ranks() + 1 - all.rank() % 2) / 2);
    EXPECT_EQ(
        team.reduce(100, std::size_t{0}, [](std::size_t i) { return i; }, std::plus<>()), 4950U);
  }
  MPI_Comm_free(&some);
}

}}  // namespace handoff::test
