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
#include <algorithm>
#include <exception>
#include <handoff/core/misuse.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/cpu_budget.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/thread.hpp>
#include <handoff/sync/thread_slot.hpp>
#include <handoff/team/block_claims.hpp>
#include <handoff/team/thread_team.hpp>
#include <system_error>
#include <utility>

namespace handoff::inline HANDOFF_ABI {
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
  void serve(bool has_cpu) noexcept;
  void wake_members() noexcept;
  void work_inside() noexcept;
  bool give_up(const RunOptions& options) noexcept;
  bool run_block(IndexRange block) noexcept;
  void keep_first_failure() noexcept;
  const Tally& settle(std::size_t count) noexcept;

  sync::Mutex run_mutex_;  // one run at a time
  Job job_;
  Tally tally_;
  std::size_t with_cpu_ = 1;  // members, with the caller, that can run at the same moment
  std::vector<sync::Thread> threads_;

  sync::Mutex failure_mutex_;
  std::exception_ptr first_failure_;

  alignas(sync::destructive_span) Gate gate_;
  sync::atomic<bool> quitting_{false};
  sync::EventCount idle_;         // members that have a CPU of their own
  sync::EventCount idle_beyond_;  // members beyond the CPUs
  sync::EventCount empty_;        // the caller, for the last member inside

  alignas(sync::destructive_span) BlockClaims claims_;

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
    const bool has_cpu = i + 1 < with_cpu_;
    try {
      threads_.emplace_back(thread, [this, has_cpu]() noexcept { serve(has_cpu); });
    } catch (const std::system_error&) {
      // No more threads to be had now. The caller alone could do all the work, so fewer members
      // are a slower team, not a broken one; width() tells.
      return;
    }
  }
}

ThreadTeam::Members::~Members() {
  if (is_inside(this)) misuse("ThreadTeam: destroyed from inside one of its own blocks");
  quit();
}

void ThreadTeam::Members::quit() noexcept {
  quitting_.store(true, order::relaxed);  // order: relaxed, carried by the notifications
  idle_.notify_all();
  idle_beyond_.notify_all();
  threads_.clear();  // joins
}

// The life of a started member.
void ThreadTeam::Members::serve(bool has_cpu) noexcept {
  sync::EventCount& idle = has_cpu ? idle_ : idle_beyond_;
  const sync::Spin spin = has_cpu ? sync::spin_policy() : sync::Spin::never;
  std::uint32_t last_run = 0;
  for (;;) {
    bool quitting = false;
    (void)idle.await(
        [&]() noexcept {
          // order: relaxed, nothing else comes with it.
          quitting = quitting_.load(order::relaxed);
          return quitting || gate_.may_enter(last_run);
        },
        sync::no_deadline, {}, spin);
    if (quitting) return;
    if (!gate_.enter(last_run)) continue;
    work_inside();
    if (gate_.leave()) empty_.notify_one();
  }
}

// Claims and runs blocks until none is left. The caller and the members come here alike.
void ThreadTeam::Members::work_inside() noexcept {
  const Inside inside(*job_.nesting);
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  const bool some_beyond = width() > with_cpu_;
  while (!give_up(*job_.options)) {
    const IndexRange block = claims_.claim();
    if (block.empty()) break;
    if (some_beyond && claims_.left()) idle_beyond_.notify_one();
    (run_block(block) ? done : failed) += block.size();
  }
  // order: relaxed, published by gate_.leave() or read by the same thread.
  if (done != 0) done_.fetch_add(done, order::relaxed);
  if (failed != 0) failed_.fetch_add(failed, order::relaxed);  // order: relaxed, as above
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
    job_.call(job_.work, block);
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
  job_ = {call, work, &options, &nesting};
  claims_.open(count, width(), options.block);
  gate_.open();
  wake_members();
  work_inside();
  gate_.close();
  const sync::Spin spin = width() > with_cpu_ ? sync::Spin::never : sync::spin_policy();
  (void)empty_.await([&]() noexcept { return gate_.is_empty(); }, sync::no_deadline, {}, spin);
  return settle(count);  // copied before the lock goes: the next caller writes tally_ anew
}

// As many as can get a block and have a CPU; those beyond are woken claim by claim.
void ThreadTeam::Members::wake_members() noexcept {
  const std::size_t useful = std::min(with_cpu_, claims_.most_blocks());
  if (useful > 1) idle_.notify_some(static_cast<std::uint32_t>(useful - 1));
}

// Nobody is inside any more: turns the counters into the Tally.
const Tally& ThreadTeam::Members::settle(std::size_t count) noexcept {
  tally_ = {};
  tally_.accepted = count;
  // order: relaxed, all of them: the members left through the gate before.
  tally_.done = done_.exchange(0, order::relaxed);
  tally_.failed = failed_.exchange(0, order::relaxed);        // order: relaxed, as above
  tally_.cancelled = cancelled_.exchange(0, order::relaxed);  // order: relaxed, as above
  tally_.expired = expired_.exchange(0, order::relaxed);      // order: relaxed, as above
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

}  // namespace handoff::inline HANDOFF_ABI
