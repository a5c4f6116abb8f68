// SPDX-License-Identifier: MIT
//
// The members of a ThreadTeam and the gate between runs. Proof: docs/design/thread_team.md.
//
// A run is: the caller writes the job, opens the gate, wakes members, claims blocks like everyone,
// closes the gate, and waits until nobody is inside. A member enters only through an open gate, so
// one that wakes late finds it closed and touches nothing: the caller never waits for a sleeper.
// A started run has no caller: a member that finds no block left closes the gate, and the last one
// out ends the run.
//
// Invariants
//   TT-1  Only the holder of the turn writes the job, and only while the gate is closed and nobody
//         is inside.
//   TT-2  Members read the job only while inside.
//   TT-3  A member enters each run at most once (it remembers the run's number).
//
// Members beyond the CPUs are called only into a run that stands still: the first of them, the
// watcher, naps while the run goes on and looks whether blocks are still claimed.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <handoff/core/internal/gate.hpp>
#include <handoff/core/internal/range_run.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/probe/internal/hook.hpp>
#include <handoff/probe/internal/slice.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/cpu_budget.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/fork.hpp>
#include <handoff/sync/internal/thread.hpp>
#include <handoff/sync/internal/thread_slot.hpp>
#include <handoff/sync/internal/work_patience.hpp>
#include <handoff/team/detail/turns.hpp>
#include <handoff/team/thread_team.hpp>
#include <system_error>
#include <utility>

#include "../sync/internal/seen_sanitizer.hpp"

namespace handoff { inline namespace HANDOFF_ABI {
namespace {

using detail::AtFailure;
using detail::Gate;
using detail::RangeRun;
using sync::order;

// The teams that wait for what this thread is doing, innermost first. The chain goes on from a
// member to the thread that called run(), whose stack it lies on.
struct Nesting {
  const void* team;
  const Nesting* outer;
};
struct NestingTag;
const Nesting*& innermost() noexcept {
  return sync::thread_slot<const Nesting*, NestingTag>::get();
}

bool is_inside(const void* team) noexcept {
  for (const Nesting* at = innermost(); at != nullptr; at = at->outer) {
    if (at->team == team) return true;
  }
  return false;
}

// This thread works for `nesting` for a scope.
class Inside {
 public:
  explicit Inside(const Nesting& nesting) noexcept
      : before_(std::exchange(innermost(), &nesting)) {}
  ~Inside() { innermost() = before_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  const Nesting* before_;
};

}  // namespace

class ThreadTeam::Members {
 public:
  explicit Members(const ThreadTeamOptions& options);
  ~Members();

  std::size_t width() const noexcept { return threads_.size() + 1; }
  Tally tally() const noexcept { return tally_; }
  Tally run(std::size_t count, BlockCall call, const void* work, const RunOptions& options,
            bool rest_left_out);
  Status start(std::size_t count, BulkWork& work, BulkStorage& storage, const RunOptions& options);

 private:
  // What all members need to know of a run; see TT-1 and TT-2.
  struct Job {
    BlockCall call = nullptr;
    const void* work = nullptr;
    const RunOptions* options = nullptr;
    const Nesting* nesting = nullptr;
    BulkStorage* started = nullptr;  // null: run() waits for it
  };

  void start(const ThreadTeamOptions& options, std::size_t width);
  void quit() noexcept;
  // Which member a thread is: one that runs at the same moment as the caller, the first of those
  // beyond the CPUs, or one of the rest.
  enum class Role : std::uint8_t { has_cpu, watcher, beyond };
  Role role_of(std::size_t member) const noexcept;

  void serve(std::size_t member) noexcept;
  void take_part(std::size_t member) noexcept;
  void prepare(std::size_t count, const Job& job,
               AtFailure at_failure = AtFailure::others_run) noexcept;
  void wake_members() noexcept;
  void work_inside(std::size_t member) noexcept;
  bool watch(std::uint32_t last_run) noexcept;
  bool nap() noexcept;
  bool is_quitting() const noexcept;
  void begin(BulkStorage* run) noexcept;
  void open_to_members() noexcept;
  void finish(BulkStorage& run) noexcept;
  BulkStorage* run_here(BulkStorage& run, const Nesting& nesting) noexcept;

  sync::EventCount& idle(Role role) noexcept { return idle_[static_cast<std::size_t>(role)]; }
  std::size_t threads_with_cpu() const noexcept { return std::min(with_cpu_, width()) - 1; }
  // equivalent(bound): a team of that width has no watcher
  bool has_watcher() const noexcept { return width() > with_cpu_; }
  bool has_beyond() const noexcept { return width() > with_cpu_ + 1; }

