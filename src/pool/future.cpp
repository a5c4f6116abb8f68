// SPDX-License-Identifier: MIT
//
// How a result becomes ready, who is told, and how who waits for it helps. Protocol and proof:
// docs/design/future.md.
#include <handoff/core/detail/status_of.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/pool/future.hpp>
#include <utility>

#include "wait_watch.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

using sync::order;

namespace {

// That of the task that waits: a seat that it took in another pool may come first.
Worker* worker_in_task() noexcept {
  Worker* worker = worker_slot();
  while (worker != nullptr && worker->depth == 0) worker = worker->outer;
  return worker;
}

}  // namespace

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

// In the book, if the pool keeps one: that of the task, and of what follows a task the one that it
// runs in.
Outcome FutureState::make() noexcept {
  if (engine_ != nullptr) {
    if (!engine_->watches()) [[likely]]
      return compute();
  } else {
    if (watching(worker_slot()) == nullptr) return compute();
  }
  const WatchedRun run(this, name());
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

// The result is there. Ends the share, if one is given, and touches nothing afterwards. What comes
// next is the caller's to call.
FutureState::Next FutureState::conclude(std::uint32_t share) noexcept {
  std::uint32_t only_claimed = kClaimed;
  // order: release pairs with the acquire in is_ready() and give_back(); relaxed on failure, the
  // fetch_or looks again.
  if (word_.compare_exchange_strong(only_claimed, kClaimed | kReady | share, order::release,
                                    order::relaxed)) {
    return {};
  }
  // Somebody waits, has said what comes next, or is gone. The share keeps the state alive
  // meanwhile; without one it is the caller who holds the Future.
  // order: acq_rel. Release as above; acquire pairs with the release in continue_with().
  const std::uint32_t before = word_.fetch_or(kReady, order::acq_rel);
  if ((before & kWatched) != 0) [[unlikely]]
    WatchedWait::forget(*this);
  if ((before & kAwaited) != 0) ready_.notify_all();
  const Next next = (before & kContinued) != 0 ? next_.read() : Next{};
  if (share != 0) give_back(share);
  return next;
}

void FutureState::give_back(std::uint32_t share) noexcept {
  // order: acq_rel. Release: what we did with the state comes before its end; acquire: so does what
  // the other one did.
  const std::uint32_t after = word_.fetch_or(share, order::acq_rel) | share;
  if ((after & kTaskGone) != 0 && (after & kFutureGone) != 0) destroy();
}

void FutureState::continue_with(Next next) noexcept {
  next_.write() = next;
  // order: acq_rel. Release pairs with the acquire in conclude(): next_. Acquire pairs with the
  // release there: the result.
  const std::uint32_t before = word_.fetch_or(kContinued, order::acq_rel);
  if ((before & kReady) != 0) call_each(next);
}

FutureState::Next FutureState::follow() noexcept {
  // order: acq_rel. Release pairs with the acquire in let_go(): the results of the sources, for who
  // goes on there. Acquire pairs with the release there: who looked at the sources has done so.
  if ((word_.fetch_or(kClaimed, order::acq_rel) & kHeld) != 0) return {};
  (void)make();
  return conclude(kTaskGone);
}

// Whether the sources are there to be looked at, until let_go(). If not, they are ready: somebody
// makes the result, or has made it. (Or another task waits for the same Future, against the rules,
// and looks at them.)
bool FutureState::hold() noexcept {
  // order: relaxed. The sources came with the Future; that they stay, let_go() and follow() see to.
  return (word_.fetch_or(kHeld, order::relaxed) & (kClaimed | kHeld)) == 0;
}

// If the sources became ready meanwhile, it is for us to make the result.
void FutureState::let_go(Worker& here) noexcept {
  // order: acq_rel, both pair with the read-modify-write in follow(): see there.
  if ((word_.fetch_and(~std::uint32_t{kHeld}, order::acq_rel) & kClaimed) == 0) return;
  here.engine.with_room([this, &here]() noexcept {
    const std::int64_t base = std::exchange(here.base, here.spawned.height());
    (void)make();
    here.base = base;
    finish(kTaskGone);
  });
}

// visit(state) for all that this one hangs on, itself first, without recursion: the way back is
// kept in the states themselves. Only those on the way are held, so nothing that comes elsewhere
// waits for us but what waits for the state that we are at, too.
template <class Visit>
void FutureState::visit_sources(Worker& here, Visit&& visit) noexcept {
  FutureState* above = nullptr;
  for (FutureState* state = this;;) {
    visit(*state);
    Way* const way = state->way();
    if (way != nullptr && state->hold()) {
      *way = {.above = above, .next = 0};
      above = state;
    }
    for (state = nullptr; state == nullptr;) {
      if (above == nullptr) return;
      FutureState* const holder = above;
      Way& its_way = *holder->way();
      state = holder->source(its_way.next++);
      if (state != nullptr) break;
      above = its_way.above;
      holder->let_go(here);
    }
  }
}

Status FutureState::wait(sync::Deadline deadline, const sync::StopToken& stop) {
  if (is_ready()) return Status::ok;
  Worker* const here = worker_slot();
  if (here == nullptr || deadline != sync::no_deadline) return sleep(deadline, stop);
  if (watching(here) != nullptr) [[unlikely]]
    return wait_watched(*here, stop);
  Worker* const worker = worker_in_task();
  if (worker != nullptr && !stop.stop_possible() && help(*worker)) return Status::ok;
  return sleep(deadline, stop);
}

// The book learns what is waited for before anything is run, and that we sleep when nothing is left
// to run.
Status FutureState::wait_watched(Worker& here, const sync::StopToken& stop) {
  Worker* const worker = worker_in_task();
  WatchedWait watched;
  visit_sources(here, [&watched](FutureState& state) noexcept { watched.add(state); });
  if (worker != nullptr && !stop.stop_possible() && help(*worker)) return Status::ok;
  watched.fall_asleep();
  return sleep(sync::no_deadline, stop);
}

Status FutureState::sleep(sync::Deadline deadline, const sync::StopToken& stop) noexcept {
  // order: relaxed, one word has one history: either conclude() finds the bit or we find kReady.
  word_.fetch_or(kAwaited, order::relaxed);
  return status_of(ready_.await([this]() noexcept { return is_ready(); }, deadline, stop));
}

// Inside a task: runs what nobody has begun of all that this one hangs on, then what the waiting
// task has handed over. True if the result is there; else all it hangs on runs elsewhere.
bool FutureState::help(Worker& here) noexcept {
  visit_sources(here, [&here](FutureState& state) noexcept { state.begin_here(here); });
  while (!is_ready()) {
    if (!here.engine.run_own(here)) return false;
  }
  return true;
}

// A task that nobody has begun.
void FutureState::begin_here(Worker& here) noexcept {
  if (engine_ == nullptr || !claim()) return;
  here.engine.with_room([this, &here]() noexcept { run_here(here); });
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

}}}  // namespace handoff::HANDOFF_ABI::detail
