// SPDX-License-Identifier: MIT
//
// Deaths at random: of threads at the claim table, whose races a sanitizer sees, and of real
// processes of a team. No failure in n runs bounds the rate of wrong ones below 3/n (95 %).
#include <handoff/process/detail/claim_table.hpp>

#include "books/process_books.hpp"
#include "support/patience.hpp"
#include "support/test.hpp"
#include "unit/process/team_support.hpp"

namespace process_stress { namespace {

using namespace handoff;
using detail::Claim;
using detail::ClaimTable;
using detail::ClaimWord;

// ---- Threads that die --------------------------------------------------------------------------

constexpr std::uint32_t kSlots = 3;
constexpr std::size_t kMostBlocks = 40;

// A run whose workers are threads. One that dies returns at that very step, and its join() is the
// kernel's word.
class MortalRun {
 public:
  MortalRun(std::uint64_t run, std::size_t blocks, std::uint64_t seed)
      : run_(run), dice_(seed), rows_(blocks) {
    for (std::size_t i = 0; i < blocks; ++i) std::construct_at(words() + i, 0U);
    table_.emplace(std::span(words(), blocks));
    table_->open(run);
  }

  // The master: buries, gives back, starts again, until all is over. How many died.
  std::size_t lead() {
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) start(slot);
    std::size_t deaths = 0;
    test::idle_until([&] {
      for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
        const End end = ended_[slot].load();
        if (end == End::none) continue;
        if (end == End::idle && table_->count(run_, kSlots).free == 0) continue;
        workers_[slot].join();
        deaths += end == End::dead ? 1 : 0;
        table_->give_back(run_, slot, Claim::most_attempts, [](std::size_t, bool closed) {
          EXPECT_FALSE(closed) << "as many tries as there are deaths were given";
        });
        start(slot);
      }
      return table_->count(run_, kSlots).over();
    });
    for (std::thread& worker : workers_) worker.join();
    return deaths;
  }

  void expect_all_right() {
    for (std::size_t block = 0; block < rows_.size(); ++block) {
      ASSERT_EQ(rows_[block], row(block)) << "block " << block << " of run " << run_;
    }
    ASSERT_EQ(table_->count(run_, kSlots).done, rows_.size());
    ASSERT_EQ(test::fault_in(*table_), "");
  }

 private:
  enum class End : std::uint8_t { none, dead, idle };
  static constexpr std::size_t kMostDeaths = 12;  // fewer than a block has tries

  ClaimWord* words() { return reinterpret_cast<ClaimWord*>(memory_); }
  std::uint64_t row(std::size_t block) const { return run_ * 1000 + block; }

  void start(std::uint32_t slot) {
    ended_[slot].store(End::none);
    const bool mortal = mortals_ < kMostDeaths;
    mortals_ += mortal ? 1 : 0;
    workers_[slot] = std::thread(
        [this, slot, mortal, seed = dice_()] { ended_[slot].store(work(slot, mortal, seed)); });
  }

  End work(std::uint32_t slot, bool mortal, std::uint64_t seed) {
    std::mt19937_64 dice(seed);
    const auto dies = [&] { return mortal && dice() % 16 == 0; };
    for (std::size_t from = dice() % rows_.size();; ++from) {
      if (dies()) return End::dead;
      const ClaimTable::Pass pass = table_->claim(run_, slot, from);
      if (pass.block == ClaimTable::none) return End::idle;
      if (dies()) return End::dead;
      rows_[pass.block] = 1;  // half a row: plain, since claims keep workers apart
      if (dies()) return End::dead;
      rows_[pass.block] = row(pass.block);
      if (dies()) return End::dead;
      EXPECT_TRUE(table_->finish(pass, true));
    }
  }

  const std::uint64_t run_;
  std::mt19937_64 dice_;
  std::size_t mortals_ = 0;
  std::vector<std::uint64_t> rows_;
  alignas(ClaimWord) std::byte memory_[kMostBlocks * sizeof(ClaimWord)];
  std::optional<ClaimTable> table_;
  std::array<std::atomic<End>, kSlots> ended_{};
  std::array<std::thread, kSlots> workers_;
};

TEST(ClaimTableStress, WhatADeadThreadHadIsDoneByAnother) {
  auto random = test::random();
  std::size_t deaths = 0;
  const std::size_t rounds = test::rounds(3'000);
  for (std::size_t round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
    MortalRun run(1 + round, 1 + random() % kMostBlocks, random());
    deaths += run.lead();
    run.expect_all_right();
  }
  EXPECT_GT(deaths, rounds / 10) << "hardly any died: nothing was tried";
}

// The same harness must see a master that gives back what a living worker is at.
TEST(ClaimTableStress, CanaryTheBookSeesABlockThatIsLeft) {
  std::array<ClaimWord, 2> words{ClaimWord(0), ClaimWord(0)};
  ClaimTable table(words);
  table.open(1);
  const ClaimTable::Pass mine = table.claim(1, 0, 0);
  table.give_back(1, 0, 2, [](std::size_t, bool) {});
  EXPECT_FALSE(table.finish(mine, true)) << "it was given back, and is not this worker's any more";
  EXPECT_NE(test::fault_in(table), "");
}

// ---- Processes that die ------------------------------------------------------------------------

using team_support::Board;
using team_support::SharedBoard;

struct Marked {
  Board* board;
  std::uint64_t factor;
};
void compute_marked(IndexRange range, const Marked& marked) {
  for (const std::size_t i : range) {
    marked.board->rows[i] = 0;
    marked.board->rows[i] = team_support::row(marked.factor, i);
  }
}

// What may happen to a team beside its runs, at any instant.
void do_harm(std::uint64_t die) {
  const std::vector<pid_t> workers = team_support::workers();
  const pid_t one = workers.empty() ? -1 : workers[die / 32 % workers.size()];
  switch (die % 32) {
    case 0: return team_support::signal_server(SIGKILL);
    case 1: return team_support::signal_server(SIGSTOP);
    case 2: return team_support::signal_workers(SIGKILL);
    default:
      if (one > 0) ::kill(one, SIGKILL);
  }
}

TEST(ProcessTeamStress, RunsOfAnyShapeBesideDeathsOfAnyKind) {
  auto random = test::random();
  const SharedBoard board;
  const std::size_t lives = test::rounds(10);
  for (std::size_t life = 0; life <= lives; ++life) {
    ProcessTeam team{{.width = 1 + random() % 8,
                      .tries = 15,
                      .replacements_per_second = 10'000,
                      .on_crash = random() % 4 == 0 ? OnCrash::reset_all : OnCrash::give_again}};
    std::atomic<bool> over{false};
    std::jthread harm([&, dice = std::mt19937_64(random())]() mutable {
      while (!over) {
        std::this_thread::sleep_for(std::chrono::microseconds(dice() % 4000));
        if (!over) do_harm(dice());
      }
    });
    for (std::uint64_t run = 0; run < 20; ++run) {
      const std::size_t count = random() % Board::most;
      const RunOptions options{.block = random() % 3 == 0 ? 0 : 1 + random() % 100};
      Tally tally;
      try {
        tally = team.run<compute_marked>(count, Marked{board.get(), run}, options);
      } catch (const WorkFailed&) {
        tally = team.tally();  // its tries were used up: rare, and right
      } catch (const std::system_error&) {
        tally = team.tally();  // a server was killed again and again while it was to start workers
      }
      ASSERT_EQ(tally.accepted, count);
      ASSERT_TRUE(tally.balanced());
      if (tally.done == count) team_support::expect_rows(*board, run, count);
    }
    over = true;
  }
}

}}  // namespace process_stress
