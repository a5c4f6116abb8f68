// SPDX-License-Identifier: MIT
//
// How a result becomes ready, which threads are told, and how a waiting thread helps. Protocol and
// proof: docs/design/future.md.
#include <handoff/core/future.hpp>
#include <handoff/core/internal/future_state.hpp>
#include <handoff/core/internal/inside.hpp>
#include <handoff/core/internal/status_of.hpp>
#include <handoff/core/internal/unheard.hpp>
#include <handoff/core/internal/workplace.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/not_run.hpp>
#include <utility>

#include "../sync/internal/seen_sanitizer.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

using sync::order;

// ---- The result ---------------------------------------------------------------------------------

Outcome FutureState::run_as_task() noexcept {
  if (!claim()) {
    give_back(kMakerGone);
    return Outcome::elsewhere;
  }
  return run_claimed();
}

Outcome FutureState::run_claimed() noexcept {
  const Outcome outcome = make();
  finish(kMakerGone);
  return outcome;
}

Outcome FutureState::make_as_task() noexcept {
  if (not_run_ == Status::ok) return make();
  discard();  // cancel()
  return Outcome::cancelled;
}

bool FutureState::cancel() noexcept {
  if (host_ == nullptr || !claim()) return false;
  set_not_run(Status::stopped);
  host_->visit(*this);
  finish(0);
  return true;
}

Outcome FutureState::make() noexcept {
  const Outcome outcome = compute();
  if (outcome == Outcome::failed) host_->note_failure(error_);
  return outcome;
}

Outcome FutureState::drop_as_task(Outcome why) noexcept {
  if (!claim()) {
    give_back(kMakerGone);
    return Outcome::elsewhere;
  }
  return drop_claimed(why);
}

Outcome FutureState::drop_claimed(Outcome why) noexcept {
  discard();  // equivalent(swap): nobody hears of either before the result is there
  set_not_run(reason_of(why));
  finish(kMakerGone);
  return why;
}

std::exception_ptr failure_of(Status why, const char* task) {
  return std::make_exception_ptr(NotRun(why, task));
}

std::exception_ptr FutureState::failure() {
  hear();
  return not_run_ != Status::ok ? failure_of(not_run_, given_name()) : error_;
}

void FutureState::rethrow() {
  hear();
  if (not_run_ != Status::ok) raise(NotRun(not_run_, given_name()));
  std::rethrow_exception(error_);
}

// The result is there, and nobody waits, has said what comes next, or is gone: ends the share, if
// one is given, and touches nothing afterwards. Else false, and nothing was done.
bool FutureState::finish_alone(std::uint32_t share) noexcept {
  std::uint32_t only_claimed = kClaimed;
  // order: release pairs with the acquire in is_ready() and give_back(); relaxed on failure,
  // tell_ready() looks again.
  return word_.compare_exchange_strong(only_claimed, kClaimed | kReady | share, order::release,
                                       order::relaxed);
}

// The result is there. Whether something is to be called next. The maker's share keeps the state
// alive meanwhile; without one it is the caller who holds the Future.
bool FutureState::tell_ready() noexcept {
  // order: acq_rel. Release as above; acquire pairs with the release in continue_later().
  const std::uint32_t before = word_.fetch_or(kReady, order::acq_rel);
  if ((before & kAwaited) != 0) ready_.notify_all();
  return (before & kContinued) != 0;
}

// After tell_ready(): ends the share, if one is given. What comes next is the caller's to call.
FutureState::Next FutureState::take_next(bool is_continued, std::uint32_t share) noexcept {
  const Next next = is_continued ? next_.read() : Next{};
  if (share != 0) give_back(share);
  return next;
}

// The result is there. Deep inside other calls what follows is put off, with the share that keeps
// the state until then.
void FutureState::finish(std::uint32_t share) noexcept {
  if (!finish_alone(share)) finish_told(tell_ready(), share);
}

void FutureState::finish_told(bool is_continued, std::uint32_t share) noexcept {
  if (is_continued && share != 0 && Inside::must_put_off()) [[unlikely]] {
    owes_share_ = true;
    return Inside::innermost()->put_off(*this);
  }
  call_each(take_next(is_continued, share));
}

// The share goes with the first word, if that says that nobody waits, as in finish_alone(). Behind
// kReady the state lives by it, but no longer the source by us.
void FutureState::finish_behind(FutureState& source) noexcept {
  std::uint32_t word = 0;
  std::uint32_t next = 0;
  do {
    next = word | kClaimed;
    if ((word & kHeld) == 0) next |= kReady;
    if (word == 0) next |= kMakerGone;
    // order: acq_rel, as in follow(), finish_alone() and tell_ready(); relaxed on failure, which
    // looks again.
  } while (!word_.compare_exchange_strong(word, next, order::acq_rel, order::relaxed));
  if ((word & kHeld) != 0) return;  // let_go() finds kClaimed: make_left()
  source.leave_heard();
  if (word == 0) return;
  if ((word & kAwaited) != 0) ready_.notify_all();
  finish_told((word & kContinued) != 0);
}

