// SPDX-License-Identifier: MIT
//
// How the owner of a group, or many threads, wait, and how they hear of what others finished.
#include <handoff/core/internal/status_of.hpp>
#include <handoff/core/internal/unheard.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/pool/detail/group_tasks.hpp>
#include <handoff/probe/internal/hook.hpp>
#include <handoff/sync/backoff.hpp>

#include "../sync/internal/seen_sanitizer.hpp"
#include "engine_parts.hpp"
#include "own_tasks.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

using sync::order;

OptionedTasks::OptionedTasks(Engine& engine, bool shared,
                             UniqueFunction<void()> on_failure) noexcept
    : GroupTasks(engine) {
  if (owner_ != nullptr) sync::tell_taken(&owner_->taken);
  const std::uint32_t hooked = on_failure ? kHooked : 0U;
  given_.emplace().on_failure = std::move(on_failure);
  // order: relaxed, here and below: nobody else knows the group yet.
  flags_.store(hooked | (shared ? kShared : 0U), order::relaxed);
  if (!shared) return;
  given_->seat = std::exchange(owner_, nullptr);
  elsewhere_.store(kAsleep, order::relaxed);  // order: relaxed; for good: the last one always tells
}

void OptionedTasks::end() noexcept {
  if (!is_done()) wait_until_done();
  sync::tell_taken(sync::end_of(this));  // the call of on_failure
  Worker* const seat = given_->seat;  // NOLINT(bugprone-unchecked-optional-access): see the caller
  if (seat == nullptr || !seat->guest) return;
  sync::tell_given(&seat->taken);
  engine_.stand_up(*seat);
}

// Most waits run their own tasks, which lie on top, and are over.
void GroupTasks::wait_until_done() noexcept {
  // Without a slot no tasks: run() ran them itself. So there is an owner, or it is shared.
  Worker* const waiter = owner_ != nullptr ? owner_ : engine_.worker_here();
  if (waiter == nullptr) [[unlikely]]
    return (void)sleep_with_others(nullptr, {});
  Worker& here = *waiter;
  {
    OwnTasks own(here);
    const auto is_ours = [this](const Task& task) noexcept { return has_part(task.group.read()); };
    while (!is_done()) {
      if (Task* const task = own.next(is_ours)) {
        engine_.runner().run(here, *task);
      } else {
        wait_for_others(here, own);
      }
    }
  }
  if (here.depth == 0) engine_.tell_idle();  // no worker's search will say so
}

// Until there may be one of its own again.
void GroupTasks::wait_for_others(Worker& here, const OwnTasks& own) noexcept {
  for (sync::Backoff backoff; !is_done() && !help_thief(here);) {
    if (backoff.snooze()) continue;
    if (owner_ != nullptr) return sleep(own.keeps_others());
    return (void)sleep_with_others(&here, {});
  }
}

// Its tasks may look at the end of the wait until it is over.
Status GroupTasks::wait(const Until& until) {
  if (is_done() || !until.can_end()) return wait();
  if (owner_ == nullptr) {
    const Inside::Pause pause;  // somebody may wait for what was put off
    const Status waited = sleep_with_others(engine_.worker_here(), until);
    return waited == Status::ok ? wait() : waited;
  }
  until_.write() = &until;
  flags_.fetch_or(kLimited, order::release);  // order: release pairs with why_dropped(): until_
  wait_until_done();
  // order: relaxed, no task is left.
  flags_.fetch_and(~std::uint32_t{kLimited}, order::relaxed);
  return wait();
}

Outcome GroupTasks::why_dropped() noexcept {
  // order: acquire pairs with the release in wait(): until_.
  if ((flags_.load(order::acquire) & kCancelled) != 0) return Outcome::cancelled;
  const Until& until = *until_.read();
  if (until.stop_requested()) return Outcome::cancelled;
  if (!until.has_deadline() || sync::clock::now() < until.deadline()) return Outcome::done;
  (void)set_flags(kLate);
  return Outcome::expired;
}

// All our tasks have begun, or are about to, elsewhere. A worker that stole one of them may have
// parts of it to give away (TP-4; proof in docs/design/thread_pool.md).
bool GroupTasks::help_thief(Worker& here) noexcept {
  // order: acquire pairs with the release in stolen_by(): the worker, which another thread may have
  // made. It lives as long as the pool.
  Worker* const thief = thief_.load(order::acquire);
  if (thief == nullptr || thief == &here || thief->spawned.empty()) return false;
  const auto is_ours = [this, thief]() noexcept {
    // order: relaxed, between the load that brings the push of the task, so that it is not too old,
    // and the exchange that hangs on it.
    return thief->part_of.load(order::relaxed) == this;
  };
  Task* task = nullptr;
  if (thief->spawned.steal_if(task, is_ours) != Status::ok) return false;
  probe::moment(probe::Kind::steal);
  // order: relaxed, our own.
  const GroupTasks* const part_of = here.part_of.load(order::relaxed);
  const bool was_pure = here.pure;
  task->group.read()->stolen_by(here);
  engine_.runner().run(here, *task);
  if (!was_pure) here.end_part();
  // order: relaxed, see begin_part_of().
  here.part_of.store(here.pure ? part_of : nullptr, order::relaxed);
  return true;
}

