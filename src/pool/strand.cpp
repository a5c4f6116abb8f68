// SPDX-License-Identifier: MIT
//
// The turn of a strand: who has it, what it runs, how it goes on, and where it ends. Protocol and
// proof: docs/design/strand.md.
#include <exception>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/future_state.hpp>
#include <handoff/core/internal/status_of.hpp>
#include <handoff/core/internal/unheard.hpp>
#include <handoff/core/internal/workplace.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/pool/detail/strand.hpp>
#include <handoff/pool/internal/pool_host.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/internal/thread_slot.hpp>
#include <utility>

#include "../core/internal/failures.hpp"
#include "../sync/internal/seen_sanitizer.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

namespace {

Thrower thrower(const SerialExecutorOptions& options) noexcept {
  return {.type = "SerialExecutor", .name = options.name};
}

// Of all strands on pools, for the moment in which a task that waits looks for one.
sync::Mutex& visiting() noexcept {
  static constinit sync::Mutex mutex;
  return mutex;
}

}  // namespace

// A turn that this thread runs, or is giving to the executor. One that calls it there and then
// finds that, and comes back instead of running inside the turn that gave it.
class Strand::Here {
 public:
  enum Doing : std::uint8_t { runs, passes };
  Here(const Strand& strand, Doing doing) noexcept
      : strand_(strand), doing_(doing), outer_(std::exchange(innermost(), this)) {}
  ~Here() { innermost() = outer_; }
  Here(const Here&) = delete;
  Here& operator=(const Here&) = delete;

  bool came_back() const noexcept { return came_back_; }

  // For the turn that begins: whether it is one that comes back.
  static bool comes_back(const Strand& strand) noexcept {
    Here* const here = of(strand);
    return here != nullptr && here->doing_ == passes && (here->came_back_ = true);
  }
  static bool is_running(const Strand& strand) noexcept {
    const Here* const here = of(strand);
    return here != nullptr && here->doing_ == runs;
  }

 private:
  static Here*& innermost() noexcept {
    struct Slot;
    return sync::thread_slot<Here*, Slot>::get();
  }
  static Here* of(const Strand& strand) noexcept {
    Here* here = innermost();
    while (here != nullptr && &here->strand_ != &strand) here = here->outer_;
    return here;
  }

  const Strand& strand_;
  const Doing doing_;
  Here* const outer_;
  bool came_back_ = false;
};

bool Strand::is_here() const noexcept { return Here::is_running(*this); }

Strand::Strand(void* executor, PassOn give, const FutureHost* pool,
               const SerialExecutorOptions& options)
    : executor_(executor),
      pass_on_(give),
      pool_(pool),
      options_(options),
      failures_(std::make_unique<Failures>()) {}

// ---- The turn -----------------------------------------------------------------------------------

// Its tasks are there, for a task that waits as well. The strand stays: see SX-4.
void Strand::publish() noexcept {
  if (pool_ == nullptr) return;
  // order: release pairs with the acquire in claim(): the first task.
  turn_.store(kQueued, sync::order::release);
  sync::asymmetric_fence_light();  // partner is the heavy half in claim(): it sees the turn, or
  // order: relaxed, ordered by the fence: we see that somebody may sleep for it.
  if ((watched_.load(sync::order::relaxed) & kClaimable) == 0) [[likely]]
    return;
  const sync::SeenLock lock(mutex_);
  // order: relaxed, with the mutex.
  if (turn_.load(sync::order::relaxed) == kQueued) call_sleeper();
}

// The function of the executor comes. False: without a turn.
bool Strand::begin() noexcept {
  if (pool_ == nullptr) return true;
  turn_.store(kAtWork, sync::order::relaxed);  // order: relaxed, ordered by the fence
  sync::asymmetric_fence_light();  // partner is the heavy half in claim(): it sees that we work, or
  // order: acquire pairs with the release in close(): what it wants; for the rest the fence.
  const std::uint32_t watched = watched_.load(sync::order::acquire);
  if ((watched & kClaimable) != 0) return arrive();  // we see that it may have the turn
  watched_here_ = watched | kSeen;
  return true;
}

// The same, once others may have taken the turn: what they owe it is told under the mutex.
bool Strand::arrive() noexcept {
  Owner left;  // ends behind the lock
  if (pool_ == nullptr) return true;
  const sync::SeenLock lock(mutex_);
  if (is_left_) left.reset(this);
  if (std::exchange(is_owed_, false)) return false;
  turn_.store(kAtWork, sync::order::relaxed);  // order: relaxed, with the mutex
  return true;
}

void Strand::run() noexcept {
  if (!Here::comes_back(*this) && begin()) work(Outcome::done);
}

