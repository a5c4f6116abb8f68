// SPDX-License-Identifier: MIT
//
// The tasks of a TaskGroup, as its pool knows them: how many are unfinished, what went wrong, which
// group to help, which thread to tell. Not for users.
//
// Its owner hands over, waits and helps; workers count what they finished and say what they stole.
// The owner's own tasks are counted without an atomic; what crosses threads goes to elsewhere_.
//
// A group that many threads wait for (TaskGroupOptions::shared) has no owner: each of its tasks is
// counted in elsewhere_, and what is said of it stays, as any of them may come late. Its waiters
// sleep where those sleep that wait for the whole pool.
//
// A group that a task makes is a part of the group that waits for that task, and so are its tasks.
// A wait runs tasks of the group and of its parts, and nothing else.
//
// Invariants
//   TP-3  A task that waits for tasks it made can always run those that have not begun: they are in
//         its worker's deque, above the height at which it began.
//   TP-4  While a worker's `part_of` names a group, that worker runs a task of it that it took from
//         another worker, and all in its `spawned` is of that group or of parts of it.
//
// Concurrency: as TaskGroup, whose inside this is; the workers' side by the worker that has a task
//   of it.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/unique_function.hpp>
#include <handoff/core/until.hpp>
#include <handoff/pool/detail/admission.hpp>
#include <handoff/pool/detail/engine.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/pool/detail/task_place.hpp>
#include <handoff/pool/detail/worker.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/sanitizer.hpp>
#include <handoff/sync/mutex.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class OwnTasks;

class GroupTasks {
 public:
  explicit GroupTasks(Engine& engine) noexcept
      : engine_(engine),
        owner_(engine_.worker_here()),
        part_of_(owner_ != nullptr && owner_->depth != 0 ? owner_->group : nullptr),
        elsewhere_(0),
        thief_(nullptr),
        flags_(0) {
    if (owner_ == nullptr || owner_->guest) [[unlikely]] {
      owner_ = engine_.sit_down();
      if (owner_ != nullptr) sync::taken(&owner_->taken);  // what PerWorker keeps there, too
    }
  }
  // Waits.
  ~GroupTasks() {
    if (!is_done()) [[unlikely]]
      wait_until_done();
    sync::taken(sync::end_of(this));
    if (owner_ != nullptr && owner_->guest) [[unlikely]] {
      sync::given(&owner_->taken);
      engine_.stand_up(*owner_);
    }
    if (first_failure_) [[unlikely]]
      tell_unheard();
  }
  GroupTasks(const GroupTasks&) = delete;
  GroupTasks& operator=(const GroupTasks&) = delete;

  Worker* worker_here() const noexcept { return engine_.worker_here(); }

  // A place for a task of the group, counted from here on. Throws std::bad_alloc.
  Reservation reserve_in(Worker& worker) {
    Task& node = Admission::node_of(worker, this);
    count_in(worker);
    if (worker.pure && !is_of(worker)) [[unlikely]]
      worker.end_part();
    return engine_.admission().place_in(worker, node);
  }

  // A function of the group that is no task.
  template <class F>
  void run_here(F&& function) noexcept {
    // As a task is called, which is an object of its own and can be changed.
    const auto call = [&function] {
      if constexpr (std::is_invocable_v<F&>) {
        detail::call_and_drop(function);
      } else {
        std::decay_t<F> own(std::forward<F>(function));
        detail::call_and_drop(own);
      }
    };
    (void)attempt(call, [this]() noexcept { keep_failure(std::current_exception()); });
  }
  // The same for a function that may hand over more in the same way, and that again.
  template <class F>
  void run_without_seat(F&& function) noexcept {
    const auto run = [this, &function]() noexcept { run_here(std::forward<F>(function)); };
    engine_.call_on_stack({const_cast<void*>(static_cast<const void*>(&run)),
                           [](void* call) noexcept { (*static_cast<decltype(run)*>(call))(); }});
  }

  // ok; stopped or timed_out if a task was dropped. Rethrows the first failure.
  Status wait() { return all_done() ? Status::ok : status_in(settle()); }
  // The same, but throws NotRun if the pool gave up tasks.
  void wait_for_all() {
    if (!all_done()) settle_or_throw();
  }
  // Tasks that have not begun by then are dropped.
  Status wait(const Until& until);

  void cancel() noexcept { (void)set_flags(kCancelled); }
  bool cancelled() const noexcept { return (flags() & kCancelled) != 0; }

