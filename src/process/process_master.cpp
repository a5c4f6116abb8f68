// SPDX-License-Identifier: MIT
#include "process_master.hpp"

#include <errno.h>

#include <algorithm>

#include "../core/internal/call_failed.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

using namespace std::chrono_literals;

// How long work waits for a worker while each start is refused.
constexpr std::chrono::milliseconds kWorkerPatience = 500ms;
// How long the master waits after a refused start, with work and without.
constexpr std::chrono::milliseconds kStartPause = 10ms;
constexpr std::chrono::milliseconds kIdleStartPause = 1s;
// How long it waits for workers that were killed; one that the system holds back may never end.
constexpr std::chrono::seconds kEndPatience = 5s;
// How many workers may end, before they have claimed anything, until it gives up.
constexpr std::size_t kMostIdleDeaths = 100;

// How often a limit is looked at.
std::chrono::nanoseconds pause_for(std::chrono::nanoseconds limit) noexcept {
  return std::max<std::chrono::nanoseconds>(limit / 4, 100us);
}

}  // namespace

ProcessMaster::ProcessMaster(const ProcessTeamOptions& options, WorkerLife& life, std::size_t words,
                             int memory)
    : TeamCrew(options, life, words, memory),
      limit_(options.limit),
      now_(sync::clock::now()),
      watched_(limit_ > 0ns ? words : 0),
      watched_at_(now_) {
  wait(now_);  // has all the memory that it will need
}

bool ProcessMaster::begin_work() {
  now_ = watched_at_ = idle_since_ = sync::clock::now();
  wait(now_);
  deaths_.clear();  // of those that died before
  none_since_ = sync::no_deadline;
  idle_deaths_ = 0;
  begin_run();
  given_up_ = start_error_ = refill();
  return alive() != 0 || start_error_ == 0;
}

void ProcessMaster::attend(Work& work) {
  now_ = sync::clock::now();
  bury(work);
  work.look();
  if (limit_ > 0ns) look_at_limit(work);
  replace(work);
}

void ProcessMaster::bury(Work& work) {
  if (deaths_.empty()) return;
  for (const Death& death : deaths_) idle_deaths_ += work.bury(death) ? 0 : 1;
  work.all_buried();
  deaths_.clear();
}

void ProcessMaster::has_worked() noexcept {
  idle_deaths_ = 0;
  is_weary_ = false;
  idle_since_ = sync::no_deadline;
}

// ---- The limit ---------------------------------------------------------------------------------

// Kills the workers that have been at one word for too long, by the clock of this process; and all,
// if words are free and nobody has been at any for as long: they are stopped.
void ProcessMaster::look_at_limit(Work& work) {
  if (!work.is_there()) idle_since_ = sync::no_deadline;
  if (now_ - watched_at_ < pause_for(limit_)) return;
  watched_at_ = now_;
  has_free_ = is_worked_at_ = false;
  work.show_claims();
  if (is_worked_at_ || !has_free_ || alive() == 0) {
    idle_since_ = sync::no_deadline;
  } else if (idle_since_ == sync::no_deadline) {
    idle_since_ = now_;
  } else if (now_ - idle_since_ >= limit_) {
    for (std::uint32_t slot = 0; slot < width(); ++slot) kill(slot, true);
    idle_since_ = sync::no_deadline;
  }
}

void ProcessMaster::see(std::size_t at, const Claim& claim) noexcept {
  has_free_ = has_free_ || claim.state == ClaimState::free;
  if (claim.state != ClaimState::claimed) return;
  is_worked_at_ = true;
  Watched& watched = watched_[at];
  if (watched.word != claim.word()) {
    watched = {claim.word(), now_};
  } else if (now_ - watched.since >= limit_) {
    kill(claim.slot, true);
  }
}

sync::Deadline ProcessMaster::limit_look() const noexcept {
  return limit_ > 0ns ? sync::deadline_after(pause_for(limit_)) : sync::no_deadline;
}

// ---- Workers -----------------------------------------------------------------------------------

void ProcessMaster::replace(Work& work) {
  if (alive() == width()) {
    start_error_ = 0;
  } else if (!is_weary_ || work.is_there()) {
    start_error_ = refill();
  }
  if (alive() != 0) {
    none_since_ = sync::no_deadline;
  } else if (none_since_ == sync::no_deadline) {
    none_since_ = now_;
  } else if (start_error_ != 0 && now_ - none_since_ > kWorkerPatience) {
    given_up_ = start_error_;
    work.give_up();
  }
  if (idle_deaths_ > kMostIdleDeaths + width()) {
    given_up_ = 0;
    work.give_up();
    idle_deaths_ = 0;
    is_weary_ = true;
  }
}

bool ProcessMaster::end_all() {
  for (std::uint32_t slot = 0; slot < width(); ++slot) kill(slot, false);
  const sync::Deadline late = sync::deadline_after(kEndPatience);
  while (alive() != 0 && sync::clock::now() < late) wait(late);
  given_up_ = 0;
  return alive() == 0;
}

sync::Deadline ProcessMaster::next_look(bool has_work) const noexcept {
  sync::Deadline next = sync::no_deadline;
  if (has_work && limit_ > 0ns) next = watched_at_ + pause_for(limit_);
  if (alive() == width() || (is_weary_ && !has_work)) return next;
  sync::Deadline refilled = next_refill();
  if (start_error_ != 0) {  // not again and again
    refilled = std::max(refilled, now_ + (has_work ? kStartPause : kIdleStartPause));
  }
  return std::min(next, refilled);
}

std::system_error ProcessMaster::why_given_up() const {
  return given_up_ != 0 ? refusal(given_up_) : call_failed(ECHILD, kAllWorkersEnd);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
