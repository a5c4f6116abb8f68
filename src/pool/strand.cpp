// SPDX-License-Identifier: MIT
//
// The turn of a strand: who has it, what it runs, how it goes on, and where it ends. Protocol and
// proof: docs/design/strand.md.
#include <exception>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/status_of.hpp>
#include <handoff/core/internal/unheard.hpp>
#include <handoff/core/internal/workplace.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/pool/detail/strand.hpp>
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

}  // namespace

// A turn that this thread is giving to the executor. One that calls it there and then finds this,
// and comes back instead of running inside the turn that gave it.
class Strand::Passing {
 public:
  explicit Passing(const Strand& strand) noexcept
      : strand_(strand), outer_(std::exchange(innermost(), this)) {}
  ~Passing() { innermost() = outer_; }
  Passing(const Passing&) = delete;
  Passing& operator=(const Passing&) = delete;

  bool came_back() const noexcept { return came_back_; }

  // For the turn that begins: whether it is one that comes back.
  static bool comes_back(const Strand& strand) noexcept {
    for (Passing* passing = innermost(); passing != nullptr; passing = passing->outer_) {
      if (&passing->strand_ == &strand) return passing->came_back_ = true;
    }
    return false;
  }

 private:
  static Passing*& innermost() noexcept {
    struct Here;
    return sync::thread_slot<Passing*, Here>::get();
  }

  const Strand& strand_;
  Passing* const outer_;
  bool came_back_ = false;
};

Strand::Strand(void* executor, PassOn give, const SerialExecutorOptions& options)
    : executor_(executor),
      pass_on_(give),
      options_(options),
      failures_(std::make_unique<Failures>()) {}

// ---- The turn -----------------------------------------------------------------------------------

void Strand::run() noexcept {
  if (!Passing::comes_back(*this)) work(Outcome::done);
}

// The executor has destroyed it: it ends without its tasks.
void Strand::lose() noexcept { work(Outcome::cancelled); }

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

void Strand::work(Outcome at_best) noexcept {
  for (;;) {
    // order: relaxed, the own thread finds what it wrote, and others something else.
    runner_.store(sync::this_thread_id(), sync::order::relaxed);
    for (std::size_t i = 0; i < batch_most; ++i) {
      if (!has_next()) return;
      run_next(at_best);
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
  runner_.store(nullptr, sync::order::relaxed);  // order: relaxed, see work()
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
Outcome Strand::wish() const noexcept {
  // order: acquire pairs with the release in close(): what it wants.
  if (!is_limited_.load(sync::order::acquire)) return Outcome::done;
  if (!closing_.begins_more) return Outcome::cancelled;
  return sync::clock::now() >= closing_.deadline ? Outcome::expired : Outcome::done;
}

// True: the executor has the turn, and the strand is no longer ours.
bool Strand::pass_on() noexcept {
  runner_.store(nullptr, sync::order::relaxed);  // order: relaxed, see work()
  const Passing passing(*this);
  Turn turn(*this);
  Status said = Status::full;
  // What it throws is a refusal; if it has taken the turn before, that is lost and over by now.
  (void)attempt([&] { said = pass_on_(executor_, turn); });
  if (said == Status::ok) return !passing.came_back();
  return !turn.withdraw();
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
      // order: release pairs with the acquire in wish().
      is_limited_.store(!closing.begins_more || closing.deadline != sync::no_deadline,
                        sync::order::release);
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

Strand::~Strand() {
  if (!origin_.is_here()) return;
  if (is_here()) misuse("SerialExecutor: closed or destroyed inside one of its own tasks");
  {
    const sync::SeenLock lock(mutex_);
    is_closed_ = true;
  }
  (void)await_end({});
  failures_->end(thrower(options_));
}

}}}  // namespace handoff::HANDOFF_ABI::detail
