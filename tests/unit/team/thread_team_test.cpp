// SPDX-License-Identifier: MIT
//
// ThreadTeam, as its head comment promises it.
#include <handoff/core/detail/block_claims.hpp>

#include "support/child.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff;

TEST(ThreadTeam, HasTheWidthAskedForOrThatOfTheMachine) {
  EXPECT_EQ(ThreadTeam({.width = 1}).width(), 1U);
  EXPECT_EQ(ThreadTeam({.width = 5}).width(), 5U);
  EXPECT_GE(ThreadTeam().width(), 1U);
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

TEST(ThreadTeam, TakesAKernel) {
  ThreadTeam team({.width = 2});
  std::atomic<std::uint64_t> sum{0};
  const Tally tally = team.run<add_squares>(1000, Squares{&sum});
  EXPECT_EQ(sum, 332'833'500U);
  EXPECT_EQ(tally.done, 1000U);
}

// What a loop leaves out when its body throws is not done.
TEST(ThreadTeam, CountsWhatALoopThatThrewLeftOut) {
  ThreadTeam team({.width = 2});
  std::atomic<std::uint64_t> ended{0};
  const auto body = [&](std::size_t i) {
    if (i == 50) throw std::runtime_error("planned");
    ++ended;
  };
  EXPECT_THROW(parallel_for(team, 0, 1000, body, {.block = 1}), std::runtime_error);
  const Tally tally = team.tally();
  EXPECT_TRUE(tally.balanced());
  EXPECT_EQ(tally.accepted, 1000U);
  EXPECT_LE(tally.done, ended);
  EXPECT_GE(tally.done + tally.failed, ended + 1);
  EXPECT_THROW(parallel_for(team, 0, 1000, [](std::size_t) { throw 1; }, {.block = 1}), int);
  EXPECT_EQ(team.tally().done, 0U);
  EXPECT_GT(team.tally().cancelled, 0U);
  EXPECT_EQ(team.run(10, [](IndexRange) {}).done, 10U) << "the next run leaves nothing out";
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
  const pid_t child = test::start_child([&] {
    claim_all<add_squares>(job.claims, job.squares, job.blocks[1]);
    return 0;
  });
  while (job.blocks[1] == 0 && job.claims.left()) std::this_thread::yield();
  claim_all<add_squares>(job.claims, job.squares, job.blocks[0]);
  EXPECT_EQ(test::end_of(child), 0);
  EXPECT_GT(job.blocks[1], 0U);
  EXPECT_EQ(job.sum, 333'328'333'350'000U);
  munmap(memory, sizeof(SharedJob));
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

// ---- Runs that are started and not waited for ---------------------------------------------------

// A completion that somebody waits for. It holds the state, so that it may outlive the waiter.
class Ended {
 public:
  Tally get() const {
    state_->over.wait(0);
    return state_->tally;
  }
  void operator()(const Tally& tally) const noexcept {
    const std::shared_ptr<State> state = state_;  // the run, and this in it, may be gone below
    state->tally = tally;
    ++state->over;
    state->over.notify_all();
  }

 private:
  struct State {
    Tally tally;
    std::atomic<int> over{0};
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

// The starter goes on, or this hangs; and no block runs on its thread.
TEST(StartedRun, ReturnsAtOnceAndMembersDoAllTheWork) {
  ThreadTeam team({.width = 3});
  std::atomic<bool> open{false};
  std::atomic<int> here{0};
  const Ended ended;
  BulkOperation run(
      team, 4,
      [&, starter = std::this_thread::get_id()](std::size_t, std::size_t) {
        here += std::this_thread::get_id() == starter;
        while (!open) std::this_thread::yield();
      },
      ended);
  ASSERT_EQ(run.start(), Status::ok);
  open = true;
  EXPECT_EQ(ended.get().done, 4U);
  EXPECT_EQ(here, 0);
}

// The child of a fork() has no member that would end the run.
TEST(StartedRun, ItsTeamEndsInAForkedChildInTheMiddleOfIt) {
  auto team = std::make_unique<ThreadTeam>(ThreadTeamOptions{.width = 2});
  std::atomic<bool> begun{false};
  std::atomic<bool> open{false};
  const Ended ended;
  BulkOperation run(
      *team, 1,
      [&](std::size_t, std::size_t) {
        begun = true;
        while (!open) std::this_thread::yield();
      },
      ended);
  ASSERT_EQ(run.start(), Status::ok);
  while (!begun) std::this_thread::yield();
  const auto end_copy = [&] {
    team.reset();
    return 7;
  };
  EXPECT_EQ(test::in_child(end_copy), 7);
  open = true;
  EXPECT_EQ(ended.get().done, 1U);
  EXPECT_EQ(team->run(10, [](IndexRange) {}).done, 10U);
}

bool is_misuse(ThreadTeam& team) {
  return test::caught<std::logic_error>([&] { return team.run(1, [](IndexRange) {}); }).has_value();
}

TEST(StartedRun, RunFromInsideItsBlockOrCompletionIsMisuse) {
  for (const std::size_t width : {1U, 3U}) {
    ThreadTeam team({.width = width});
    std::atomic<int> tried{0};
    std::atomic<int> misused{0};
    const auto run = [&] {
      ++tried;
      if (is_misuse(team)) ++misused;
    };
    const Ended ended;
    BulkOperation operation(
        team, 4, [&](std::size_t, std::size_t) { run(); },
        [&, ended](const Tally& tally) noexcept {
          run();
          ended(tally);
        },
        {.block = 1});
    ASSERT_EQ(operation.start(), Status::ok);
    EXPECT_EQ(ended.get().done, 4U);
    EXPECT_GE(tried, 2);
    EXPECT_EQ(misused, tried);
  }
}

// Where start() does the work, its thread may be inside a block of another team.
TEST(StartedRun, ATeamOfOneKnowsWhoWaitsForIt) {
  ThreadTeam outer({.width = 2});
  ThreadTeam one({.width = 1});
  std::atomic<int> misused{0};
  outer.run(1, [&](IndexRange) {
    const Ended ended;
    BulkOperation operation(
        one, 1,
        [&](std::size_t, std::size_t) {
          if (is_misuse(outer)) ++misused;
        },
        ended);
    EXPECT_EQ(operation.start(), Status::ok);
  });
  EXPECT_EQ(misused, 1);
}

}  // namespace
