// SPDX-License-Identifier: MIT
//
// The members of a ThreadTeam and the gate between runs. Proof: docs/design/thread_team.md.
//
// A run is: the caller writes the job, opens the gate, wakes members, claims blocks like everyone,
// closes the gate, and waits until nobody is inside. A member enters only through an open gate, so
// one that wakes late finds it closed and touches nothing: the caller never waits for a sleeper.
//
// Invariants
//   I1  The job is written only while the gate is closed and nobody is inside.
//   I2  Members read the job only while inside.
//   I3  A member enters each run at most once (it remembers the run's number).
//
// Members beyond the CPUs are called only into a run that stands still: the first of them, the
// watcher, naps while the run goes on and looks whether blocks are still claimed.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <handoff/core/detail/block_claims.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/cpu_budget.hpp>
#include <handoff/sync/detail/cell.hpp>
#include <handoff/sync/detail/thread.hpp>
#include <handoff/sync/detail/thread_slot.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/team/thread_team.hpp>
#include <system_error>
#include <utility>

namespace handoff { inline namespace HANDOFF_ABI {
namespace {

using sync::order;

// One word: how many members are inside (low bits), whether the gate is open, and the number of
// the run (high half), so that entering is one compare-and-swap that also proves the run's number.
class Gate {
 public:
  Gate() noexcept : word_(0) {}

  static bool is_open(std::uint64_t word) noexcept { return (word & kOpen) != 0; }
  static std::uint32_t run_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> 32);
  }

  // By the caller, while closed and empty: a plain store, since nobody else can change it.
  void open() noexcept {
    // order: relaxed, only the callers write it here, one after another under run_mutex_.
    const std::uint64_t before = word_.load(order::relaxed);
    // order: release pairs with the acquire in enter(): publishes the job.
    word_.store(((before >> 32) + 1) << 32 | kOpen, order::release);
  }

  bool may_enter(std::uint32_t last_run) const noexcept {
    // order: relaxed, a look; enter() decides.
    const std::uint64_t word = word_.load(order::relaxed);
    return is_open(word) && run_of(word) != last_run;
  }

  // True if now inside; then `last_run` is the number of this run.
  bool enter(std::uint32_t& last_run) noexcept {
    std::uint64_t word = word_.load(order::relaxed);  // order: relaxed, the exchange checks it
    while (is_open(word) && run_of(word) != last_run) {
      const std::uint32_t run = run_of(word);
      // order: acquire pairs with the release in open(); relaxed on failure, tried again.
      if (word_.compare_exchange_weak(word, word + 1, order::acquire, order::relaxed)) {
        last_run = run;
        return true;
      }
    }
    return false;
  }

  // True if the gate is closed and this was the last one inside: the caller may be waiting.
  bool leave() noexcept {
    // order: release pairs with the acquire in is_empty(): publishes what the blocks did.
    const std::uint64_t before = word_.fetch_sub(1, order::release);
    return !is_open(before) && inside(before) == 1;
  }

  void close() noexcept {
    // order: relaxed, closes only; is_empty() does the acquiring.
    word_.fetch_and(~kOpen, order::relaxed);
  }

  bool is_empty() const noexcept {
    // order: acquire pairs with the release in leave().
    return inside(word_.load(order::acquire)) == 0;
  }

 private:
  static constexpr std::uint64_t kOpen = 1ULL << 31;
  static std::uint64_t inside(std::uint64_t word) noexcept { return word & (kOpen - 1); }

  sync::atomic<std::uint64_t> word_;
};

// Looks whether it is ready, if `spin` allows: for as long as a sleep and a wake-up cost (Backoff),
// then for a quarter of what the thread has worked since `began`. A run's members seldom end at the
// same moment, and a CPU that has gone idle may take 50 microseconds to come back: with runs of two
// milliseconds (a matrix product, n = 512) this made the team 10 % faster. It costs at most a
// quarter of the work.
template <class Ready>
void look_for(const Ready& ready, sync::Deadline began, sync::Spin spin) noexcept {
  if (spin == sync::Spin::never) return;
  for (sync::Backoff backoff; backoff.snooze();) {
    if (ready()) return;
  }
  const sync::Deadline now = sync::clock::now();
  const sync::Deadline until = now + (now - began) / 4;
  for (sync::Backoff backoff; !ready() && sync::clock::now() < until;) {
    backoff.snooze_on();
  }
}

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
  const Tally& tally() const noexcept { return tally_; }
  Tally run(std::size_t count, BlockCall call, const void* work, const RunOptions& options);

 private:
  // What all members need to know of a run; see I1 and I2.
  struct Job {
    BlockCall call = nullptr;
    const void* work = nullptr;
    const RunOptions* options = nullptr;
    const Nesting* nesting = nullptr;
  };

  void start(const ThreadTeamOptions& options, std::size_t width);
  void quit() noexcept;
  // Which member a thread is: who runs at the same moment as the caller, the first of those
  // beyond the CPUs, or one of the rest.
  enum class Role : std::uint8_t { has_cpu, watcher, beyond };
  Role role_of(std::size_t started) const noexcept;

