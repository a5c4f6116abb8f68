// SPDX-License-Identifier: MIT
//
// How a result becomes ready, who is told, and how who waits for it helps. Protocol and proof:
// docs/design/future.md.
#include <handoff/core/not_run.hpp>
#include <handoff/pool/future.hpp>
#include <utility>

#include "wait_watch.hpp"

namespace handoff::inline HANDOFF_ABI::detail {

using sync::order;

Outcome FutureState::run_as_task() noexcept {
  if (!claim()) {
    give_back(kTaskGone);
    return Outcome::elsewhere;
  }
  const Outcome outcome = make();
  if (outcome == Outcome::failed) engine_->note_failure(error_);
  finish(kTaskGone);
  return outcome;
}

Outcome FutureState::make() noexcept {
  if (engine_ == nullptr || !engine_->watches()) [[likely]] return compute();
  const WatchedRun run(*this);
  return compute();
}

Outcome FutureState::drop_as_task(Outcome why) noexcept {
  if (!claim()) {
    give_back(kTaskGone);
    return Outcome::elsewhere;
  }
  discard();
  set_error(std::make_exception_ptr(NotRun(reason_of(why))));
  finish(kTaskGone);
  return why;
}

// The result is there. Ends the share, if one is given, and touches nothing afterwards.
void FutureState::finish(std::uint32_t share) noexcept {
  std::uint32_t only_claimed = kClaimed;
  // order: release pairs with the acquire in is_ready() and give_back(); relaxed on failure, the
  // fetch_or looks again.
  if (word_.compare_exchange_strong(only_claimed, kClaimed | kReady | share, order::release,
                                    order::relaxed)) {
    return;
  }
  // Somebody waits, has said what comes next, or is gone. The share keeps the state alive
  // meanwhile.
  // order: acq_rel. Release as above; acquire pairs with the release in continue_with().
  const std::uint32_t before = word_.fetch_or(kReady, order::acq_rel);
  if ((before & kAwaited) != 0) ready_.notify_all();
  if ((before & kContinued) != 0) next_.call(next_.argument);
  if (share != 0) give_back(share);
}

void FutureState::give_back(std::uint32_t share) noexcept {
  // order: acq_rel. Release: what we did with the state comes before its end; acquire: so does what
  // the other one did.
  const std::uint32_t after = word_.fetch_or(share, order::acq_rel) | share;
  if ((after & kTaskGone) != 0 && (after & kFutureGone) != 0) destroy();
}

void FutureState::continue_with(Next next) noexcept {
  next_ = next;
  // order: acq_rel. Release pairs with the acquire in finish(): next_. Acquire pairs with the
  // release there: the result.
  const std::uint32_t before = word_.fetch_or(kContinued, order::acq_rel);
  if ((before & kReady) != 0) next.call(next.argument);
}

Status FutureState::wait(sync::Deadline deadline, const sync::StopToken& stop) {
  if (is_ready()) return Status::ok;
  if (deadline != sync::no_deadline || stop.stop_possible()) return sleep(deadline, stop);
  if (help()) return Status::ok;
  const Worker* const here = worker_slot();
  if (here == nullptr || here->depth == 0 || !here->engine.watches()) [[likely]] {
    return sleep(deadline, stop);
  }
  const WatchedWait watched(*this);
  if (!watched.cycle().tasks.empty()) here->engine.tell_cycle(watched.cycle());
  return sleep(deadline, stop);
}

Status FutureState::sleep(sync::Deadline deadline, const sync::StopToken& stop) noexcept {
  // order: relaxed, one word has one history: either finish() finds the bit or we find kReady.
  word_.fetch_or(kAwaited, order::relaxed);
  switch (ready_.await([this]() noexcept { return is_ready(); }, deadline, stop)) {
    case sync::Wakeup::notified: return Status::ok;
    case sync::Wakeup::stopped: return Status::stopped;
    case sync::Wakeup::timed_out: return Status::timed_out;
  }
  return Status::ok;
}

// Inside a task: runs this one if nobody has begun it, else what the waiting task has handed over.
// True if the result is there.
bool FutureState::help() noexcept {
  Worker* const here = worker_slot();
  if (here == nullptr || here->depth == 0) return false;
  if (engine_ != nullptr && claim()) {
    here->engine.with_room([&]() noexcept { run_here(*here); });
    return true;
  }
  while (!is_ready()) {
    if (!here->engine.run_own(*here)) return false;
  }
  return true;
}

// The task will find it done and go.
void FutureState::run_here(Worker& here) noexcept {
  const std::int64_t base = std::exchange(here.base, here.spawned.height());
  Worker* const mine = engine_->worker_here();
  if (mine == nullptr) engine_->begin_visit();
  const Outcome outcome = make();
  here.base = base;
  if (outcome == Outcome::failed) engine_->note_failure(error_);
  if (mine != nullptr) {
    mine->count(outcome);
  } else {
    engine_->end_visit(outcome);
  }
  finish(0);
}

}  // namespace handoff::inline HANDOFF_ABI::detail
