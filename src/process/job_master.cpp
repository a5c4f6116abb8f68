// SPDX-License-Identifier: MIT
#include "job_master.hpp"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/limited.hpp>
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/internal/status_of.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/probe/internal/hook.hpp>
#include <handoff/probe/internal/slice.hpp>
#include <string>
#include <utility>

#include "../core/internal/call_failed.hpp"
#include "../sync/internal/seen_sanitizer.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

ProcessTeamOptions crew_options_of(const ProcessPoolOptions& options) {
  return {.name = options.name,
          .width = options.width,
          .cpus = options.cpus,
          .limit = options.limit,
          .replacements_per_second = options.replacements_per_second,
          .on_fewer = options.on_fewer,
          .tap = options.tap};
}

void wake_the_master(void* master) noexcept { static_cast<ProcessMaster*>(master)->wake(); }

}  // namespace

JobMaster::JobMaster(const ProcessPoolOptions& options)
    : options_(options),
      owner_(::getpid()),
      life_(options_),
      thread_("handoff-jobs"),
      workers_(crew_options_of(options_), life_, options_.capacity),
      entries_(options_.capacity) {
  free_.reserve(entries_.size());
  for (std::size_t place = entries_.size(); place-- > 0;) {
    free_.push_back(static_cast<std::uint32_t>(place));
  }
  thread_.begin([](void* self) noexcept { static_cast<JobMaster*>(self)->dispatch(); }, this);
}

JobMaster::~JobMaster() {
  (void)close(Closing::finish);
  {
    const sync::SeenLock lock(mutex_);
    is_ending_ = true;
  }
  workers_.wake();
  thread_.join();
}

// ---- Any thread --------------------------------------------------------------------------------

Tally JobMaster::tally() const {
  const sync::SeenLock lock(mutex_);
  return tally_;
}

bool JobMaster::has_jobs() const noexcept {
  const sync::SeenLock lock(mutex_);
  return tally_.pending != 0;
}

bool JobMaster::is_here() const noexcept {
  const sync::SeenLock lock(mutex_);
  return dispatcher_ == sync::this_thread_id();
}