void FutureState::give_back(std::uint32_t share) noexcept {
  // order: acq_rel. Release: what we did with the state comes before its end; acquire: so does what
  // the other one did.
  const std::uint32_t after = word_.fetch_or(share, order::acq_rel) | share;
  if ((after & kMakerGone) == 0 || (after & kFutureGone) == 0) return;
  if (error_ && (after & kHeard) == 0) [[unlikely]]
    tell_unheard();
  destroy();
}

[[gnu::cold]] void FutureState::tell_unheard() noexcept {
  sync::tell_taken(this);  // to say it is to read it
  unheard(error_, {.type = "Future",
                   .some = "its work",
                   .own = given_name(),
                   .remedy = "call get() or on_failure(), or post() what nobody waits for"});
}

// ---- What follows -------------------------------------------------------------------------------

bool FutureState::continue_later(Next next) noexcept {
  next_.write() = next;
  // order: acq_rel. Release pairs with the acquire in tell_ready(): next_. Acquire pairs with the
  // release there: the result.
  return (word_.fetch_or(kContinued, order::acq_rel) & kReady) == 0;
}

void FutureState::continue_with(Next next) noexcept {
  if (continue_later(next)) return;
  if (Inside::must_put_off()) [[unlikely]]
    return Inside::innermost()->put_off(*this);
  call_each(next);
}

void FutureState::call_each(Next next) noexcept {
  if (next.call == nullptr) return;
  const Inside inside;
  while (next.call != nullptr) next = next.call(next.argument);
}

void FutureState::call_put_off() noexcept {
  Next next = take_next(true, owes_share_ ? std::uint32_t{kMakerGone} : 0);
  while (next.call != nullptr) next = next.call(next.argument);
}

void Inside::put_off(FutureState& state) noexcept {
  (first_ == nullptr ? first_ : last_->put_off_after()) = &state;
  last_ = &state;
}

// What is called may put off more, and may call this.
void Inside::call_put_off() noexcept {
  while (FutureState* const state = first_) {
    first_ = state->put_off_after();
    state->call_put_off();
  }
}

// All around the innermost, too: a task that runs deep inside them may be what waits.
void Inside::Pause::begin() noexcept {
  innermost() = nullptr;  // so what is called puts nothing off here
  for (Inside* call = before_; call != nullptr; call = call->outer_) call->call_put_off();
}

FutureState::Next FutureState::follow() noexcept {
  const Workplace* const place = workplace_in_task();
  // order: relaxed, released below.
  way()->maker.store(place != nullptr ? &place->host : nullptr, order::relaxed);
  // order: acq_rel. Release pairs with the acquire in let_go(): the results of the sources, for the
  // thread that goes on there; and with the one in hold(): the maker. Acquire pairs with the
  // release in let_go(): the thread that looked at the sources has done so.
  if ((word_.fetch_or(kClaimed, order::acq_rel) & kHeld) != 0) return {};
  (void)compute();
  return finish_alone(kMakerGone) ? Next{} : take_next(tell_ready(), kMakerGone);
}

// Whether the sources are there to be looked at, until let_go(). If not, they are ready: somebody
// makes the result, or has made it. (Or another task waits for the same Future, against the rules,
// and looks at them.)
bool FutureState::hold() noexcept {
  // order: acquire pairs with the release in follow(): the maker, if it is too late. The sources
  // came with the Future; that they stay, let_go() and follow() see to.
  return (word_.fetch_or(kHeld, order::acquire) & (kClaimed | kHeld)) == 0;
}

// True: the sources became ready meanwhile, and it is for the caller to make the result.
bool FutureState::let_go() noexcept {
  // order: acq_rel, both pair with the read-modify-write in follow(): see there.
  return (word_.fetch_and(~std::uint32_t{kHeld}, order::acq_rel) & kClaimed) != 0;
}

void FutureState::make_left(void* self) noexcept {
  auto& state = *static_cast<FutureState*>(self);
  // equivalent(swap): only a waiter hears of it, behind both
  (void)state.compute();
  state.finish(kMakerGone);
}

// ---- Waits --------------------------------------------------------------------------------------

// Whose threads bring what a wait still hangs on, when nothing is left to run for it.
class FutureState::Pending {
 public:
  // One state: a task, or what follows others and has been claimed.
  void add(FutureState& state) noexcept {
    const Way* const way = state.way();
    // order: relaxed, seen with kClaimed in hold().
    const FutureHost* const host = way == nullptr ? state.host_ : way->maker.load(order::relaxed);
    (state.is_ready() ? ready_ : missing_).add(host);
  }

  // Null: those of several, or of an unknown one. If all that was looked at is ready, what follows
  // is about to be made there.
  const FutureHost* sole() const noexcept { return missing_.any ? missing_.sole : ready_.sole; }

 private:
  struct Hosts {
    void add(const FutureHost* host) noexcept {
      sole = any && sole != host ? nullptr : host;
      any = true;
    }
    bool any = false;
    const FutureHost* sole = nullptr;
  };
  Hosts missing_;
  Hosts ready_;
};

