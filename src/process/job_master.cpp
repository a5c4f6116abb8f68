// SPDX-License-Identifier: MIT
#include "job_master.hpp"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <handoff/core/detail/attempt.hpp>
#include <handoff/core/detail/limited.hpp>
#include <handoff/core/detail/outcome.hpp>
#include <handoff/core/detail/status_of.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/probe/detail/hook.hpp>
#include <handoff/probe/detail/slice.hpp>
#include <string>
#include <utility>

#include "../core/call_failed.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

using namespace std::chrono_literals;

// How long jobs wait for a worker while each start is refused.
constexpr std::chrono::milliseconds kWorkerPatience = 500ms;
// How long the pool waits after a refused start, with jobs and without.
constexpr std::chrono::milliseconds kStartPause = 10ms;
constexpr std::chrono::milliseconds kIdleStartPause = 1s;
// So often workers may end before they have claimed anything.
constexpr std::size_t kMostEndsInARow = 100;

ProcessTeamOptions crew_options_of(const ProcessPoolOptions& options) {
  return {.name = options.name,
          .width = options.width,
          .cpus = options.cpus,
          .replacements_per_second = options.replacements_per_second,
          .on_fewer = options.on_fewer,
          .tap = options.tap};
}

void wake_the_crew(void* crew) noexcept { static_cast<TeamCrew*>(crew)->wake(); }

// How often a limit is looked at.
std::chrono::nanoseconds pause_for(std::chrono::nanoseconds limit) noexcept {
  return std::max<std::chrono::nanoseconds>(limit / 4, 100us);
}

}  // namespace

JobMaster::JobMaster(const ProcessPoolOptions& options)
    : options_(options),
      owner_(::getpid()),
      life_(options_),
      thread_("handoff-jobs"),
      crew_(crew_options_of(options_), options_.width, life_),
      entries_(options_.capacity),
      now_(sync::clock::now()),
      watched_at_(now_),
      idle_since_(now_) {
  free_.reserve(entries_.size());
  for (std::size_t place = entries_.size(); place-- > 0;) {
    free_.push_back(static_cast<std::uint32_t>(place));
  }
  crew_.wait(now_, deaths_);  // has all the memory that the thread will need
  thread_.begin([](void* self) noexcept { static_cast<JobMaster*>(self)->dispatch(); }, this);
}

JobMaster::~JobMaster() {
  (void)close(Closing::finish);
  {
    const sync::Lock lock(mutex_);
    is_ending_ = true;
  }
  crew_.wake();
  thread_.join();
}

// ---- Any thread --------------------------------------------------------------------------------

Tally JobMaster::tally() const {
  const sync::Lock lock(mutex_);
  return tally_;
}

bool JobMaster::has_jobs() const noexcept {
  const sync::Lock lock(mutex_);
  return tally_.pending != 0;
}

bool JobMaster::is_here() const noexcept {
  const sync::Lock lock(mutex_);
  return dispatcher_ == sync::this_thread_id();
}

Status JobMaster::try_reserve(std::uint32_t& place) noexcept {
  const sync::Lock lock(mutex_);
  if (closing_) return Status::closed;
  if (free_.empty()) return Status::full;
  place = free_.back();
  free_.pop_back();
  ++tally_.accepted;
  ++tally_.pending;
  return Status::ok;
}

Status JobMaster::reserve(JobCall call, const ProcessJobOptions& options, bool may_wait,
                          std::uint32_t& place) {
  if (!code_.has(std::bit_cast<std::uintptr_t>(call))) {
    raise(call_failed(ENOENT,
                      "ProcessPool: the kernel's code was loaded after the pool was made: load it "
                      "first"));
  }
  Status said = try_reserve(place);
  const bool sleeps = may_wait && options_.on_full == OnFull::wait && !is_here();
  if (said != Status::full || !sleeps) return said;
  const sync::Wakeup why = room_.await(
      [&]() noexcept {
        said = try_reserve(place);
        return said != Status::full;
      },
      options.until.deadline(), options.until.stop_token(), sync::spin_policy(), "full");
  return why == sync::Wakeup::notified ? said : status_of(why);
}

