// SPDX-License-Identifier: MIT
//
// The claims of a team of processes, with a death at every step: the scenarios of
// docs/design/process_team.md.
#include <handoff/process/detail/claim_table.hpp>
#include <handoff/process/detail/team_board.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>

#include "explore/scenario.hpp"
#include "explore/scenarios/process/mortal_workers.hpp"

namespace claim_table_scenarios { namespace {

using namespace handoff;
using detail::Claim;
using detail::ClaimCount;
using detail::ClaimState;
using detail::ClaimTable;
using detail::ClaimWord;
using detail::Patience;
using detail::Ring;
using detail::TeamBoard;
using detail::TeamJob;
using detail::TeamWaits;
using detail::TeamWords;
using detail::WorkerSlot;
using explore::check;
using explore::Process;
using explore::Thread;
using sync::order;
using namespace test;

// A team of two slots and its master, as src/process has it, on one table.
class Team {
 public:
  static constexpr std::uint32_t width = test::MortalWorkers::width;

  explicit Team(std::size_t blocks, std::uint32_t tries, TeamWaits waits = {})
      : blocks_(blocks), tries_(tries), board_(waits) {}

  void start(std::uint32_t slot) {
    workers_.start(slot, false, [this, slot] {
      board_.serve(
          slot, width, words_,
          [&](std::uint64_t, const TeamJob& job, const void* arguments, IndexRange range) {
            return compute(job, arguments, range);
          },
          [&] { workers_.wake_master(); });
    });
  }

  // One run, as the master has it. False if a block was given up.
  bool run(std::uint64_t number, std::uint64_t argument) {
    argument_.write() = argument;
    board_.open(number, {.count = blocks_, .block = 1, .bytes = sizeof argument}, &argument,
                words_);
    board_.ring(Ring::early);
    bool whole = true;
    workers_.lead([&] {
      workers_.bury([&](std::uint32_t slot) {
        table().give_back(number, slot, tries_,
                          [&](std::size_t, bool closed) { whole &= !closed; });
        start(slot);
        board_.ring(Ring::all);
      });
      const ClaimCount count = table().count(number, width);
      check(count.broken == 0, "no word is broken");
      return count.over();
    });
    return whole;
  }

  // What the master does at some time: blocks take long.
  void ring_again() { board_.ring(Ring::all); }

  void end() {
    board_.dismiss();
    workers_.join();
  }

  ClaimTable table() { return words_.table(blocks_); }
  std::uint64_t result(std::size_t index) const { return results_[index].read(); }

 private:
  // Plain cells: two that compute one index at the same time, or unordered, are a race.
  bool compute(const TeamJob& job, const void* arguments, IndexRange range) {
    std::uint64_t argument = 0;
    std::memcpy(&argument, arguments, sizeof argument);
    check(job.count == blocks_ && argument == argument_.read(), "the job is that of this run");
    for (const std::size_t i : range) results_[i].write() = argument * 10 + i;
    return true;
  }