  const sync::Origin origin_ = sync::Origin::here();
  Turns turns_;  // one run at a time
  sync::cell<Job> job_;
  const Nesting nobody_waits_{this, nullptr};  // of all started runs
  Tally tally_;
  std::size_t with_cpu_ = 1;  // members, with the caller, that can run at the same moment
  std::vector<sync::Thread> threads_;

  alignas(sync::destructive_span) Gate gate_;
  sync::atomic<bool> quitting_{false};
  std::array<sync::EventCount, 3> idle_;  // members between runs, by role
  sync::EventCount nap_;  // the watcher during a run
  sync::EventCount empty_;  // the caller, for the last member inside

  alignas(sync::destructive_span) RangeRun run_;

  // Where the last block began that a member with a CPU claimed, or that none is left: while it
  // moves, the run goes on. All that the watcher may look at, which is outside.
  alignas(sync::destructive_span) sync::atomic<std::size_t> pulse_{0};
};

ThreadTeam::Members::Members(const ThreadTeamOptions& options) {
  const std::size_t cpus = sync::recent_cpu_budget().width();
  const std::size_t width = options.width == 0 ? cpus : options.width;
  if (width > max_width) misuse("ThreadTeam: a width above ThreadTeam::max_width was asked for");
  with_cpu_ = std::min(width, cpus);
  try {
    start(options, width);
  } catch (...) {
    quit();
    throw;
  }
}

void ThreadTeam::Members::start(const ThreadTeamOptions& options, std::size_t width) {
  // equivalent(delete): the vector grows by itself; if it cannot, the team is not made either way
  threads_.reserve(width - 1);
  for (std::size_t i = 0; i + 1 < width; ++i) {
    sync::ThreadOptions thread{.name = options.name};
    if (!options.cpus.empty()) thread.cpu = options.cpus[i % options.cpus.size()];
    try {
      threads_.emplace_back(thread, [this, member = i + 1]() noexcept { serve(member); });
    } catch (const std::system_error& error) {
      if (error.code() == std::errc::invalid_argument) throw;  // one of `cpus` that is none
      // No more threads to be had now. The caller alone could do all the work, so fewer members
      // are a slower team, not a broken one; width() tells.
      return;
    }
  }
}

// The caller, member 0, has the first CPU.
ThreadTeam::Members::Role ThreadTeam::Members::role_of(std::size_t member) const noexcept {
  if (member < with_cpu_) return Role::has_cpu;
  return member == with_cpu_ ? Role::watcher : Role::beyond;
}

// In a fork nobody is there to be waited for.
ThreadTeam::Members::~Members() {
  if (!origin_.is_here()) return;
  if (is_inside(this)) misuse("ThreadTeam: destroyed from inside one of its own blocks");
  // equivalent(swap): a run that comes between the two is queued, and passed on below
  turns_.close();
  turns_.await();
  while (BulkStorage* const run = turns_.pass_on()) {
    begin(run);  // equivalent(delete swap): nothing is queued where the turn was free (T1)
    turns_.await();  // equivalent(delete): nothing is queued where the turn was free (T1)
  }
  quit();
}

void ThreadTeam::Members::quit() noexcept {
  quitting_.store(true, order::relaxed);  // order: relaxed, carried by the notifications
  for (sync::EventCount& idle : idle_) idle.notify_all();
  // equivalent(drop_notify swap): the watcher's nap ends by itself after 200 microseconds
  nap_.notify_all();
  threads_.clear();  // joins
}

bool ThreadTeam::Members::is_quitting() const noexcept {
  return quitting_.load(order::relaxed);  // order: relaxed, nothing else comes with it
}

// The life of a started member.
void ThreadTeam::Members::serve(std::size_t member) noexcept {
  const Role role = role_of(member);
  const sync::Spin spin = role == Role::has_cpu ? sync::spin_policy() : sync::Spin::never;
  std::uint32_t last_run = 0;
  const auto ready = [&]() noexcept { return is_quitting() || gate_.may_enter(last_run); };
  for (sync::Deadline began = sync::clock::now();;) {
    sync::look_for_work(ready, began, spin);
    (void)idle(role).await(ready, sync::no_deadline, {}, sync::Spin::never, "idle");
    if (is_quitting()) return;
    began = sync::clock::now();
    if (role == Role::watcher && !watch(last_run)) continue;
    if (gate_.enter(last_run)) take_part(member);
  }
}

// Inside, and out again.
void ThreadTeam::Members::take_part(std::size_t member) noexcept {
  BulkStorage* const started = job_.read().started;
  work_inside(member);
  if (started != nullptr) gate_.close();
  if (!gate_.leave()) return;
  if (started != nullptr) {
    finish(*started);
  } else {
    empty_.notify_one();
  }
}

// Claims and runs blocks until none is left. The caller and the members come here alike.
void ThreadTeam::Members::work_inside(std::size_t member) noexcept {
  const Job& job = job_.read();
  const Inside inside(*job.nesting);
  // One beyond the CPUs has that of the caller where there is no caller.
  const bool is_watched =
      has_watcher() && (role_of(member) == Role::has_cpu || job.started != nullptr);
  const auto claimed = [this, is_watched](std::size_t first) noexcept {
    if (is_watched) pulse_.store(first, order::relaxed);  // order: relaxed, a hint
  };
  const probe::Slice slice(probe::Kind::loop, "share of a run", member != 0 ? this : nullptr);
  const auto block = [&job](IndexRange range) { job.call(job.work, range); };
  run_.work(member, block, job.options->until, claimed);
}

// Naps until the run is over (false), or stands still while all other members were called (true):
// no member that has a CPU claimed a block during a nap, so they wait for something, or their
// blocks are long enough that company costs nothing against them. Calls twice as many each time.
bool ThreadTeam::Members::watch(std::uint32_t last_run) noexcept {
  if (gate_.is_marked()) return true;  // there is nobody to call, and a CPU that no caller needs
  sync::EventCount& others = idle(Role::beyond);
  std::uint32_t calls = 1;
  // order: relaxed, here and below: a stale look costs one nap.
  std::size_t before = pulse_.load(order::relaxed);
  while (nap() && gate_.may_enter(last_run)) {
    const std::size_t now = pulse_.load(order::relaxed);  // order: relaxed, as above
    if (std::exchange(before, now) != now || now == RangeRun::none_left) {
      calls = 1;  // equivalent(delete) all: how many are called at a time: all, in the end
    } else if (others.was_waiting() == 0) {
      return true;
    } else {
      // equivalent(swap): how many are called at a time: all, in the end
      others.notify_some(calls);
      calls = std::min(2 * calls, static_cast<std::uint32_t>(max_width));
    }
  }
  return false;
}

// False if the team ends.
bool ThreadTeam::Members::nap() noexcept {
  // Long against a wake-up, so that watching costs a run little; short against what blocks that
  // wait are likely to wait for.
  constexpr std::chrono::microseconds length{200};
  (void)nap_.await([&]() noexcept { return is_quitting(); }, sync::deadline_after(length), {},
                   sync::Spin::never, "idle");
  return !is_quitting();
}

Tally ThreadTeam::Members::run(std::size_t count, BlockCall call, const void* work,
                               const RunOptions& options, bool rest_left_out) {
  if (is_inside(this)) misuse("ThreadTeam: run() from inside one of its own blocks");
  turns_.await();
  const Nesting nesting{this, innermost()};
  const sync::Deadline began = sync::clock::now();
  prepare(count, {.call = call, .work = work, .options = &options, .nesting = &nesting},
          rest_left_out ? AtFailure::rest_left_out : AtFailure::others_run);
  const probe::Slice slice(probe::Kind::loop, "run");
  probe::share_out(probe::Kind::loop, this);
  gate_.open();
  wake_members();
  work_inside(0);
  gate_.close();
  const sync::Spin spin = has_watcher() ? sync::Spin::never : sync::spin_policy();
  const auto empty = [&]() noexcept { return gate_.is_empty(); };
  sync::look_for_work(empty, began, spin);
  (void)empty_.await(empty, sync::no_deadline, {}, sync::Spin::never);
  tally_ = run_.settle();
  Tally tally = tally_;  // before the turn ends: the next caller writes tally_ anew
  sync::tell_given(sync::end_of(this));  // this thread's blocks, to the next run
  if (BulkStorage* const next = turns_.end()) [[unlikely]]
    begin(next);
  return tally;
}

void ThreadTeam::Members::prepare(std::size_t count, const Job& job,
                                  AtFailure at_failure) noexcept {
  job_.write() = job;  // equivalent(swap): both before the gate opens
  run_.open(count, width(), job.options->block, at_failure);
}

// As many as can get a block and have a CPU, and the watcher, which calls the others if need be.
void ThreadTeam::Members::wake_members() noexcept {
  const std::size_t useful = std::min(with_cpu_, run_.most_blocks());
  // equivalent(bound): notify_some(0) wakes nobody
  if (useful > 1) idle(Role::has_cpu).notify_some(static_cast<std::uint32_t>(useful - 1));
  // equivalent(bound): a watcher that is woken for nothing naps until the run is over
  if (has_watcher() && run_.most_blocks() > with_cpu_) idle(Role::watcher).notify_one();
}

// ---- Started runs -------------------------------------------------------------------------------

Status ThreadTeam::Members::start(std::size_t count, BulkWork& work, BulkStorage& storage,
                                  const RunOptions& options) {
  storage.count_ = count;
  storage.work_ = &work;  // equivalent(swap): both before the run is handed over
  storage.options_ = detail::keep_in(storage.stop_, options);
  switch (turns_.take_or_queue(storage)) {
    // equivalent(delete): the next step of the switch is its end
    case Turns::Answer::now: begin(&storage); break;
    case Turns::Answer::queued: break;
    case Turns::Answer::closed: return Status::closed;
  }
  return Status::ok;
}

// It is its turn. Where there are no threads this one does all the work before it passes on.
void ThreadTeam::Members::begin(BulkStorage* run) noexcept {
  const Nesting here{this, innermost()};
  while (run != nullptr) {
    prepare(run->count_, {.call = &detail::call_bulk_work,
                          .work = &run->work_,
                          .options = &run->options_,
                          .nesting = threads_.empty() ? &here : &nobody_waits_,
                          .started = run});
    if (!threads_.empty()) return open_to_members();
    run = run_here(*run, here);
  }
}

// The turn ends last, so that what the completion starts waits until this stack is free.
ThreadTeam::BulkStorage* ThreadTeam::Members::run_here(BulkStorage& run,
                                                       const Nesting& nesting) noexcept {
  work_inside(0);
  const Tally tally = run_.settle();
  {
    const Inside inside(nesting);
    run.work_->ended(tally);
  }
  return turns_.end();
}

// Wakes one at least, as none works yet; and one in the place of the caller: a member beyond the
// CPUs, or the watcher if there is no other. Which member to wake is found out before the gate
// opens: from then on the run is the members', and may be over.
void ThreadTeam::Members::open_to_members() noexcept {
  const std::size_t blocks = run_.most_blocks();
  const std::size_t useful = std::min(with_cpu_, std::max<std::size_t>(blocks, 1));
  const std::size_t threads = std::min(useful, threads_with_cpu());
  const bool one_more = useful > threads;
  const bool watcher_works = one_more && !has_beyond();
  probe::share_out(probe::Kind::loop, this);
  gate_.open(watcher_works);
  if (threads != 0) idle(Role::has_cpu).notify_some(static_cast<std::uint32_t>(threads));
  if (one_more && has_beyond()) idle(Role::beyond).notify_one();
  if (has_watcher() && (watcher_works || blocks > with_cpu_)) idle(Role::watcher).notify_one();
}

// The last member is out. The turn ends first: the others have the next run to do meanwhile.
void ThreadTeam::Members::finish(BulkStorage& run) noexcept {
  (void)gate_.is_empty();  // it is, and acquires what the others did
  const Tally tally = run_.settle();
  BulkWork& work = *run.work_;
  begin(turns_.end());
  const Inside inside(nobody_waits_);
  work.ended(tally);
}

ThreadTeam::ThreadTeam(const ThreadTeamOptions& options)
    : members_(std::make_unique<Members>(options)) {}
ThreadTeam::~ThreadTeam() = default;
ThreadTeam::ThreadTeam(ThreadTeam&&) noexcept = default;
ThreadTeam& ThreadTeam::operator=(ThreadTeam&&) noexcept = default;

std::size_t ThreadTeam::width() const noexcept { return members_->width(); }
Tally ThreadTeam::tally() const noexcept { return members_->tally(); }

Status ThreadTeam::start(std::size_t count, BulkWork& work, BulkStorage& storage,
                         const RunOptions& options) {
  return members_->start(count, work, storage, options);
}

Tally ThreadTeam::run_blocks(std::size_t count, BlockCall call, const void* work,
                             const RunOptions& options, bool rest_left_out) {
  Tally tally = members_->run(count, call, work, options, rest_left_out);
  if (tally.first_failure) std::rethrow_exception(std::move(tally.first_failure));
  return tally;
}

}}  // namespace handoff::HANDOFF_ABI