void JobMaster::publish(std::uint32_t place, ProcessJob& job, JobCall call, const void* arguments,
                        std::size_t bytes, const ProcessJobOptions& options) noexcept {
  probe::hand_over(probe::Kind::process, &job);
  JobPlace& room = life_.arena().place(place);
  room.call = std::bit_cast<std::uintptr_t>(call);
  room.deadline = options.until.deadline();
  std::memcpy(room.arguments, arguments, bytes);
  sync::Deadline next_look = room.deadline;
  if (options_.limit > 0ns) {
    next_look = std::min(next_look, sync::deadline_after(pause_for(options_.limit)));
  }
  bool must_wake = false;
  {
    const sync::Lock lock(mutex_);
    Entry& entry = entries_[place];
    entry.job = &job;
    entry.number = ++number_;
    entry.until = options.until;
    if (const sync::StopToken& stop = entry.until.stop_token(); stop.stop_possible()) {
      entry.on_stop.emplace(stop, &wake_the_crew, &crew_);
    }
    const Outcome why = whether_to_begin(options.until);
    if (why == Outcome::done) {
      JobBoard::open(life_.arena().words(), place, entry.number);
      must_wake = wants_jobs_ || closing_ || next_look < wakes_at_;
    } else {
      entry.never_open = why == Outcome::expired ? Ending::expired : Ending::cancelled;
      must_wake = true;
    }
  }
  life_.arena().board().ring();
  if (must_wake) crew_.wake();
}

Status JobMaster::wait(const Until& until) {
  if (is_here()) misuse("ProcessPool: wait() by what follows a job, which holds up all of them");
  return status_of(
      idle_.await([this]() noexcept { return !has_jobs(); }, until.deadline(), until.stop_token()));
}

Tally JobMaster::close(const Closing& closing) {
  if (is_here()) misuse("ProcessPool: close() by what follows a job, which holds up all of them");
  {
    const sync::Lock lock(mutex_);
    if (!closing_) closing_ = closing;
  }
  room_.notify_all();
  crew_.wake();
  (void)idle_.await([this]() noexcept { return !has_jobs(); });
  return tally();
}

// ---- The thread: ends --------------------------------------------------------------------------

void JobMaster::Entry::clear() noexcept {
  job = nullptr;
  on_stop.reset();
  until = {};
  never_open = Ending::none;
  deaths = 0;
  end = {};
  is_mended = false;
}

void JobMaster::dispatch() noexcept {
  {
    const sync::Lock lock(mutex_);
    dispatcher_ = sync::this_thread_id();
  }
  for (;;) {
    now_ = sync::clock::now();
    bury();
    look();
    look_at_limit();
    refill();
    if (!plan()) return;
    crew_.wait(wakes_at_, deaths_);
  }
}

// What the dead had is given to others, or given up.
void JobMaster::bury() noexcept {
  for (const TeamCrew::Death& death : deaths_) {
    bool had_job = false;
    {
      const sync::Lock lock(mutex_);
      for (std::size_t place = 0; place < entries_.size(); ++place) {
        Entry& entry = entries_[place];
        if (entry.job == nullptr) continue;
        // What is not to begin any more is not begun again.
        const bool may_begin = why_not_begin(entry) == Ending::none;
        const std::uint32_t tries = may_begin ? options_.tries : 0;
        word(place).give_back(entry.number, death.slot, tries, [&](std::size_t, bool) {
          had_job = true;
          ++entry.deaths;
          entry.end = death.end;
        });
      }
    }
    const bool was_to_end = life_.arena().slot(death.slot).take_retired();
    if (had_job) continue;
    if (was_to_end) {
      refused_ = crew_.restart(death.slot);
    } else {
      ++idle_deaths_;
    }
  }
  if (!deaths_.empty()) life_.arena().board().ring();
  deaths_.clear();
}

void JobMaster::look() noexcept {
  must_ring_ = false;
  std::size_t place = take_ended(0);
  while (place != JobBoard::none) {
    settle();
    place = take_ended(place + 1);
  }
  if (must_ring_) life_.arena().board().ring();
}