  void serve(Role role) noexcept;
  void wake_members() noexcept;
  void work_inside(Role role) noexcept;
  bool watch(std::uint32_t last_run) noexcept;
  bool nap() noexcept;
  bool is_quitting() const noexcept;
  bool give_up(const RunOptions& options) noexcept;
  bool run_block(IndexRange block) noexcept;
  void keep_first_failure() noexcept;
  const Tally& settle(std::size_t count) noexcept;

  sync::Mutex run_mutex_;  // one run at a time
  sync::cell<Job> job_;
  Tally tally_;
  std::size_t with_cpu_ = 1;  // members, with the caller, that can run at the same moment
  std::vector<sync::Thread> threads_;

  sync::Mutex failure_mutex_;
  std::exception_ptr first_failure_;

  alignas(sync::destructive_span) Gate gate_;
  sync::atomic<bool> quitting_{false};
  std::array<sync::EventCount, 3> idle_;  // members between runs, by role
  sync::EventCount nap_;  // the watcher during a run
  sync::EventCount empty_;  // the caller, for the last member inside

  alignas(sync::destructive_span) BlockClaims claims_;

  // Where the last block began that a member with a CPU claimed, or that none is left: while it
  // moves, the run goes on. All that the watcher may look at, who is outside.
  static constexpr std::size_t kNoneLeft = SIZE_MAX;
  alignas(sync::destructive_span) sync::atomic<std::size_t> pulse_{0};

  // Added to once per member and run.
  alignas(sync::destructive_span) sync::atomic<std::uint64_t> done_{0};
  sync::atomic<std::uint64_t> failed_{0};
  sync::atomic<std::uint64_t> cancelled_{0};
  sync::atomic<std::uint64_t> expired_{0};
};

ThreadTeam::Members::Members(const ThreadTeamOptions& options) {
  const std::size_t cpus = sync::cpu_budget().width();
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
  threads_.reserve(width - 1);
  for (std::size_t i = 0; i + 1 < width; ++i) {
    sync::ThreadOptions thread{.name = options.name};
    if (!options.cpus.empty()) thread.cpu = options.cpus[i % options.cpus.size()];
    try {
      threads_.emplace_back(thread, [this, role = role_of(i)]() noexcept { serve(role); });
    } catch (const std::system_error&) {
      // No more threads to be had now. The caller alone could do all the work, so fewer members
      // are a slower team, not a broken one; width() tells.
      return;
    }
  }
}

// The caller has the first CPU.
ThreadTeam::Members::Role ThreadTeam::Members::role_of(std::size_t started) const noexcept {
  const std::size_t member = started + 1;
  if (member < with_cpu_) return Role::has_cpu;
  return member == with_cpu_ ? Role::watcher : Role::beyond;
}

ThreadTeam::Members::~Members() {
  if (is_inside(this)) misuse("ThreadTeam: destroyed from inside one of its own blocks");
  quit();
}

void ThreadTeam::Members::quit() noexcept {
  quitting_.store(true, order::relaxed);  // order: relaxed, carried by the notifications
  for (sync::EventCount& idle : idle_) idle.notify_all();
  nap_.notify_all();
  threads_.clear();  // joins
}

bool ThreadTeam::Members::is_quitting() const noexcept {
  return quitting_.load(order::relaxed);  // order: relaxed, nothing else comes with it
}

// The life of a started member.
void ThreadTeam::Members::serve(Role role) noexcept {
  sync::EventCount& idle = idle_[static_cast<std::size_t>(role)];
  const sync::Spin spin = role == Role::has_cpu ? sync::spin_policy() : sync::Spin::never;
  std::uint32_t last_run = 0;
  const auto ready = [&]() noexcept { return is_quitting() || gate_.may_enter(last_run); };
  for (sync::Deadline began = sync::clock::now();;) {
    look_for(ready, began, spin);
    (void)idle.await(ready, sync::no_deadline, {}, sync::Spin::never);
    if (is_quitting()) return;
    began = sync::clock::now();
    if (role == Role::watcher && !watch(last_run)) continue;
    if (!gate_.enter(last_run)) continue;
    work_inside(role);
    if (gate_.leave()) empty_.notify_one();
  }
}

// Claims and runs blocks until none is left. The caller and the members come here alike.
void ThreadTeam::Members::work_inside(Role role) noexcept {
  const Inside inside(*job_.read().nesting);
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  const bool is_watched = role == Role::has_cpu && width() > with_cpu_;
  while (!give_up(*job_.read().options)) {
    const IndexRange block = claims_.claim();
    if (block.empty()) {
      if (is_watched) pulse_.store(kNoneLeft, order::relaxed);  // order: relaxed, a hint
      break;
    }
    if (is_watched) pulse_.store(block.first, order::relaxed);  // order: relaxed, a hint
    (run_block(block) ? done : failed) += block.size();
  }
  // order: relaxed, published by gate_.leave() or read by the same thread.
  if (done != 0) done_.fetch_add(done, order::relaxed);
  if (failed != 0) failed_.fetch_add(failed, order::relaxed);  // order: relaxed, as above
}

