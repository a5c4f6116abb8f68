// SPDX-License-Identifier: MIT
//
// ThreadTeam under real threads: ten thousand runs of random shape, every index exactly once.
// No failure in n runs bounds the rate of wrong ones below 3/n (95 %).
#include <gtest/gtest.h>

#include <atomic>
#include <handoff/team/thread_team.hpp>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include "support/support.hpp"

namespace {

using handoff::IndexRange;
using handoff::RunOptions;
using handoff::Tally;
using handoff::ThreadTeam;

// Teams of many widths, kept, since a run must also be right on a team that has run before.
class Teams {
 public:
  ThreadTeam& of(std::size_t width) {
    auto& team = teams_[width - 1];
    if (!team) team = std::make_unique<ThreadTeam>(handoff::ThreadTeamOptions{.width = width});
    return *team;
  }
  static constexpr std::size_t most = 12;

 private:
  std::unique_ptr<ThreadTeam> teams_[most];
};

TEST(ThreadTeamStress, EveryIndexExactlyOnce) {
  auto random = handoff::test::random();
  Teams teams;
  for (int round = 0; round < 10'000; ++round) {
    const std::size_t width = 1 + random() % Teams::most;
    const std::size_t count = random() % (random() % 10 == 0 ? 5'000 : 100);
    const RunOptions options{.block = random() % 4 == 0 ? random() % 50 : 0};
    std::vector<unsigned char> times(count);  // plain bytes: the run alone keeps members apart
    const Tally tally = teams.of(width).run(
        count,
        [&](IndexRange range) {
          for (const std::size_t i : range) ++times[i];
        },
        options);
    ASSERT_EQ(tally.done, count);
    ASSERT_TRUE(tally.balanced());
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(times[i], 1) << "index " << i << " of " << count << ", width " << width
                             << ", block " << options.block << ", round " << round;
    }
  }
}

TEST(ThreadTeamStress, FailuresAndStopsAreCountedExactly) {
  auto random = handoff::test::random(1);
  Teams teams;
  const std::size_t rounds = handoff::test::rounds(4'000);
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::size_t width = 1 + random() % 6;
    const std::size_t count = 1 + random() % 500;
    const std::size_t throw_one_in = 1 + random() % 50;
    const std::size_t stop_at = random() % (4 * count);
    std::stop_source source;
    std::atomic<std::uint64_t> done{0};
    std::atomic<std::uint64_t> failed{0};
    ThreadTeam& team = teams.of(width);
    try {
      team.run(count,
               [&](IndexRange range) {
                 if (range.first <= stop_at && stop_at < range.last) source.request_stop();
                 if (range.first % throw_one_in == 0) {
                   failed += range.size();
                   throw std::runtime_error("planned");
                 }
                 done += range.size();
               },
               {.until = source.get_token()});
      ASSERT_EQ(failed, 0U);
    } catch (const std::runtime_error&) {
      ASSERT_GT(failed, 0U);
    }
    const Tally tally = team.tally();
    ASSERT_EQ(tally.accepted, count);
    ASSERT_EQ(tally.done, done);
    ASSERT_EQ(tally.failed, failed);
    ASSERT_TRUE(tally.balanced());
  }
}

TEST(ThreadTeamStress, ComesAndGoes) {
  auto random = handoff::test::random(2);
  const std::size_t rounds = handoff::test::rounds(3'000);
  for (std::size_t round = 0; round < rounds; ++round) {
    ThreadTeam team({.width = 1 + random() % 4});
    const std::size_t runs = random() % 3;
    for (std::size_t i = 0; i < runs; ++i) {
      ASSERT_EQ(team.run(1 + random() % 9, [](IndexRange) {}).balanced(), true);
    }
  }
}

// Runs of four starters and two callers on one team, some of which stop, throw, or start the next
// one when they end. Each is told of once, with exact figures, and frees itself then.
class FreeRun final : public handoff::BulkWork {
 public:
  struct Books {
    std::atomic<std::size_t> alive{0};
    std::atomic<std::size_t> told{0};
    std::atomic<std::size_t> wrong{0};
  };

  FreeRun(ThreadTeam& team, Books& books, std::uint64_t shape)
      : team_(team), books_(books), shape_(shape), times_(shape % 97) {
    ++books_.alive;
  }
  ~FreeRun() { --books_.alive; }

  static std::size_t start(ThreadTeam& team, Books& books, std::uint64_t shape) {
    auto* const run = new FreeRun(team, books, shape);
    const std::size_t runs = 1 + run->again_;
    run->start();
    return runs;
  }

  void block(std::size_t first, std::size_t last) override {
    for (std::size_t i = first; i < last; ++i) ++times_[i];
    if (shape_ % 5 == 0 && first % 3 == 0) throw std::runtime_error("planned");
    if (shape_ % 7 == 0) source_.request_stop();
  }

  void ended(const Tally& tally) noexcept override {
    std::size_t ran = 0;
    for (unsigned char& times : times_) {
      books_.wrong += times > 1;
      ran += times;
      times = 0;
    }
    books_.wrong += !tally.balanced() || tally.accepted != times_.size() ||
                    tally.done + tally.failed != ran ||
                    (tally.failed != 0) != (tally.first_failure != nullptr);
    ++books_.told;
    if (again_ == 0) {
      delete this;
    } else {
      --again_;
      start();
    }
  }

 private:
  void start() noexcept {
    Books& books = books_;  // the run may be over, and this one gone, before the call returns
    const handoff::Status status = team_.start(times_.size(), *this, storage_,
                                               {.block = shape_ % 4, .until = source_.get_token()});
    books.wrong += status != handoff::Status::ok;
  }

  ThreadTeam& team_;
  Books& books_;
  const std::uint64_t shape_;
  std::size_t again_ = shape_ % 11 == 0 ? 3 : 0;
  std::vector<unsigned char> times_;  // plain bytes: the run alone keeps members apart
  std::stop_source source_;
  ThreadTeam::BulkStorage storage_;
};

TEST(ThreadTeamStress, StartedRunsBesideCallers) {
  auto random = handoff::test::random(3);
  for (int life = 0; life < 20; ++life) {
    FreeRun::Books books;
    std::atomic<std::size_t> runs{0};
    {
      ThreadTeam team({.width = 1 + random() % 5});
      std::vector<std::thread> users;
      for (int user = 0; user < 6; ++user) {
        users.emplace_back([&, user, mine = handoff::test::random(random())]() mutable {
          for (std::size_t round = 0; round < handoff::test::rounds(200); ++round) {
            if (user < 4) {
              runs += FreeRun::start(team, books, mine());
            } else {
              ASSERT_EQ(team.run(mine() % 20, [](IndexRange) {}).balanced(), true);
            }
          }
        });
      }
      for (auto& user : users) user.join();
      // Those that start again are refused once the team ends: wait for them.
      while (books.told != runs) std::this_thread::yield();
    }
    ASSERT_EQ(books.wrong, 0U);
    ASSERT_EQ(books.alive, 0U);
    ASSERT_EQ(books.told, runs);
  }
}

// The same harness must see a team that does an index twice or never.
TEST(ThreadTeamStress, CanaryTheCountSeesAWrongBlock) {
  ThreadTeam team({.width = 2});
  std::vector<unsigned char> times(100);
  team.run(times.size(), [&](IndexRange range) {
    if (range.first == 0) range.last -= 1;  // loses one index of the first block
    for (const std::size_t i : range) ++times[i];
  });
  EXPECT_NE(times, std::vector<unsigned char>(100, 1));
}

}  // namespace
