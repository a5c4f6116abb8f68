// SPDX-License-Identifier: MIT
//
// What a SerialExecutor is, whatever the executor under it. Not for users.
//
// A strand with a task that is not done has one turn. The turn is a function of the executor, or a
// thread that runs it. A thread that hands over a task while there is no turn makes the turn. On a
// ThreadPool a task that waits for one of the strand's may take the turn; the function then finds
// nothing to do.
//
//   SX-1  There is at most one turn, and one while a task has not ended.
//   SX-2  Who makes the turn hands over his task with it: the first move of that function, which is
//         the executor's yes, takes the task. So a refusal finds the task untouched.
//   SX-3  Behind the end of a turn its thread touches nothing of the strand.
//   SX-4  One function is in the executor while the turn is queued, or while one is owed; and then
//         the strand's memory stays until it comes.
//   SX-5  While the turn is queued a task that sleeps for it has been called, if there is one.
//
// Proof: docs/design/strand.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/closing.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/future_host.hpp>
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/until.hpp>
#include <handoff/pool/detail/task_inbox.hpp>
#include <handoff/pool/serial_executor_options.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/fence.hpp>
#include <handoff/sync/internal/fork.hpp>
#include <handoff/sync/mutex.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class Failures;

class Strand final : public FutureHost {
 public:
  class Turn;
  template <class Make>
  class FirstTurn;

  // Tasks that a turn runs before it goes behind what else the executor has: enough to share the
  // cost of a hand-over, few enough that others get their turn.
#if defined(HANDOFF_EXPLORE)
  static constexpr std::size_t batch_most = 2;
#else
  static constexpr std::size_t batch_most = 16;
#endif

  // try_post() of the turn.
  using PassOn = Status (*)(void* executor, Turn& turn);

  // Ends its tasks, then it, unless a function is owed: that ends it.
  struct End {
    void operator()(Strand* strand) const noexcept;
  };
  using Owner = std::unique_ptr<Strand, End>;

  // `pool`: the executor, if it is one.
  Strand(void* executor, PassOn give, const FutureHost* pool, const SerialExecutorOptions& options);
  Strand(const Strand&) = delete;
  Strand& operator=(const Strand&) = delete;

  // Of its results.
  FutureHost* host() noexcept { return pool_ == nullptr ? nullptr : this; }

  // make(): the task. hand_over(turn): the executor's answer, for a turn that is not on its way.
  template <class Make, class HandOver>
  Status put(const Make& make, const HandOver& hand_over) {
    {
      const sync::Lock lock(mutex_);
      if (is_closed_) return Status::closed;
      if (has_turn_) {
        inbox_.put(make);
        return Status::ok;
      }
      if (is_owed_) {
        inbox_.put(make);
        is_owed_ = false;
        has_turn_ = true;
        turn_.store(kQueued, sync::order::relaxed);  // order: relaxed, with the mutex
        return Status::ok;
      }
      has_turn_ = true;
      inbox_.accept();
    }
    bool is_taken = false;
    Status said = Status::closed;
#if defined(__cpp_exceptions)
    try {
      said = hand_over(FirstTurn<Make>(*this, make, is_taken));
    } catch (...) {
      if (!is_taken) give_up_thrown();
      throw;
    }
#else
    said = hand_over(FirstTurn<Make>(*this, make, is_taken));
#endif
    if (said != Status::ok && !is_taken) give_up(said);
    return said;
  }

  Status wait(const Until& until);
  Tally close(const Closing& closing);
  Tally tally() const;
  bool is_here() const noexcept;

 private:
  class Here;
  struct Sleeper;
  enum Turns : std::uint32_t { kAtWork, kQueued };
  enum Watched : std::uint32_t {
    kLimited = 1,  // a close wants less than all
    kClaimable = 2,  // a task has waited: from then on a turn begins with the mutex
    kSeen = 4,  // in watched_here_
  };

