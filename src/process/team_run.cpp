// SPDX-License-Identifier: MIT
#include "team_run.hpp"

#include <errno.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <handoff/probe/detail/slice.hpp>
#include <handoff/sync/stop_token.hpp>
#include <string>

#include "../core/call_failed.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

using namespace std::chrono_literals;

// How long a run goes on without a worker while each start is refused.
constexpr std::chrono::milliseconds kStartPatience = 500ms;
// How long it waits for workers that were killed; one that the system holds back may never end.
constexpr std::chrono::seconds kEndPatience = 5s;
// How many workers may end, before they have claimed anything, until it gives up.
constexpr std::size_t kMostIdleDeaths = 100;
// How long only as many workers as CPUs are at it, or longer, if blocks are small: a block that
// takes less than it takes to wake a worker.
constexpr std::chrono::microseconds kFirstPace = 200us;
constexpr std::chrono::milliseconds kMostPace = 10ms;
constexpr std::chrono::microseconds kSmallBlock = 4us;

}  // namespace

Tally TeamRun::lead(const TeamJob& job, const void* arguments, const RunOptions& options) {
  const probe::Slice slice(probe::Kind::process, "run");
  job_ = job;
  arguments_ = arguments;
  std::vector<TeamCrew::Death> deaths;
  crew_.wait(sync::clock::now(), deaths);  // of those that died between runs
  if (options.until.stop_requested() || options.until.deadline() <= sync::clock::now()) {
    // None begins: nobody is told of the run.
    open();
    close(options.until.stop_requested() ? Closed::stopped : Closed::late);
    return settle();
  }
  crew_.begin_run();
  refill();
  if (crew_.alive() == 0 && refused_ != 0) {
    open();
    close(Closed::no_workers);
    return settle();
  }
  const sync::StopCallback stop(
      options.until.stop_token(), [](void* crew) noexcept { static_cast<TeamCrew*>(crew)->wake(); },
      &crew_);
  watched_.assign(crew_.width(), {});
  watched_at_ = idle_since_ = sync::clock::now();
  open();
  ring_first();
  bool told = false;
  do {
    told = crew_.wait(next_look(options), deaths);
    if (!deaths.empty()) handle(deaths);
    if (options.until.stop_requested()) close(Closed::stopped);
    if (options.until.deadline() <= sync::clock::now()) close(Closed::late);
    if (crew_.alive() < crew_.width()) refill();
    if (options_.limit > 0ns) look_at_limit();
  } while (!is_over(told));
  return settle();
}

void TeamRun::open() { arena_.board().open(++number_, job_, arguments_, arena_.words()); }

// Few blocks, or small ones, are done before more workers than CPUs have woken. But where they wait
// for something, each worker is needed.
void TeamRun::ring_first() {
  if (early_ >= crew_.width() || crew_.alive() < crew_.width()) {
    return arena_.board().ring(Ring::all);
  }
  paced_at_ = sync::clock::now();
  pace_at_ = paced_at_ + kFirstPace;
  arena_.board().ring(Ring::early);
}

void TeamRun::look_at_pace() {
  const sync::Deadline now = sync::clock::now();
  if (now < pace_at_) return;
  const auto since = now - paced_at_;
  // Fewer than before: memory was overwritten, or all is begun again.
  const std::size_t ended = ended_ - std::min(paced_, ended_);
  if (static_cast<sync::clock::rep>(ended) * kSmallBlock <
      since * static_cast<sync::clock::rep>(early_))
    return ring_again();
  paced_at_ = now;
  paced_ = ended_;
  pace_at_ = now + std::min<sync::clock::duration>(2 * since, kMostPace);
}

void TeamRun::ring_again() {
  pace_at_ = sync::no_deadline;
  arena_.board().ring(Ring::all);
}

bool TeamRun::is_over(bool told) {
  const ClaimCount now = count();
  // Somebody may have told that all is over, led astray by a note that was overwritten (CT-6).
  if (told && now.free != 0 && now.claimed == 0) {
    table().forget_ended();
    arena_.board().ring(pace_at_ == sync::no_deadline ? Ring::all : Ring::early);
  }
  if (now.over()) return true;
  look_at_pace();
  return false;
}

// OnCrash::reset_all: the words forget their attempts when all is begun again.
bool TeamRun::has_had_its_tries(std::size_t block) {
  ends_.resize(job_.blocks());
  return ++ends_[block] >= options_.tries;
}

// What the dead had is given to others, or given up.
void TeamRun::handle(const std::vector<TeamCrew::Death>& deaths) {
  const bool all_again = options_.on_crash == OnCrash::reset_all;
  // Once with `report`. With `reset_all` nobody else may have the block before all is begun again:
  // a death before that would be nobody's.
  const std::uint32_t tries = options_.on_crash == OnCrash::give_again ? options_.tries : 1;
  bool had_any = false;
  for (const TeamCrew::Death& death : deaths) {
    bool had = false;
    watched_[death.slot] = {};
    table().give_back(number_, death.slot, tries, [&](std::size_t block, bool closed) {
      had = true;
      const bool is_lost = all_again ? has_had_its_tries(block) : closed;
      const std::uint32_t ended = all_again ? options_.tries : tries;
      if (is_lost) lost_.push_back({job_.range_of(block), death.end, ended});
      given_up_ = given_up_ || (all_again && is_lost);
    });
    had_any = had_any || had;
    idle_deaths_ += had ? 0 : 1;
  }
  if (had_any && all_again) return begin_again();
  // What was stopped is not begun again.
  if (closed_ != Closed::no) close(closed_);
  ring_again();
}