Status JobMaster::try_reserve(std::uint32_t& place) noexcept {
  const sync::SeenLock lock(mutex_);
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
  job.set_master(this);
  const sync::Deadline next_look = std::min(room.deadline, workers_.limit_look());
  bool must_wake = false;
  {
    const sync::SeenLock lock(mutex_);
    Entry& entry = entries_[place];
    entry.job = &job;
    entry.number = ++number_;
    entry.until = options.until;
    if (const sync::StopToken& stop = entry.until.stop_token(); stop.stop_possible()) {
      entry.on_stop.emplace(stop, &wake_the_master, &workers_);
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
  if (must_wake) workers_.wake();
}

void ProcessJob::set_master(JobMaster* master) noexcept {
  const sync::SeenLock lock(mutex_);
  master_ = master;
}

bool ProcessJob::stop() noexcept {
  const sync::SeenLock lock(mutex_);
  return master_ != nullptr && master_->stop(*this);
}

bool JobMaster::stop(const ProcessJob& job) noexcept {
  {
    const sync::SeenLock lock(mutex_);
    const auto its = [&job](const Entry& entry) noexcept { return entry.job == &job; };
    const auto entry = std::find_if(entries_.begin(), entries_.end(), its);
    if (entry == entries_.end() || std::exchange(entry->is_stopped, true)) return false;
  }
  workers_.wake();
  return true;
}

Status JobMaster::wait(const Until& until) {
  if (is_here()) misuse("ProcessPool: wait() by what follows a job, which holds up all of them");
  return status_of(
      idle_.await([this]() noexcept { return !has_jobs(); }, until.deadline(), until.stop_token()));
}

Tally JobMaster::close(const Closing& closing) {
  if (is_here()) misuse("ProcessPool: close() by what follows a job, which holds up all of them");
  {
    const sync::SeenLock lock(mutex_);
    if (!closing_) closing_ = closing;
  }
  room_.notify_all();
  workers_.wake();
  (void)idle_.await([this]() noexcept { return !has_jobs(); });
  return tally();
}

// ---- The thread: ends --------------------------------------------------------------------------

void JobMaster::Entry::clear() noexcept {
  job = nullptr;
  on_stop.reset();
  until = {};
  never_open = Ending::none;
  is_stopped = false;
  deaths = 0;
  end = {};
  is_mended = false;
}

void JobMaster::dispatch() noexcept {
  {
    const sync::SeenLock lock(mutex_);
    dispatcher_ = sync::this_thread_id();
  }
  for (;;) {
    workers_.attend(*this);
    if (!plan()) return;
    workers_.wait(wakes_at_);
  }
}

bool JobMaster::bury(const TeamCrew::Death& death) noexcept {
  bool had_job = false;
  {
    const sync::SeenLock lock(mutex_);
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
  if (was_to_end && !had_job) (void)workers_.start_worker(death.slot);
  return had_job || was_to_end;
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
  const sync::SeenLock lock(mutex_);
  if (!gives_up_ && from == 0) asked_for_ = number_;  // a look, which comes before the attempt
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
  // A job that came while a worker was asked for has one asked for first.
  if (gives_up_ && entry.number <= asked_for_) return Ending::refused;
  if (entry.is_stopped || entry.until.stop_token().stop_requested()) return Ending::cancelled;
  if (closing_ && !closing_->begins_more) return Ending::cancelled;
  const sync::Deadline now = workers_.now();
  if (entry.until.deadline() <= now || (closing_ && closing_->deadline <= now))
    return Ending::expired;
  return Ending::none;
}

// Makes the result of the job that has ended ready, and counts it.
void JobMaster::settle() noexcept {
  room_.notify_one();
  ProcessJob& job = *ended_.job;
  job.set_master(nullptr);
  const probe::Slice slice(probe::Kind::process, "result of a job", &job);
  const Ending how = ended_.how;
  if (how == Ending::done || how == Ending::threw) workers_.has_worked();
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
    const sync::SeenLock lock(mutex_);
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
          const std::string what(JobPlace::text_in(ended_.bytes));
          error = std::make_exception_ptr(WorkFailed(what));
        } else if (ended_.how == Ending::died) {
          const std::uint32_t deaths = ended_.deaths;
          error = std::make_exception_ptr(WorkFailed(
              "ProcessPool: a job was given up after " + std::to_string(deaths) +
                  (deaths == 1 ? " worker" : " workers") + ", the last " + ended_.end.text(),
              {.end = ended_.end, .attempts = deaths}));
        } else {
          error = std::make_exception_ptr(workers_.why_given_up());
        }
      },
      [&]() noexcept { error = std::current_exception(); });
  return error;
}

// ---- The thread: workers -----------------------------------------------------------------------

void JobMaster::show_claims() noexcept {
  const sync::SeenLock lock(mutex_);
  for (std::size_t place = 0; place < entries_.size(); ++place) {
    const Entry& entry = entries_[place];
    if (entry.job != nullptr) workers_.see(place, look_at(entry, place));
  }
}

void JobMaster::give_up() noexcept {
  gives_up_ = true;
  look();
  gives_up_ = false;
}

// When the thread wakes by itself; false: it ends.
bool JobMaster::plan() noexcept {
  const sync::SeenLock lock(mutex_);
  if (is_ending_) return false;
  const bool is_busy = tally_.pending != 0;
  sync::Deadline next = workers_.next_look(is_busy);
  for (std::size_t place = 0; place < entries_.size(); ++place) {
    const Entry& entry = entries_[place];
    if (entry.job == nullptr) continue;
    if (look_at(entry, place).state != ClaimState::free) continue;
    next = std::min(next, entry.until.deadline());
    if (closing_) next = std::min(next, closing_->deadline);
  }
  wants_jobs_ = workers_.alive() < workers_.width();
  wakes_at_ = next;
  return true;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