  // The workers' side.
  // Whether a task of it may begin: done; or why it is to be dropped.
  Outcome whether() noexcept {
    return (flags() & (kCancelled | kLimited)) == 0 ? Outcome::done : why_dropped();
  }
  void finished(Worker& worker, Outcome outcome) noexcept {
    if (outcome != Outcome::done) [[unlikely]]
      note(outcome);
    if (&worker == owner_) {
      --here_;
    } else {
      finished_elsewhere(worker);
    }
  }
  // Before the thief runs the task.
  void stolen_by(Worker& thief) noexcept {
    // order: release pairs with the acquire in help_thief(): the thief itself.
    thief_.store(&thief, sync::order::release);
    if (&thief != owner_) thief.begin_part_of(*this);
  }
  [[gnu::cold]] void keep_failure(const std::exception_ptr& failure) noexcept;
  // A task is about to be dropped, as its pool closes: cancelled or expired.
  void given_up(Outcome why) noexcept;

 private:
  friend class OptionedTasks;

  enum Flags : std::uint32_t {
    kCancelled = 1,
    kDropped = 2,
    kFailed = 4,
    kLimited = 8,  // the wait that is on has an end: until_
    kLate = 16,  // a task expired: by that, or by a finish_until of the pool
    kShared = 32,  // no owner; for good
    kHooked = 64,  // OptionedTasks has a hook; for good
    kHeard = 128,  // a wait of a shared group threw its failure, which stays
    kGivenUp = 256,  // the pool dropped a task as it closed
  };

  // A task sees a flag in time or not; a wait sees those of tasks behind their end.
  std::uint32_t flags() const noexcept {
    return flags_.load(sync::order::relaxed);  // order: relaxed, see above
  }
  // Returns those of before.
  std::uint32_t set_flags(std::uint32_t more) noexcept {
    return flags_.fetch_or(more, sync::order::relaxed);  // order: relaxed, see above
  }

  // In elsewhere_: the owner sleeps until the count is 0.
  static constexpr std::int64_t kAsleep = 1;
  static constexpr int kCountShift = 1;
  static constexpr std::int64_t kOne = 1 << kCountShift;

  void count_in(const Worker& worker) noexcept {
    if (&worker == owner_) {
      ++here_;
    } else {
      // order: relaxed, the task that runs here is still counted, so the sum is not 0.
      elsewhere_.fetch_add(kOne, sync::order::relaxed);
    }
  }

  // Whether the group's tasks are parts of what the task that runs here is a part of.
  bool is_of(const Worker& worker) const noexcept {
    return part_of_ == worker.group || this == worker.group;
  }
  // Whether a group is this one or a part of it. Null: one of no group.
  bool has_part(const GroupTasks* group) const noexcept {
    while (group != nullptr && group != this) group = group->part_of_;
    return group != nullptr;
  }

  // The owner asks. Tasks that began here and ended elsewhere make here_ positive and elsewhere_
  // negative, and the other way round.
  bool is_done() const noexcept {
    // order: acquire pairs with the fetch_sub in finished_elsewhere().
    return here_ + (elsewhere_.load(sync::order::acquire) >> kCountShift) == 0;
  }

  // Waits. False: settle() says why.
  bool all_done() {
    if (!is_done()) wait_until_done();
    sync::taken(sync::end_of(this));
    return flags() == 0;
  }
  void wait_until_done() noexcept;
  [[gnu::noinline]] void wait_for_others(Worker& here, const OwnTasks& own) noexcept;
  Outcome why_dropped() noexcept;
  bool help_thief(Worker& here) noexcept;
  void sleep(bool lends) noexcept;
  Status sleep_with_others(Worker* here, const Until& until) noexcept;
  void finished_elsewhere(Worker& worker) noexcept;
  void note(Outcome outcome) noexcept;
  std::uint32_t settle();  // the flags that were set
  static Status status_in(std::uint32_t flags) noexcept;
  void settle_or_throw();
  [[gnu::cold]] void tell_unheard() noexcept;

  Engine& engine_;
  Worker* owner_;  // null: no place for a guest was free, or shared
  const GroupTasks* const part_of_;  // which lives longer; null: of none
  std::int64_t here_ = 0;  // handed over by the owner's worker, less those that ended there
  sync::atomic<std::int64_t> elsewhere_;  // the same of all other workers, times kOne
  sync::atomic<Worker*> thief_;  // the one that stole last
  sync::atomic<std::uint32_t> flags_;
  sync::cell<const Until*> until_;
  sync::Mutex failure_mutex_;
  std::exception_ptr first_failure_;
};

struct GivenToGroup {
  UniqueFunction<void()> on_failure;
  Worker* seat = nullptr;  // of a shared group: where its maker sits
};

// The same with what TaskGroupOptions has. Loops do without, and lie closer together.
class OptionedTasks : public GroupTasks {
 public:
  explicit OptionedTasks(Engine& engine) noexcept : GroupTasks(engine) {}
  OptionedTasks(Engine& engine, bool shared, UniqueFunction<void()> on_failure) noexcept;

  // Waits.
  ~OptionedTasks() {
    if (given_) [[unlikely]]
      end();
  }
  OptionedTasks(const OptionedTasks&) = delete;
  OptionedTasks& operator=(const OptionedTasks&) = delete;

 private:
  friend class GroupTasks;
  void end() noexcept;

  std::optional<GivenToGroup> given_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