// The next place whose job has ended, from there on: it is out of it, and is settle()'s.
std::size_t JobMaster::take_ended(std::size_t from) noexcept {
  const sync::Lock lock(mutex_);
  for (std::size_t place = from; place < entries_.size(); ++place) {
    Entry& entry = entries_[place];
    if (entry.job == nullptr) continue;
    ended_.how = ending_of(entry, place);
    if (ended_.how == Ending::none) continue;
    ended_.job = entry.job;
    ended_.deaths = entry.deaths;
    ended_.end = entry.end;
    if (ended_.how == Ending::done || ended_.how == Ending::threw) {
      // Once: a worker may be mad, and change it.
      std::memcpy(ended_.bytes.data(), life_.arena().place(place).result, ended_.bytes.size());
    }
    entry.clear();
    free_.push_back(static_cast<std::uint32_t>(place));
    return place;
  }
  return JobBoard::none;
}

JobMaster::Ending JobMaster::ending_of(Entry& entry, std::size_t place) noexcept {
  if (entry.never_open != Ending::none) return entry.never_open;
  ClaimTable table = word(place);
  switch (look_at(entry, place).state) {
    case ClaimState::claimed: return Ending::none;
    case ClaimState::done: return Ending::done;
    case ClaimState::failed:
      return life_.arena().place(place).is_late != 0 ? Ending::expired : Ending::threw;
    case ClaimState::closed: return Ending::died;  // by bury()
    case ClaimState::free: {
      const Ending why = why_not_begin(entry);
      if (why == Ending::none) return Ending::none;
      bool is_closed = false;  // if not, a worker was faster
      table.close(entry.number, [&](std::size_t) noexcept { is_closed = true; });
      if (!is_closed) return Ending::none;
      return entry.deaths != 0 && why != Ending::refused ? Ending::died : why;
    }
    case ClaimState::broken: break;
  }
  // Somebody writes over the words. Done again it may be right; but not for ever.
  table.mend(entry.number, 0);
  if (!std::exchange(entry.is_mended, true)) {
    must_ring_ = true;
    return Ending::none;
  }
  table.close(entry.number, [](std::size_t) noexcept {});
  return Ending::died;
}

JobMaster::Ending JobMaster::why_not_begin(const Entry& entry) const noexcept {
  if (refusal_.error != 0) return Ending::refused;
  if (entry.until.stop_token().stop_requested()) return Ending::cancelled;
  if (closing_ && !closing_->begins_more) return Ending::cancelled;
  if (entry.until.deadline() <= now_ || (closing_ && closing_->deadline <= now_))
    return Ending::expired;
  return Ending::none;
}

// Makes the result of the job that has ended ready, and counts it.
void JobMaster::settle() noexcept {
  room_.notify_one();
  ProcessJob& job = *ended_.job;
  const probe::Slice slice(probe::Kind::process, "result of a job", &job);
  const Ending how = ended_.how;
  if (how == Ending::done || how == Ending::threw) {
    idle_deaths_ = 0;
    is_weary_ = false;
    idle_since_ = now_;
  }
  std::exception_ptr error;
  switch (how) {
    case Ending::done: job.take_result(ended_.bytes.data()); break;
    case Ending::cancelled: job.take_drop(Status::stopped); break;
    case Ending::expired: job.take_drop(Status::timed_out); break;
    default:
      error = failure();
      job.take_error(error);
      break;
  }
  bool is_idle = false;
  {
    const sync::Lock lock(mutex_);
    switch (how) {
      case Ending::done: ++tally_.done; break;
      case Ending::cancelled: ++tally_.cancelled; break;
      case Ending::expired: ++tally_.expired; break;
      default:
        ++tally_.failed;
        if (tally_.first_failure == nullptr) tally_.first_failure = error;
        break;
    }
    is_idle = --tally_.pending == 0;
  }
  if (is_idle) idle_.notify_all();
}

