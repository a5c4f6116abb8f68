// SPDX-License-Identifier: MIT
#include "team_run.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <handoff/probe/internal/slice.hpp>
#include <handoff/sync/stop_token.hpp>
#include <string>
#include <utility>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

using namespace std::chrono_literals;

// How long only as many workers as CPUs are at it, or longer, if blocks are small: a block that
// takes less than it takes to wake a worker.
constexpr std::chrono::microseconds kFirstPace = 200us;
constexpr std::chrono::milliseconds kMostPace = 10ms;
constexpr std::chrono::microseconds kSmallBlock = 4us;

}  // namespace

Tally TeamRun::lead(const TeamJob& job, const void* arguments) {
  const probe::Slice slice(probe::Kind::process, "run");
  job_ = job;
  arguments_ = arguments;
  if (until_.stop_requested() || until_.deadline() <= sync::clock::now()) {
    open();  // none begins: nobody is told of the run
    look();
    return settle();
  }
  const bool has_workers = master_.begin_work();
  open();
  if (!has_workers) {
    give_up();
    return settle();
  }
  const sync::StopCallback stop(
      until_.stop_token(),
      [](void* master) noexcept { static_cast<ProcessMaster*>(master)->wake(); }, &master_);
  ring_first();
  bool told = false;
  do {
    told = master_.wait(next_look());
    master_.attend(*this);
  } while (!is_over(told));
  return settle();
}

void TeamRun::open() { arena_.board().open(++number_, job_, arguments_, arena_.team_words()); }

// Few blocks, or small ones, are done before more workers than CPUs have woken. But where they wait
// for something, each worker is needed.
void TeamRun::ring_first() {
  if (early_ >= master_.width() || master_.alive() < master_.width()) {
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

bool TeamRun::bury(const TeamCrew::Death& death) {
  const bool all_again = options_.on_crash == OnCrash::reset_all;
  // Once with `report`. With `reset_all` nobody else may have the block before all is begun again:
  // a death before that would be nobody's.
  const std::uint32_t tries = options_.on_crash == OnCrash::give_again ? options_.tries : 1;
  bool had = false;
  table().give_back(number_, death.slot, tries, [&](std::size_t block, bool closed) {
    had = true;
    const bool is_lost = all_again ? has_had_its_tries(block) : closed;
    const std::uint32_t ended = all_again ? options_.tries : tries;
    if (is_lost) lost_.push_back({job_.range_of(block), death.end, ended});
    is_lost_ = is_lost_ || (all_again && is_lost);
  });
  had_any_ = had_any_ || had;
  return had;
}

void TeamRun::all_buried() {
  if (std::exchange(had_any_, false) && options_.on_crash == OnCrash::reset_all) {
    return begin_again();
  }
  // What was stopped is not begun again.
  if (closed_ != Closed::no) close(closed_);
  ring_again();
}

// OnCrash::reset_all: nobody must be at a block of the run any more when it begins anew.
void TeamRun::begin_again() {
  if (!master_.end_all()) return give_up();
  open();
  ring_again();
  if (is_lost_) {
    table().close(number_, [](std::size_t) noexcept {});
  } else if (closed_ != Closed::no) {
    closed_indices_ = 0;
    close(closed_);
  }
}

void TeamRun::look() {
  if (until_.stop_requested()) close(Closed::stopped);
  if (until_.deadline() <= sync::clock::now()) close(Closed::late);
}

void TeamRun::show_claims() {
  for (std::size_t block = 0; block < job_.blocks(); ++block) master_.see(block, look_at(block));
}

ClaimCount TeamRun::count() {
  ClaimTable words = table();
  ClaimCount count = words.count(number_, master_.width());
  for (std::size_t block = 0; count.broken != 0 && block < words.blocks(); ++block) {
    if (look_at(block).state != ClaimState::broken) continue;
    // Somebody writes over the table. Done again it may be right; but not for ever.
    words.mend(number_, block);
    if (++mended_ > words.blocks())
      words.close(number_,
                  [&](std::size_t closed) { lost_.push_back({.indices = job_.range_of(closed)}); });
  }
  if (count.broken != 0) {
    ring_again();
    count = words.count(number_, master_.width());
  }
  const std::size_t ended = words.blocks() - count.free - count.claimed - count.broken;
  if (ended != ended_) master_.has_worked();
  ended_ = ended;
  return count;
}

void TeamRun::close(Closed why) {
  if (closed_ == Closed::no) closed_ = why;
  table().close(number_,
                [&](std::size_t block) { closed_indices_ += job_.range_of(block).size(); });
}

sync::Deadline TeamRun::next_look() const noexcept {
  const sync::Deadline late = closed_ == Closed::no ? until_.deadline() : sync::no_deadline;
  return std::min({late, master_.next_look(true), pace_at_});
}

// ---- The end -----------------------------------------------------------------------------------

Tally TeamRun::settle() const {
  Tally tally{.accepted = job_.count};
  for (std::size_t block = 0; block < job_.blocks(); ++block) {
    const std::size_t size = job_.range_of(block).size();
    const bool done = look_at(block).state == ClaimState::done;
    (done ? tally.done : tally.failed) += size;
  }
  // What was closed before it began has not failed.
  tally.failed -= closed_indices_;
  (closed_ == Closed::late ? tally.expired : tally.cancelled) += closed_indices_;
  tally.first_failure = first_failure();
  return tally;
}

std::exception_ptr TeamRun::first_failure() const {
  if (closed_ == Closed::no_workers) return std::make_exception_ptr(master_.why_given_up());
  if (!lost_.empty()) {
    const LostWork& first = lost_.front();
    return std::make_exception_ptr(WorkFailed(
        "ProcessTeam: indices from " + std::to_string(first.indices.first) + " to below " +
            std::to_string(first.indices.last) + " were given up, their worker " + first.end.text(),
        first));
  }
  for (std::uint32_t slot = 0; slot < master_.width(); ++slot) {
    char text[WorkerSlot::most_text];
    if (!arena_.slot(slot).said(number_, text)) continue;
    return std::make_exception_ptr(WorkFailed(text));
  }
  return nullptr;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