// The executor has destroyed it: it ends without its tasks.
void Strand::lose() noexcept {
  if (!begin()) return;
  watched_here_ = 0;  // asked by none of them
  work(Outcome::cancelled);
}

// The executor refused the turn that was made for a task, which has been left where it is.
void Strand::give_up(Status said) noexcept {
  {
    const sync::SeenLock lock(mutex_);
    inbox_.refuse();
    if (!inbox_.has_incoming()) return end_turn();
  }
  // Tasks of others, who were told ok.
  work(said == Status::closed ? Outcome::cancelled : Outcome::done);
}

// Takes the reason from the exception that is being handled: NotRun has it; any other is `full`.
void Strand::give_up_thrown() noexcept {
  Status said = Status::full;
  try {
    throw;
  } catch (const NotRun& refusal) {
    said = refusal.status();
  } catch (...) {
  }
  give_up(said);
}

// `awaited`: a task waits for it, which goes on behind it.
void Strand::work(Outcome at_best, const FutureState* awaited) noexcept {
  const Here here(*this, Here::runs);
  for (;;) {
    for (std::size_t i = 0; i < batch_most; ++i) {
      if (!has_next()) return;
      run_next(at_best);
      if (awaited != nullptr && awaited->is_ready()) break;
    }
    if (!has_next()) return;
    if (at_best == Outcome::done && pass_on()) return;
  }
}

// False: there is nothing, and the turn is over.
bool Strand::has_next() noexcept {
  if (first_ || inbox_.has_taken()) return true;
  const sync::SeenLock lock(mutex_);
  if (inbox_.refill()) return true;
  end_turn();
  return false;
}

// With the mutex. SX-3: who sees the end has had the mutex after this.
void Strand::end_turn() noexcept {
  has_turn_ = false;
  if (waiting_ != 0) ended_.notify_all();
}

void Strand::run_next(Outcome at_best) noexcept {
  InboxTask task = first_ ? std::move(first_) : inbox_.take();
  inbox_.run(
      std::move(task), at_best == Outcome::done ? wish() : at_best,
      [this](const std::exception_ptr& error) noexcept {
        failures_->tell(options_.on_error, error, "", thrower(options_));
      },
      [this](const std::exception_ptr& error) noexcept { failures_->note(error); });
}

// What a close wants of a task that has not begun.
Outcome Strand::wish() noexcept {
  std::uint32_t watched = std::exchange(watched_here_, 0);
  // order: acquire pairs with the release in close(): what it wants.
  if (watched == 0) watched = watched_.load(sync::order::acquire);
  if ((watched & kLimited) == 0) return Outcome::done;
  if (!closing_.begins_more) return Outcome::cancelled;
  return closing_.is_late() ? Outcome::expired : Outcome::done;
}

// True: the executor has the turn, and the strand is no longer ours.
bool Strand::pass_on() noexcept {
  if (pool_ != nullptr) {
    const sync::SeenLock lock(mutex_);
    turn_.store(kQueued, sync::order::relaxed);  // order: relaxed, with the mutex
    call_sleeper();
    if (std::exchange(is_owed_, false)) return true;  // the executor has a function for it
  }
  const Here passing(*this, Here::passes);
  Turn turn(*this);
  Status said = Status::full;
  // What it throws is a refusal; if it has taken the turn before, that is lost and over by now.
  (void)attempt([&] { said = pass_on_(executor_, turn); });
  if (said == Status::ok ? !passing.came_back() : !turn.withdraw()) return true;
  return !arrive();
}

// ---- Tasks that wait ----------------------------------------------------------------------------

struct Strand::Sleeper {
  FutureState& awaited;
  Sleeper* next = nullptr;
  sync::atomic<bool> called{false};
};

// A Future may outlive its strand, which ends behind its results: so who finds one missing under
// this lock finds the strand, and is a visitor from then on.
bool bring_by_turn(FutureHost* host, FutureState& awaited, Workplace& here, bool sleep) noexcept {
  Strand* strand = nullptr;
  {
    const sync::SeenLock lock(visiting());
    if (awaited.is_ready()) return true;
    strand = static_cast<Strand*>(host);
    ++strand->visitors_;
  }
  const bool is_ready = runs_task_of(strand->pool_) && strand->take_turns(awaited, here, sleep);
  const sync::SeenLock lock(visiting());
  --strand->visitors_;
  strand->ended_.notify_all();
  return is_ready;
}