  friend bool bring_by_turn(FutureHost* strand, FutureState& awaited, Workplace& here,
                            bool sleep) noexcept;
  bool take_turns(FutureState& awaited, Workplace& here, bool sleep) noexcept;
  bool claim(Sleeper* sleeper) noexcept;
  void forget(const Sleeper& sleeper) noexcept;
  void call_sleeper() noexcept;
  void publish() noexcept;
  bool begin() noexcept;
  bool arrive() noexcept;
  void run() noexcept;
  void lose() noexcept;
  void give_up(Status said) noexcept;
  void give_up_thrown() noexcept;
  void work(Outcome at_best, const FutureState* awaited = nullptr) noexcept;
  bool has_next() noexcept;
  void run_next(Outcome at_best) noexcept;
  Outcome wish() noexcept;
  bool pass_on() noexcept;
  void end_turn() noexcept;
  Status await_end(const Until& until);
  bool end() noexcept;

  void* const executor_;
  const PassOn pass_on_;
  const FutureHost* const pool_;
  SerialExecutorOptions options_;
  const sync::Origin origin_ = sync::Origin::here();
  const std::unique_ptr<Failures> failures_;

  // By the turn.
  InboxTask first_;
  std::uint32_t watched_here_ = 0;  // what its begin has seen, for the first task

  // Of a pool. Who sets it to kQueued has left the rest of the turn before.
  sync::atomic<std::uint32_t> turn_{kAtWork};
  sync::atomic<std::uint32_t> watched_{0};  // Watched; changed with the mutex

  // With the mutex; but what the turn has taken is its own.
  mutable sync::Mutex mutex_;
  TaskInbox inbox_;
  bool has_turn_ = false;
  bool is_closed_ = false;
  bool is_owed_ = false;  // the executor has a function without a turn
  bool is_left_ = false;  // the strand is that one's
  std::uint32_t waiting_ = 0;
  Sleeper* sleepers_ = nullptr;  // tasks that sleep for the turn and were not called
  sync::EventCount ended_;

  Closing closing_;  // written before the word
  std::uint32_t visitors_ = 0;  // tasks that wait, with the lock of all strands
};

// On its way, or at work. Where the executor destroys it instead, the tasks are lost.
class Strand::Turn {
 public:
  explicit Turn(Strand& strand) noexcept : strand_(&strand) {}
  Turn(Turn&& other) noexcept : strand_(std::exchange(other.strand_, nullptr)) {}
  Turn& operator=(Turn&&) = delete;
  ~Turn() {
    if (strand_ != nullptr) strand_->lose();
  }
  void operator()() noexcept { std::exchange(strand_, nullptr)->run(); }
  // It was refused, and is the caller's again. False: the executor has taken it all the same.
  bool withdraw() noexcept { return std::exchange(strand_, nullptr) != nullptr; }

 private:
  Strand* strand_;
};

// The turn that is made for a task. That is made where this is moved for the first time, or called.
template <class Make>
class Strand::FirstTurn {
 public:
  FirstTurn(Strand& strand, const Make& make, bool& is_taken) noexcept
      : strand_(&strand), make_(&make), is_taken_(&is_taken) {}
  FirstTurn(FirstTurn&& other) noexcept(noexcept(std::declval<const Make&>()()))
      : strand_(other.taken()) {
    other.strand_ = nullptr;
  }
  FirstTurn& operator=(FirstTurn&&) = delete;
  ~FirstTurn() {
    if (strand_ != nullptr && make_ == nullptr) strand_->lose();
  }
  void operator()() {
    Strand* const strand = taken();
    strand_ = nullptr;
    strand->run();
  }

 private:
  Strand* taken() {
    if (make_ != nullptr) {
      strand_->first_ = (*make_)();
      *is_taken_ = true;
      make_ = nullptr;
      strand_->publish();
    }
    return strand_;
  }

  Strand* strand_;
  const Make* make_ = nullptr;  // null: the strand has its task
  bool* is_taken_ = nullptr;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