std::exception_ptr JobMaster::failure() const noexcept {
  std::exception_ptr error;
  (void)attempt(
      [&] {
        if (ended_.how == Ending::threw) {
          const auto* const text = reinterpret_cast<const char*>(ended_.bytes.data());
          const std::string what(text, ::strnlen(text, ended_.bytes.size()));
          error = std::make_exception_ptr(WorkFailed(what));
        } else if (ended_.how == Ending::died) {
          const std::uint32_t deaths = ended_.deaths;
          error = std::make_exception_ptr(WorkFailed(
              "ProcessPool: a job was given up after " + std::to_string(deaths) +
                  (deaths == 1 ? " worker" : " workers") + ", the last " + ended_.end.text(),
              {.end = ended_.end, .attempts = deaths}));
        } else {
          error = std::make_exception_ptr(call_failed(refusal_.error, refusal_.what));
        }
      },
      [&]() noexcept { error = std::current_exception(); });
  return error;
}

// ---- The thread: workers -----------------------------------------------------------------------

// Kills the workers that have been at one job for too long, by the clock of this process; and all,
// if a job has waited for as long and nobody has been seen at any: they are stopped.
void JobMaster::look_at_limit() noexcept {
  if (options_.limit <= 0ns || now_ - watched_at_ < pause_for(options_.limit)) return;
  watched_at_ = now_;
  bool is_left = false;
  bool is_worked_at = false;
  const sync::Lock lock(mutex_);
  for (std::size_t place = 0; place < entries_.size(); ++place) {
    Entry& entry = entries_[place];
    if (entry.job == nullptr) continue;
    const Claim claim = look_at(entry, place);
    const bool is_claimed = claim.state == ClaimState::claimed;
    is_worked_at = is_worked_at || is_claimed;
    if (entry.watched != claim) {
      entry.watched = claim;
      entry.since = now_;
    } else if (now_ - entry.since >= options_.limit) {
      if (is_claimed) crew_.kill(claim.slot, true);
      is_left = is_left || claim.state == ClaimState::free;
    }
  }
  if (is_worked_at || crew_.alive() == 0) {
    idle_since_ = now_;
  } else if (is_left && now_ - idle_since_ >= options_.limit) {
    for (std::uint32_t slot = 0; slot < crew_.width(); ++slot) crew_.kill(slot, true);
    idle_since_ = now_;
  }
}

void JobMaster::refill() noexcept {
  if (crew_.alive() == crew_.width()) {
    refused_ = 0;
  } else if (has_jobs() || !is_weary_) {
    refused_ = crew_.refill();
  }
  if (crew_.alive() != 0) {
    none_since_ = sync::no_deadline;
  } else if (none_since_ == sync::no_deadline) {
    none_since_ = now_;
  } else if (refused_ != 0 && now_ - none_since_ > kWorkerPatience) {
    refuse_all(kNoWorker, refused_);
  }
  if (idle_deaths_ > kMostEndsInARow + crew_.width()) {
    refuse_all(kAllWorkersEnd, ECHILD);
    idle_deaths_ = 0;
    is_weary_ = true;
  }
}

void JobMaster::refuse_all(const char* what, int error) noexcept {
  refusal_ = {what, error};
  look();
  refusal_ = {};
}

// When the thread wakes by itself; false: it ends.
bool JobMaster::plan() noexcept {
  const sync::Lock lock(mutex_);
  if (is_ending_) return false;
  sync::Deadline next = sync::no_deadline;
  for (std::size_t place = 0; place < entries_.size(); ++place) {
    const Entry& entry = entries_[place];
    if (entry.job == nullptr) continue;
    if (options_.limit > 0ns) next = std::min(next, watched_at_ + pause_for(options_.limit));
    if (look_at(entry, place).state != ClaimState::free) continue;
    next = std::min(next, entry.until.deadline());
    if (closing_) next = std::min(next, closing_->deadline);
  }
  wants_jobs_ = crew_.alive() < crew_.width();
  const bool is_busy = tally_.pending != 0;
  if (wants_jobs_ && (is_busy || !is_weary_)) {
    sync::Deadline refilled = crew_.next_refill();
    if (refused_ != 0) {
      refilled = std::max(refilled, now_ + (is_busy ? kStartPause : kIdleStartPause));
    }
    next = std::min(next, refilled);
  }
  wakes_at_ = next;
  return true;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
