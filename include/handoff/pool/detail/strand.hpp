// SPDX-License-Identifier: MIT
//
// What a SerialExecutor is, whatever the executor under it. Not for users.
//
// A strand with a task that is not done has one turn. The turn is a function of the executor, or a
// thread that runs it. Whoever hands over a task while there is no turn makes it.
//
//   SX-1  There is at most one turn, and one while a task has not ended.
//   SX-2  Who makes the turn hands over his task with it: the first move of that function, which is
//         the executor's yes, takes the task. So a refusal finds the task untouched.
//   SX-3  Behind the end of a turn its thread touches nothing of the strand.
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
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/until.hpp>
#include <handoff/pool/detail/task_inbox.hpp>
#include <handoff/pool/serial_executor_options.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/fork.hpp>
#include <handoff/sync/internal/this_thread.hpp>
#include <handoff/sync/mutex.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class Failures;

class Strand {
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

  Strand(void* executor, PassOn give, const SerialExecutorOptions& options);
  ~Strand();
  Strand(const Strand&) = delete;
  Strand& operator=(const Strand&) = delete;

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
      has_turn_ = true;
      inbox_.accept();
    }
    bool is_taken = false;
    Status said = Status::closed;
    call_or([&] { said = hand_over(FirstTurn<Make>(*this, make, is_taken)); },
            [&]() noexcept {
              if (!is_taken) give_up(said);
            });
    if (said != Status::ok && !is_taken) give_up(said);
    return said;
  }

  Status wait(const Until& until);
  Tally close(const Closing& closing);
  Tally tally() const;
  bool is_here() const noexcept {
    // order: relaxed, the own thread finds what it wrote, and others something else.
    return runner_.load(sync::order::relaxed) == sync::this_thread_id();
  }

 private:
  class Passing;

  void run() noexcept;
  void lose() noexcept;
  void give_up(Status said) noexcept;
  void work(Outcome at_best) noexcept;
  bool has_next() noexcept;
  void run_next(Outcome at_best) noexcept;
  Outcome wish() const noexcept;
  bool pass_on() noexcept;
  void end_turn() noexcept;
  Status await_end(const Until& until);

  void* const executor_;
  const PassOn pass_on_;
  const SerialExecutorOptions options_;
  const sync::Origin origin_ = sync::Origin::here();
  const std::unique_ptr<Failures> failures_;

  // By the turn.
  InboxTask first_;
  sync::atomic<sync::ThreadId> runner_{nullptr};

  // With the mutex; but what the turn has taken is its own.
  mutable sync::Mutex mutex_;
  TaskInbox inbox_;
  bool has_turn_ = false;
  bool is_closed_ = false;
  std::uint32_t waiting_ = 0;
  sync::EventCount ended_;

  Closing closing_;  // written before the word
  sync::atomic<bool> is_limited_{false};
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
    }
    return strand_;
  }

  Strand* strand_;
  const Make* make_ = nullptr;  // null: the strand has its task
  bool* is_taken_ = nullptr;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