// Naps until the run is over (false), or stands still while all other members were called (true):
// no member that has a CPU claimed a block during a nap, so they wait for something, or their
// blocks are long enough that company costs nothing against them. Calls twice as many each time.
bool ThreadTeam::Members::watch(std::uint32_t last_run) noexcept {
  sync::EventCount& others = idle_[static_cast<std::size_t>(Role::beyond)];
  std::uint32_t calls = 1;
  // order: relaxed, here and below: a stale look costs one nap.
  std::size_t before = pulse_.load(order::relaxed);
  while (nap() && gate_.may_enter(last_run)) {
    const std::size_t now = pulse_.load(order::relaxed);  // order: relaxed, as above
    if (std::exchange(before, now) != now || now == kNoneLeft) {
      calls = 1;
    } else if (others.was_waiting() == 0) {
      return true;
    } else {
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
                   sync::Spin::never);
  return !is_quitting();
}

// True if the run has to end; whoever finds out first accounts for all that is left.
bool ThreadTeam::Members::give_up(const RunOptions& options) noexcept {
  if (options.stop.stop_requested()) {
    cancelled_.fetch_add(claims_.close(), order::relaxed);  // order: relaxed, as in work_inside()
    return true;
  }
  if (options.deadline != sync::no_deadline && sync::clock::now() >= options.deadline) {
    expired_.fetch_add(claims_.close(), order::relaxed);  // order: relaxed, as in work_inside()
    return true;
  }
  return false;
}

bool ThreadTeam::Members::run_block(IndexRange block) noexcept {
  try {
    const Job& job = job_.read();
    job.call(job.work, block);
    return true;
  } catch (...) {
    keep_first_failure();
    return false;
  }
}

void ThreadTeam::Members::keep_first_failure() noexcept {
  const sync::Lock lock(failure_mutex_);
  if (!first_failure_) first_failure_ = std::current_exception();
}

Tally ThreadTeam::Members::run(std::size_t count, BlockCall call, const void* work,
                               const RunOptions& options) {
  if (is_inside(this)) misuse("ThreadTeam: run() from inside one of its own blocks");
  const sync::Lock lock(run_mutex_);
  const Nesting nesting{this, innermost()};
  const sync::Deadline began = sync::clock::now();
  job_.write() = {call, work, &options, &nesting};
  claims_.open(count, width(), options.block);
  gate_.open();
  wake_members();
  work_inside(Role::has_cpu);
  gate_.close();
  const sync::Spin spin = width() > with_cpu_ ? sync::Spin::never : sync::spin_policy();
  const auto empty = [&]() noexcept { return gate_.is_empty(); };
  look_for(empty, began, spin);
  (void)empty_.await(empty, sync::no_deadline, {}, sync::Spin::never);
  return settle(count);  // copied before the lock goes: the next caller writes tally_ anew
}

// As many as can get a block and have a CPU, and the watcher, who calls the others if need be.
void ThreadTeam::Members::wake_members() noexcept {
  const auto idle = [this](Role role) -> sync::EventCount& {
    return idle_[static_cast<std::size_t>(role)];
  };
  const std::size_t useful = std::min(with_cpu_, claims_.most_blocks());
  if (useful > 1) idle(Role::has_cpu).notify_some(static_cast<std::uint32_t>(useful - 1));
  if (width() > with_cpu_ && claims_.most_blocks() > with_cpu_) idle(Role::watcher).notify_one();
}

// Nobody is inside any more: turns the counters into the Tally.
const Tally& ThreadTeam::Members::settle(std::size_t count) noexcept {
  tally_ = {};
  tally_.accepted = count;
  // order: relaxed, all of them: the members left through the gate before.
  tally_.done = done_.exchange(0, order::relaxed);
  tally_.failed = failed_.exchange(0, order::relaxed);  // order: relaxed, as above
  tally_.cancelled = cancelled_.exchange(0, order::relaxed);  // order: relaxed, as above
  tally_.expired = expired_.exchange(0, order::relaxed);  // order: relaxed, as above
  tally_.first_failure = std::exchange(first_failure_, nullptr);
  return tally_;
}

ThreadTeam::ThreadTeam(ThreadTeamOptions options) : members_(std::make_unique<Members>(options)) {}
ThreadTeam::~ThreadTeam() = default;
ThreadTeam::ThreadTeam(ThreadTeam&&) noexcept = default;
ThreadTeam& ThreadTeam::operator=(ThreadTeam&&) noexcept = default;

std::size_t ThreadTeam::width() const noexcept { return members_->width(); }
const Tally& ThreadTeam::tally() const noexcept { return members_->tally(); }

Tally ThreadTeam::run_blocks(std::size_t count, BlockCall call, const void* work,
                             const RunOptions& options) {
  Tally tally = members_->run(count, call, work, options);
  if (tally.first_failure) std::rethrow_exception(std::move(tally.first_failure));
  return tally;
}

}}  // namespace handoff::HANDOFF_ABI