  const std::size_t blocks_;
  const std::uint32_t tries_;
  sync::cell<std::uint64_t> argument_;  // of the run that is on
  TeamBoard board_;
  std::array<ClaimWord, 1> argument_words_{ClaimWord(0)};
  std::array<ClaimWord, 2> block_words_{ClaimWord(0), ClaimWord(0)};
  std::array<ClaimWord, 1> ended_words_{ClaimWord(0)};
  const TeamWords words_{argument_words_, block_words_, ended_words_};
  std::array<sync::cell<std::uint64_t>, 2> results_;
  test::MortalWorkers workers_;
};

// ---- The table alone ---------------------------------------------------------------------------

// Two workers without a death: each block once, and the one that ends last knows.
const Scenario two_claim("process_team/two_claim", [] {
  std::array<ClaimWord, 2> words{ClaimWord(0), ClaimWord(0)};
  std::array<sync::cell<int>, 2> times;
  sync::atomic<std::uint32_t> told(0);
  std::array<ClaimWord, 1> ended{ClaimWord(0)};
  ClaimTable table(words, ended);
  table.open(1);
  const auto work = [&](std::uint32_t slot) {
    for (;;) {
      const ClaimTable::Pass pass = table.claim(1, slot, slot);
      if (pass.block == ClaimTable::none) {
        if (pass.over) told.fetch_add(1, order::relaxed);
        return;
      }
      times[pass.block].write() += 1;
      check(table.finish(pass, true), "nobody else changes a claimed word");
    }
  };
  {
    Thread second([&] { work(1); });
    work(0);
  }
  for (const auto& time : times) check(time.read() == 1, "each block once");
  check(told.load(order::relaxed) != 0, "the last one saw that all is over");
  check(table.count(1, 2).done == 2, "all done");
  explore::outcome(told.load(order::relaxed));
});

// The master closes what is free beside a worker that claims it.
const Scenario close_beside_a_claim("process_team/close_beside_a_claim", [] {
  std::array<ClaimWord, 2> words{ClaimWord(0), ClaimWord(0)};
  std::array<sync::cell<int>, 2> times;
  sync::atomic<std::uint32_t> told(0);
  std::array<ClaimWord, 1> ended{ClaimWord(0)};
  ClaimTable table(words, ended);
  table.open(1);
  Thread worker([&] {
    for (;;) {
      const ClaimTable::Pass pass = table.claim(1, 0, 0);
      if (pass.block == ClaimTable::none) {
        if (pass.over) told.store(1, order::release);
        return;
      }
      times[pass.block].write() += 1;
      (void)table.finish(pass, true);
    }
  });
  std::size_t closed = 0;
  table.close(1, [&](std::size_t) { ++closed; });
  const bool over = table.count(1, 1).over();
  worker.join();
  check(over || told.load(order::acquire) == 1, "the master sees the end, or is told of it");
  check(table.count(1, 1).done + closed == 2, "each block done or closed");
  explore::outcome(closed);
});

// A worker dies somewhere; what it had is computed by the next one, whatever it left behind.
const MortalScenario<> death_of_one("process_team/death_of_one", [] {
  std::array<ClaimWord, 2> words{ClaimWord(0), ClaimWord(0)};
  std::array<sync::cell<int>, 2> rows;
  ClaimTable table(words);
  table.open(1);
  const auto work = [&] {
    for (;;) {
      const ClaimTable::Pass pass = table.claim(1, 0, 0);
      if (pass.block == ClaimTable::none) return;
      rows[pass.block].write() = -1;  // half a row
      sync::point("half");
      rows[pass.block].write() = 1;
      (void)table.finish(pass, true);
    }
  };
  bool died = false;
  {
    Process worker(work);
    died = worker.wait();
  }
  if (died) {
    table.give_back(1, 0, 3, [](std::size_t, bool) {});
    work();
  }
  check(table.count(1, 1).done == 2, "all done");
  for (const auto& row : rows) check(row.read() == 1, "whole rows");
});

// What a worker says of its exception is whole when the master sees that the block has failed.
const MortalScenario<> what_failed("process_team/what_failed", [] {
  std::array<ClaimWord, 1> words{ClaimWord(0)};
  WorkerSlot slot;
  ClaimTable table(words);
  table.open(1);
  bool died = false;
  sync::atomic<std::uint32_t> looked(0);
  Thread master([&] {
    if (table.count(1, 1).failed == 0) return;
    char text[WorkerSlot::most_text];
    check(slot.said(1, text) && text[0] == 'n', "whole");
    looked.store(1, order::relaxed);
  });
  {
    Process worker([&] {
      const ClaimTable::Pass pass = table.claim(1, 0, 0);
      slot.keep(1, "no");
      (void)table.finish(pass, false);
    });
    died = worker.wait();
  }
  master.join();
  if (!died) check(table.count(1, 1).failed == 1, "told as it is");
  explore::outcome(looked.load(order::relaxed));
});

// A word that was overwritten is opened again, and done.
const Scenario mended("process_team/mended", [] {
  std::array<ClaimWord, 1> arguments{ClaimWord(0)};
  std::array<ClaimWord, 1> words{ClaimWord(0)};
  const TeamWords all{arguments, words};
  TeamBoard board;
  ClaimTable table(words);
  sync::cell<int> times;
  board.open(1, {.count = 1, .block = 1}, nullptr, all);
  words[0].store(7, order::relaxed);
  Thread worker([&] {
    board.serve(
        0, 1, all,
        [&](std::uint64_t, const TeamJob&, const void*, IndexRange) {
          times.write() += 1;
          board.dismiss();
          return true;
        },
        [] {});
  });
  check(table.count(1, 1).broken == 1, "found");
  table.mend(1, 0);
  board.ring(Ring::all);
  worker.join();
  check(times.read() == 1 && table.count(1, 1).done == 1, "done once");
});

// A survivor that is in the middle of its pass claims what a dead worker had, without a bell.
const MortalScenario<> given_back_beside_a_pass("process_team/given_back_beside_a_pass", [] {
  std::array<ClaimWord, 1> words{ClaimWord(0)};
  sync::cell<int> row;
  ClaimTable table(words);
  table.open(1);
  const auto work = [&](std::uint32_t slot) {
    const ClaimTable::Pass pass = table.claim(1, slot, 0);
    if (pass.block == ClaimTable::none) return;
    row.write() += 1;
    (void)table.finish(pass, true);
  };
  Thread survivor([&] {
    for (int passes = 0; passes < 2; ++passes) work(1);
  });
  bool died = false;
  {
    Process worker([&] { work(0); });
    died = worker.wait();
  }
  if (died) {
    table.give_back(1, 0, 3, [](std::size_t, bool) {});
  }
  survivor.join();
  explore::outcome(table.count(1, 2).done);
});

// ---- The table, the board and the master -------------------------------------------------------

// Each run computes all its rows, whichever process dies: a death loses no block.
void run_whole(std::size_t blocks, std::uint32_t workers, TeamWaits waits = {},
               std::uint64_t runs = 1) {
  Team team(blocks, 2, waits);
  for (std::uint32_t slot = 0; slot < workers; ++slot) team.start(slot);
  for (std::uint64_t run = 1; run <= runs; ++run) {
    check(team.run(run, run + 6), "nothing is given up");
    for (std::size_t i = 0; i < blocks; ++i) {
      check(team.result(i) == (run + 6) * 10 + i, "each row of this run is there");
    }
  }
  team.end();
}

const Scenario one_run("process_team/one_run", [] { run_whole(2, 2); }, Size::huge);

// A worker that is late in the first run meets the second one.
const Scenario next_run("process_team/next_run", [] { run_whole(1, 2, {}, 2); }, Size::huge);

// The same by workers that look at their bell once more before they sleep, but for the one that has
// told of the end.
const Scenario next_run_beside_a_spin(
    "process_team/next_run_beside_a_spin",
    [] { run_whole(1, 2, {.patience = Patience::but_the_last}, 2); }, Size::huge);

// One worker, which may die anywhere, while it looks for the next run too.
const Scenario spinning_one_dies(
    "process_team/spinning_one_dies", [] { run_whole(1, 1, {.patience = Patience::all}, 2); },
    Size::large, 1);

// One worker, which may die anywhere: claimed, computed, done, before the bell. Its replacement
// does the rest; the master never waits for ever.
const Scenario one_worker_dies(
    "process_team/one_worker_dies", [] { run_whole(2, 1); }, Size::large, 1);

// Two workers, of which one may die, and two rows.
const Scenario one_of_two_dies(
    "process_team/one_of_two_dies", [] { run_whole(2, 2); }, Size::huge, 1);

// A run wakes the early worker; the late one does the rest if that one dies, or beside it once it
// is woken too.
const Scenario early_one_dies(
    "process_team/early_one_dies", [] { run_whole(2, 2, {.early = 1}); }, Size::huge, 1);

const HugeScenario late_one_is_woken("process_team/late_one_is_woken", [] {
  Team team(1, 2, {.early = 1});
  team.start(0);
  team.start(1);
  Thread clock([&] { team.ring_again(); });
  check(team.run(1, 7), "nothing is given up");
  check(team.result(0) == 70, "the row is there");
  clock.join();
  team.end();
});

// Two deaths: a block that both had is given up, and all else is done.
const MortalScenario<2, Size::large> tries_are_used_up("process_team/tries_are_used_up", [] {
  Team team(1, 1);
  team.start(0);
  const bool whole = team.run(1, 7);
  const ClaimCount count = team.table().count(1, 2);
  check(count.over(), "all is over");
  check(count.closed == (whole ? 0 : 1), "told as it is");
  if (whole) check(team.result(0) == 70, "the row is there");
  explore::outcome(whole ? 1 : 0);
  team.end();
});

}}  // namespace claim_table_scenarios