// `lends`: tasks lie here that this wait may not run.
void GroupTasks::sleep(bool lends) noexcept {
  if (lends) owner_->begin_blocking();
  // The thread that brings the whole count to 0 from here on finds kAsleep and tells us.
  // order: relaxed, a word to them; is_done() acquires when we are awake again.
  elsewhere_.fetch_add(std::exchange(here_, 0) * kOne + kAsleep, order::relaxed);
  (void)owner_->joined.await(
      [this]() noexcept {
        // order: relaxed, as above.
        return elsewhere_.load(order::relaxed) == kAsleep;
      },
      sync::no_deadline, {}, sync::Spin::never);
  elsewhere_.fetch_sub(kAsleep, order::relaxed);  // order: relaxed, awake again, a word to nobody
  if (lends) owner_->end_blocking();
}

// Waits for tasks that others made, perhaps: so a worker is lent in any case.
Status GroupTasks::sleep_with_others(Worker* here, const Until& until) noexcept {
  if (here != nullptr) here->begin_blocking();
  const sync::Wakeup wakeup = engine_.completion().await([this]() noexcept { return is_done(); },
                                                         until.deadline(), until.stop_token());
  if (here != nullptr) here->end_blocking();
  return status_of(wakeup);
}

void GroupTasks::finished_elsewhere(Worker& worker) noexcept {
  if (worker.depth == 0) worker.end_part();  // before another group may lie where this one does
  // The group may be gone right after the next line; its owner's worker is not.
  Worker* const owner = owner_;
  // order: release pairs with the acquire in is_done(): the task's effects. Those of the tasks that
  // others finished before come with them, as all changes of this word are read-modify-writes.
  const std::int64_t before = elsewhere_.fetch_sub(kOne, order::release);
  if (before != kOne + kAsleep) return;
  if (owner != nullptr) return owner->joined.notify_one();
  worker.engine.tell_idle();
}

void GroupTasks::note(Outcome outcome) noexcept {
  (void)set_flags(outcome == Outcome::failed ? kFailed : kDropped);
}

void GroupTasks::given_up(Outcome why) noexcept {
  (void)set_flags(why == Outcome::expired ? kGivenUp | kLate : kGivenUp);
}

void GroupTasks::keep_failure(const std::exception_ptr& failure) noexcept {
  const std::uint32_t before = set_flags(kFailed);
  {
    const sync::Lock lock(failure_mutex_);
    if (first_failure_) return;
    first_failure_ = failure;
  }
  if ((before & kHooked) == 0) return;
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): kHooked says that it is given.
  static_cast<OptionedTasks&>(*this).given_->on_failure();
  sync::tell_given(sync::end_of(this));
}

// After a wait that was not all well: rethrows the first failure. All that was said of the group,
// a cancel too, ends with it, unless others may ask.
std::uint32_t GroupTasks::settle() {
  std::uint32_t found = flags();
  const bool shared = (found & kShared) != 0;
  // order: relaxed, no task is left.
  if (!shared) found = flags_.fetch_and(kHooked, order::relaxed);
  if ((found & kFailed) != 0) {
    std::exception_ptr failure;
    {
      const sync::Lock lock(failure_mutex_);
      failure = shared ? first_failure_ : std::exchange(first_failure_, nullptr);
    }
    if (shared) (void)set_flags(kHeard);
    if (failure) std::rethrow_exception(std::move(failure));
  }
  return found;
}

Status GroupTasks::status_in(std::uint32_t flags) noexcept {
  if ((flags & kDropped) == 0) return Status::ok;
  return (flags & kLate) != 0 ? Status::timed_out : Status::stopped;
}

void GroupTasks::settle_or_throw() {
  const std::uint32_t flags = settle();
  if ((flags & kGivenUp) != 0) raise(NotRun(status_in(flags)));
}

void GroupTasks::tell_unheard() noexcept {
  if ((flags() & kHeard) != 0) return;
  unheard(first_failure_, {.type = "TaskGroup", .remedy = "call wait()"});
}

}}}  // namespace handoff::HANDOFF_ABI::detail