// visitor.reach(state) for all that this one hangs on, itself first: whether to look behind it.
// Then, where the way ends, visitor.end_at(state); and visitor.make(state) of a result that was
// left to us. Without recursion: the way back is kept in the states themselves. Only those on the
// way are held, so nothing that comes elsewhere waits for us but what waits for the state that we
// are at, too.
template <class Visitor>
void FutureState::visit_sources(Visitor& visitor) noexcept {
  FutureState* above = nullptr;
  for (FutureState* state = this;;) {
    Way* const way = visitor.reach(*state) ? state->way() : nullptr;
    if (way != nullptr && state->hold()) {
      way->above = above;
      way->next = 0;
      above = state;
    } else {
      visitor.end_at(*state);
    }
    for (state = nullptr; state == nullptr;) {
      if (above == nullptr) return;
      FutureState* const holder = above;
      Way& its_way = *holder->way();
      state = holder->source(its_way.next++);
      if (state != nullptr) break;
      above = its_way.above;
      if (holder->let_go()) visitor.make(*holder);
    }
  }
}

// What threads of the own executor bring needs no stand-in, unless the task has handed over others:
// those run elsewhere, never inside this wait.
Status FutureState::wait(sync::Deadline deadline, const sync::StopToken& stop) noexcept {
  if (is_ready()) return Status::ok;
  const Inside::Pause pause;
  if (pause.has_called() && is_ready()) return Status::ok;
  Workplace* const place = deadline == sync::no_deadline ? workplace_in_task() : nullptr;
  if (place == nullptr || stop.stop_possible()) return sleep(deadline, stop, sync::spin_policy());
  Pending pending;
  if (help(*place, pending) || comes_soon()) return Status::ok;
  if (bring(*place, true)) return Status::ok;
  const Lending lending(place->has_own() ? nullptr : pending.sole());
  return sleep(sync::no_deadline, {}, sync::Spin::never);
}

struct FutureState::Help {
  bool reach(FutureState& state) noexcept {
    state.begin_here(here);
    return !state.is_handed_;
  }
  void end_at(FutureState& state) noexcept { pending.add(state); }
  void make(FutureState& state) noexcept { here.run_inside({&state, &make_left}); }

  Workplace& here;
  Pending& pending;
};

// Runs what nobody has begun of all that this one hangs on. True if the result is there; else all
// it hangs on runs elsewhere.
bool FutureState::help(Workplace& here, Pending& pending) noexcept {
  Help visitor{here, pending};
  visit_sources(visitor);
  return is_ready();
}

struct FutureState::Ask {
  bool reach(FutureState& state) noexcept {
    if (!asking.by_token_only && state.cancel()) {
      asking.asked = true;
      return false;
    }
    return state.ask_to_stop(asking);
  }
  void end_at(FutureState& /*state*/) noexcept {}
  void make(FutureState& state) noexcept {
    if (!asking.by_token_only) return make_left(&state);
    // The maker's share keeps it, and it has told nobody: what is put off is not.
    state.put_off_after_ = std::exchange(asking.left, &state);
  }

  Asking& asking;
};

void FutureState::ask(FutureState& state, Asking& asking) noexcept {
  Ask visitor{asking};
  state.visit_sources(visitor);
}

bool FutureState::request_stop() noexcept {
  Asking asking;
  ask(*this, asking);
  return asking.asked;
}

void FutureState::ask_by_token(FutureState*& left) noexcept {
  Asking asking{.by_token_only = true};
  ask(*this, asking);
  left = asking.left;
}

void FutureState::ask_the_rest(FutureState* left) noexcept {
  while (left != nullptr)
    make_left(std::exchange(left, std::exchange(left->put_off_after_, nullptr)));
  (void)request_stop();
}

// A task that nobody has begun. Its executor's entry will find it done and go.
void FutureState::begin_here(Workplace& here) noexcept {
  if (host_ == nullptr || !claim()) return static_cast<void>(bring(here, false));
  here.run_inside({this, [](void* self) noexcept {
                     auto& state = *static_cast<FutureState*>(self);
                     // equivalent(swap): only a waiter hears of it, behind both
                     state.host_->visit(state);
                     state.finish(0);
                   }});
}

// Before it is worth while to call a stand-in.
bool FutureState::comes_soon() const noexcept {
  // equivalent(return_early) all: only speed: a stand-in is called where the result was near
  sync::Backoff backoff;
  while (!is_ready()) {
    if (!backoff.snooze()) return false;
  }
  return true;
}

Status FutureState::sleep(sync::Deadline deadline, const sync::StopToken& stop,
                          sync::Spin spin) noexcept {
  // order: relaxed, one word has one history: either tell_ready() finds the bit or we find kReady.
  word_.fetch_or(kAwaited, order::relaxed);
  return status_of(ready_.await([this]() noexcept { return is_ready(); }, deadline, stop, spin));
}

}}}  // namespace handoff::HANDOFF_ABI::detail