// OnCrash::reset_all: nobody must be at a block of the run any more when it begins anew.
void TeamRun::begin_again() {
  std::vector<TeamCrew::Death> deaths;
  for (std::uint32_t slot = 0; slot < crew_.width(); ++slot) crew_.kill(slot, false);
  const sync::Deadline late = sync::deadline_after(kEndPatience);
  while (crew_.alive() != 0 && sync::clock::now() < late) crew_.wait(late, deaths);
  if (crew_.alive() != 0) return close(Closed::no_workers);
  open();
  ring_again();
  if (given_up_) {
    table().close(number_, [](std::size_t) noexcept {});
  } else if (closed_ != Closed::no) {
    closed_blocks_indices_ = 0;
    close(closed_);
  }
}

void TeamRun::refill() {
  // Nobody is needed for what is claimed already, but in the next run they are.
  refused_ = crew_.refill();
  const sync::Deadline now = sync::clock::now();
  if (crew_.alive() != 0) {
    none_since_ = sync::no_deadline;
  } else if (none_since_ == sync::no_deadline) {
    none_since_ = now;
  } else if (refused_ != 0 && now - none_since_ > kStartPatience) {
    close(Closed::no_workers);
  }
  if (idle_deaths_ > kMostIdleDeaths + crew_.width()) close(Closed::no_workers);
}

ClaimCount TeamRun::count() {
  ClaimTable words = table();
  ClaimCount count = words.count(number_, crew_.width());
  for (std::size_t block = 0; count.broken != 0 && block < words.blocks(); ++block) {
    if (words.look(number_, crew_.width(), block).state != ClaimState::broken) continue;
    // Somebody writes over the table. Done again it may be right; but not for ever.
    words.mend(number_, block);
    if (++mended_ > words.blocks())
      words.close(number_,
                  [&](std::size_t closed) { lost_.push_back({.indices = job_.range_of(closed)}); });
  }
  if (count.broken != 0) {
    ring_again();
    count = words.count(number_, crew_.width());
  }
  const std::size_t ended = words.blocks() - count.free - count.claimed - count.broken;
  if (ended != ended_) idle_deaths_ = 0;
  ended_ = ended;
  return count;
}

void TeamRun::close(Closed why) {
  if (closed_ == Closed::no) closed_ = why;
  table().close(number_,
                [&](std::size_t block) { closed_blocks_indices_ += job_.range_of(block).size(); });
}

// Kills the workers that have been at one block for too long, by the clock of this process; and
// all, if blocks are free and nobody has been at any for as long: they are stopped.
void TeamRun::look_at_limit() {
  const sync::Deadline now = sync::clock::now();
  if (now - watched_at_ < options_.limit / 4) return;
  watched_at_ = now;
  const ClaimTable words = table();
  bool has_free = false;
  bool is_worked_at = false;
  for (std::size_t block = 0; block < words.blocks(); ++block) {
    const Claim claim = words.look(number_, crew_.width(), block);
    has_free = has_free || claim.state == ClaimState::free;
    if (claim.state != ClaimState::claimed) continue;
    is_worked_at = true;
    Watched& watched = watched_[claim.slot];
    if (watched.block != block || watched.claim != claim) {
      watched = {claim, block, now};
    } else if (now - watched.since >= options_.limit) {
      crew_.kill(claim.slot, true);
    }
  }
  if (is_worked_at || !has_free || crew_.alive() == 0) {
    idle_since_ = now;
  } else if (now - idle_since_ >= options_.limit) {
    for (std::uint32_t slot = 0; slot < crew_.width(); ++slot) crew_.kill(slot, true);
    idle_since_ = now;
  }
}

sync::Deadline TeamRun::next_look(const RunOptions& options) const noexcept {
  sync::Deadline next = closed_ == Closed::no ? options.until.deadline() : sync::no_deadline;
  next = std::min({next, crew_.next_refill(), pace_at_});
  if (options_.limit > 0ns) next = std::min(next, watched_at_ + options_.limit / 4);
  if (refused_ != 0) next = std::max(next, sync::deadline_after(10ms));  // not again and again
  return next;
}

// ---- The end -----------------------------------------------------------------------------------

Tally TeamRun::settle() const {
  Tally tally{.accepted = job_.count};
  const ClaimTable words = table();
  for (std::size_t block = 0; block < words.blocks(); ++block) {
    const std::size_t size = job_.range_of(block).size();
    const bool done = words.look(number_, crew_.width(), block).state == ClaimState::done;
    (done ? tally.done : tally.failed) += size;
  }
  // What was closed before it began has not failed.
  tally.failed -= closed_blocks_indices_;
  (closed_ == Closed::late ? tally.expired : tally.cancelled) += closed_blocks_indices_;
  tally.first_failure = first_failure();
  return tally;
}

std::exception_ptr TeamRun::first_failure() const {
  if (closed_ == Closed::no_workers) {
    return std::make_exception_ptr(refused_ != 0 ? crew_.refusal(refused_)
                                                 : call_failed(ECHILD, kAllWorkersEnd));
  }
  if (!lost_.empty()) {
    const LostWork& first = lost_.front();
    return std::make_exception_ptr(WorkFailed(
        "ProcessTeam: indices from " + std::to_string(first.indices.first) + " to below " +
            std::to_string(first.indices.last) + " were given up, their worker " + first.end.text(),
        first));
  }
  for (std::uint32_t slot = 0; slot < crew_.width(); ++slot) {
    char text[TeamSlot::most_text];
    if (!arena_.slot(slot).said(number_, text)) continue;
    return std::make_exception_ptr(WorkFailed(text));
  }
  return nullptr;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