// A task of the pool runs the turn up to what it waits for. What comes before that would hold it up
// anyway, so it runs nothing that could keep its wait from ending.
bool Strand::take_turns(FutureState& awaited, Workplace& here, bool sleep) noexcept {
  struct Part {
    Strand& strand;
    FutureState& awaited;
  } part{*this, awaited};
  while (!awaited.is_ready()) {
    Sleeper sleeper{awaited};
    if (claim(sleep ? &sleeper : nullptr)) {
      here.run_inside({&part, [](void* self) noexcept {
                         auto& mine = *static_cast<Part*>(self);
                         mine.strand.work(Outcome::done, &mine.awaited);
                       }});
    } else if (sleep) {
      const Lending lending;
      awaited.sleep_unless(sleeper.called);
      forget(sleeper);
    } else {
      return false;
    }
  }
  return true;
}

// True: the turn is the caller's, and its function is owed. Else the sleeper will be called.
bool Strand::claim(Sleeper* sleeper) noexcept {
  const sync::SeenLock lock(mutex_);
  const std::uint32_t watched = watched_.load(sync::order::relaxed);  // order: relaxed, the mutex
  if ((watched & kClaimable) == 0) {
    // order: relaxed, ordered by the fence.
    watched_.store(watched | kClaimable, sync::order::relaxed);
    sync::asymmetric_fence_heavy();  // partners are the light halves in publish() and begin()
  }
  // order: acquire pairs with the release in publish().
  if (has_turn_ && turn_.load(sync::order::acquire) == kQueued) {
    turn_.store(kAtWork, sync::order::relaxed);  // order: relaxed, with the mutex
    is_owed_ = true;
    return true;
  }
  if (sleeper != nullptr) {
    Sleeper** last = &sleepers_;
    while (*last != nullptr) last = &(*last)->next;
    *last = sleeper;
  }
  return false;
}

void Strand::forget(const Sleeper& sleeper) noexcept {
  const sync::SeenLock lock(mutex_);
  for (Sleeper** link = &sleepers_; *link != nullptr; link = &(*link)->next) {
    if (*link != &sleeper) continue;
    *link = sleeper.next;
    return;
  }
}

// With the mutex, under which a sleeper stays. One whose result is there already wakes by itself.
void Strand::call_sleeper() noexcept {
  while (sleepers_ != nullptr) {
    Sleeper& first = *std::exchange(sleepers_, sleepers_->next);
    if (first.awaited.is_ready()) continue;
    first.called.store(true, sync::order::relaxed);  // order: relaxed, told by wake()
    return first.awaited.wake();
  }
}

// ---- Waits, and the end -------------------------------------------------------------------------

Status Strand::await_end(const Until& until) {
  {
    const sync::SeenLock lock(mutex_);
    if (!has_turn_) return Status::ok;
    ++waiting_;
  }
  const Lending lending;
  const auto has_ended = [this] {
    const sync::SeenLock lock(mutex_);
    return !has_turn_;
  };
  const Status said =
      status_of(ended_.await(has_ended, until.deadline(), until.stop_token(), sync::Spin::never));
  const sync::SeenLock lock(mutex_);
  --waiting_;
  return said;
}

Status Strand::wait(const Until& until) {
  if (is_here()) misuse("SerialExecutor: wait() inside one of its own tasks");
  const Status said = await_end(until);
  if (said != Status::ok) return said;
  if (std::exception_ptr failure = failures_->take()) std::rethrow_exception(std::move(failure));
  return Status::ok;
}

Tally Strand::close(const Closing& closing) {
  if (!origin_.is_here()) return {};
  if (is_here()) misuse("SerialExecutor: closed or destroyed inside one of its own tasks");
  {
    const sync::SeenLock lock(mutex_);
    if (!is_closed_) {
      closing_ = closing;
      if (!closing.begins_more || closing.deadline != sync::no_deadline) {
        // order: relaxed, with the mutex. Release pairs with the acquires in wish() and begin().
        watched_.store(watched_.load(sync::order::relaxed) | kLimited, sync::order::release);
      }
      is_closed_ = true;
    }
  }
  (void)await_end({});
  return tally();
}

Tally Strand::tally() const {
  Tally tally;
  {
    const sync::SeenLock lock(mutex_);
    tally = inbox_.tally();
  }
  tally.first_failure = failures_->first();
  return tally;
}

// True: nobody needs its memory.
bool Strand::end() noexcept {
  if (!origin_.is_here() || is_left_) return true;
  if (is_here()) misuse("SerialExecutor: closed or destroyed inside one of its own tasks");
  {
    const sync::SeenLock lock(mutex_);
    is_closed_ = true;
  }
  (void)await_end({});
  if (pool_ != nullptr) {
    (void)ended_.await([this] {
      const sync::SeenLock lock(visiting());
      return visitors_ == 0;
    });
  }
  failures_->end(thrower(options_));
  options_.on_error = nullptr;
  const sync::SeenLock lock(mutex_);
  is_left_ = is_owed_;
  return !is_left_;
}

void Strand::End::operator()(Strand* strand) const noexcept {
  if (strand->end()) delete strand;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
