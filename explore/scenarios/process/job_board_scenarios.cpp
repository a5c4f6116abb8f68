// SPDX-License-Identifier: MIT
//
// The jobs of a pool of processes, with a death at every step: the scenarios of
// docs/design/process_pool.md.
#include <handoff/process/detail/claim_table.hpp>
#include <handoff/process/detail/job_board.hpp>
#include <handoff/sync/internal/cell.hpp>

#include "explore/scenario.hpp"
#include "explore/scenarios/process/mortal_workers.hpp"

namespace job_board_scenarios { namespace {

using handoff::detail::ClaimState;
using handoff::detail::ClaimTable;
using handoff::detail::ClaimWord;
using handoff::detail::JobBoard;
using handoff::detail::WorkerSlot;
using handoff::explore::check;
using handoff::explore::outcome;
using namespace handoff::test;
namespace sync = handoff::sync;

// A pool of two slots and two places and its master, as src/process has it.
class JobPool {
 public:
  static constexpr std::uint32_t width = handoff::test::MortalWorkers::width;

  JobPool(std::uint32_t tries, bool recycles) : tries_(tries), recycles_(recycles) {}

  void start(std::uint32_t slot) {
    workers_.start(slot, true, [this, slot] {
      board_.serve(slot, words_, [&](const ClaimTable::Pass& pass) { return work(slot, pass); });
    });
  }

  void submit(std::size_t place, std::uint64_t number, std::uint64_t argument) {
    arguments_[place].write() = argument;
    numbers_[place] = number;
    JobBoard::open(words_, place, number);
    board_.ring();
  }

  // Until the job in the place has ended. False if it was given up.
  bool await(std::size_t place) {
    ClaimState state = ClaimState::free;
    workers_.lead([&] {
      bury();
      state = word(place).look(numbers_[place], width, 0).state;
      check(state != ClaimState::broken, "no word is broken");
      return state == ClaimState::done || state == ClaimState::closed;
    });
    return state == ClaimState::done;
  }

  ClaimTable word(std::size_t place) { return JobBoard::job(words_, place); }
  std::uint64_t number(std::size_t place) const { return numbers_[place]; }
  std::uint64_t result(std::size_t place) const { return results_[place].read(); }

  void end() {
    board_.dismiss();
    workers_.join();
  }

 private:
  // Plain cells: two that do one job at the same time, or unordered, are a race.
  bool work(std::uint32_t slot, const ClaimTable::Pass& pass) {
    results_[pass.block].write() = 0;  // half of it
    results_[pass.block].write() = arguments_[pass.block].read() * 10;
    check(JobBoard::finish(words_, pass, true), "nobody else changes a claimed word");
    workers_.wake_master();
    if (recycles_) slots_[slot].retire();
    return !recycles_;
  }

  void bury() {
    workers_.bury([&](std::uint32_t slot) {
      check(slots_[slot].take_retired() == recycles_, "the master knows why it ended");
      for (std::size_t place = 0; place < numbers_.size(); ++place) {
        if (numbers_[place] == 0) continue;
        word(place).give_back(numbers_[place], slot, tries_, [](std::size_t, bool) {});
      }
      start(slot);
      board_.ring();
    });
  }

  const std::uint32_t tries_;
  const bool recycles_;
  JobBoard board_;
  std::array<ClaimWord, 2> places_{ClaimWord(0), ClaimWord(0)};
  const JobBoard::Words words_{places_};
  std::array<WorkerSlot, width> slots_;
  std::array<std::uint64_t, 2> numbers_{};  // the master's
  std::array<sync::cell<std::uint64_t>, 2> arguments_;
  std::array<sync::cell<std::uint64_t>, 2> results_;
  handoff::test::MortalWorkers workers_;
};

// The job with this place and number has its result, whichever process dies.
void expect_result(JobPool& pool, std::size_t place, std::uint64_t number) {
  check(pool.await(place) && pool.result(place) == (number + 6) * 10, "the result of this job");
}
void expect_job(JobPool& pool, std::size_t place, std::uint64_t number) {
  pool.submit(place, number, number + 6);
  expect_result(pool, place, number);
}
void expect_jobs_at_once(std::uint32_t workers, bool recycles) {
  JobPool pool(2, recycles);
  for (std::uint32_t slot = 0; slot < workers; ++slot) pool.start(slot);
  for (const std::size_t place : {0U, 1U}) pool.submit(place, place + 1, place + 7);
  for (const std::size_t place : {0U, 1U}) expect_result(pool, place, place + 1);
  pool.end();
}

// Jobs that come while the worker looks, sleeps or goes to sleep.
const Scenario jobs_one_by_one("process_pool/one_by_one", [] {
  JobPool pool(2, false);
  pool.start(0);
  expect_job(pool, 0, 1);
  expect_job(pool, 1, 2);
  pool.end();
});

// A worker that knows the word of a job meets the next one in the same place.
const HugeScenario place_again("process_pool/place_again", [] {
  JobPool pool(2, false);
  pool.start(0);
  pool.start(1);
  expect_job(pool, 0, 1);
  expect_job(pool, 0, 2);
  pool.end();
});

// The master closes a job, which is stopped or late, beside a worker that claims it.
const LargeScenario job_closed_beside_a_claim("process_pool/close_beside_a_claim", [] {
  JobPool pool(2, false);
  pool.start(0);
  pool.submit(0, 1, 7);
  bool is_closed = false;
  pool.word(0).close(pool.number(0), [&](std::size_t) { is_closed = true; });
  check(pool.await(0) == !is_closed, "done or closed, never both");
  if (!is_closed) check(pool.result(0) == 70, "the result");
      // The place is free again, at once.
  expect_job(pool, 0, 2);
  outcome(is_closed ? 1 : 0);
  pool.end();
});

// A worker dies somewhere: looking, claimed, half done, done, before it has told, asleep.
const MortalScenario<1, Size::large> worker_dies("process_pool/worker_dies", [] {
  JobPool pool(2, false);
  pool.start(0);
  expect_job(pool, 0, 1);
  pool.end();
});

const Scenario one_of_two_workers_dies(
    "process_pool/one_of_two_dies", [] { expect_jobs_at_once(2, false); }, Size::huge, 1);

// The job that ended its only try is given up; the place is used again.
const MortalScenario<1, Size::large> job_given_up("process_pool/given_up", [] {
  JobPool pool(1, false);
  pool.start(0);
  pool.submit(0, 1, 7);
  const bool is_done = pool.await(0);
  if (is_done) check(pool.result(0) == 70, "the result");
  pool.submit(0, 2, 8);
  (void)pool.await(0);
  outcome(is_done ? 1 : 0);
  pool.end();
});

// A worker that ends after each job, while the next one is on its way.
const Scenario worker_recycled(
    "process_pool/recycled", [] { expect_jobs_at_once(1, true); }, Size::large);

}}  // namespace job_board_scenarios
