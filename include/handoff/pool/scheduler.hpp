// SPDX-License-Identifier: MIT
//
// A pool as a scheduler of std::execution (P2300), for stdexec or for a standard library that has
// it.
//
//   auto work = stdexec::schedule(pool.get_scheduler()) | stdexec::then([] { return answer(); });
//   auto [result] = stdexec::sync_wait(std::move(work)).value();
//
// The words of that vocabulary come as a parameter (core/sender_words.hpp). Where no library has
// them there is no get_scheduler(), and a vocabulary of the user's own may be given to
// BasicPoolScheduler.
//
// Contract: executor tier.
// - Concurrency: a scheduler is a handle, copied freely; the pool outlives it and what it started.
// - Completion: set_value() on a worker; set_stopped() there if the receiver's stop token was asked
//   to stop by then, or if a close dropped the task; set_stopped() in start() if the pool is closed
//   or full; set_error(std::exception_ptr) in start() if there is no memory. Where a full pool has
//   the caller run the task, it completes in start().
// - Blocks: as ThreadPool::post(). Allocates: nothing beside the queue's memory.
#pragma once

#include <exception>
#include <new>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/priority.hpp>
#include <handoff/core/sender_words.hpp>
#include <handoff/core/status.hpp>
#include <handoff/pool/detail/closure_maker.hpp>
#include <handoff/pool/detail/engine.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/pool/detail/task_place.hpp>
#include <handoff/pool/thread_pool.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// `Words`: see StandardWords.
template <class Words>
class BasicPoolScheduler {
 public:
  using scheduler_concept = typename Words::scheduler_t;

  // A scheduler of this pool, which outlives it.
  explicit BasicPoolScheduler(ThreadPool& pool) noexcept : engine_(&detail::engine_of(pool)) {}

  // Says that its sender completes on this scheduler.
  class Env {
   public:
    // The environment of this scheduler.
    explicit Env(BasicPoolScheduler scheduler) noexcept : scheduler_(scheduler) {}
    template <class Tag>
    BasicPoolScheduler query(
        typename Words::template get_completion_scheduler_t<Tag>) const noexcept {
      return scheduler_;
    }

   private:
    BasicPoolScheduler scheduler_;
  };

  // A connected receiver. It stays where it is.
  template <class Receiver>
  class Operation {
   public:
    using operation_state_concept = typename Words::operation_state_t;

    // For Sender::connect().
    Operation(detail::Engine& engine, Receiver receiver)
        : engine_(engine), receiver_(std::move(receiver)) {}
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;

    // Once. May complete, and this may be gone, before it returns.
    void start() & noexcept {
      bool is_accepted = false;
      const auto hand_over = [&] {
        detail::TaskPlace place = engine_.reserve();
        is_accepted = static_cast<bool>(place);  // before the task may end all of this
        if (place) place.fill(detail::PointerMaker<Operation>(this, kind)).publish();
      };
      const auto failed = [this]() noexcept {
        Words::set_error(std::move(receiver_), std::current_exception());
      };
      if (detail::attempt(hand_over, failed) && !is_accepted) {
        Words::set_stopped(std::move(receiver_));
      }
    }

   private:
    static detail::Outcome run(detail::Task& task) {
      Receiver& receiver = task.as<Operation*>()->receiver_;
      if (Words::stop_requested(receiver)) return drop(task, detail::Outcome::cancelled);
      Words::set_value(std::move(receiver));
      return detail::Outcome::done;
    }
    static detail::Outcome drop(detail::Task& task, detail::Outcome why) noexcept {
      Words::set_stopped(std::move(task.as<Operation*>()->receiver_));
      return why;
    }
    static constexpr detail::TaskKind kind{&run, &drop, nullptr};

    detail::Engine& engine_;
    Receiver receiver_;
  };

  // What schedule() gives. Copied freely.
  class Sender {
   public:
    using sender_concept = typename Words::sender_t;
    using completion_signatures = typename Words::template completion_signatures<>;

    // For schedule().
    explicit Sender(BasicPoolScheduler scheduler) noexcept : scheduler_(scheduler) {}

    template <class... Any>
    static consteval completion_signatures get_completion_signatures() noexcept {
      return {};
    }
    Env get_env() const noexcept { return Env(scheduler_); }

    template <class Receiver>
    Operation<Receiver> connect(Receiver receiver) const {
      return Operation<Receiver>(*scheduler_.engine_, std::move(receiver));
    }

   private:
    BasicPoolScheduler scheduler_;
  };

  // A sender that completes as a task of the pool.
  [[nodiscard]] Sender schedule() const noexcept { return Sender(*this); }

  auto query(typename Words::get_forward_progress_guarantee_t) const noexcept {
    return Words::parallel;
  }
  template <class Tag>
  BasicPoolScheduler query(
      typename Words::template get_completion_scheduler_t<Tag>) const noexcept {
    return *this;
  }

  friend bool operator==(const BasicPoolScheduler&, const BasicPoolScheduler&) noexcept = default;

 private:
  detail::Engine* engine_;
};

#if defined(HANDOFF_HAS_SENDERS)

using PoolScheduler = BasicPoolScheduler<StandardWords>;

inline auto ThreadPool::get_scheduler() noexcept { return PoolScheduler(*this); }

#endif

}}  // namespace handoff::HANDOFF_ABI
