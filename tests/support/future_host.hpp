// SPDX-License-Identifier: MIT
//
// The smallest executor whose tasks have Futures, and the place of a thread that works for it: what
// a Future needs of a pool, without a pool. And why a Future has no result.
#pragma once

#include <deque>
#include <exception>
#include <functional>
#include <handoff/core/future.hpp>
#include <handoff/core/internal/future_host.hpp>
#include <handoff/core/internal/future_state.hpp>
#include <handoff/core/internal/future_work.hpp>
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/internal/raw_box.hpp>
#include <handoff/core/internal/workplace.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/core/status.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace handoff::test {

// Runs a task when it is told to, on the thread that says so.
class Host final : public detail::FutureHost {
 public:
  ~Host() { drop_all(detail::Outcome::cancelled); }

  template <class F, class... Args>
  auto submit(F&& function, Args&&... args) {
    using Result = detail::WorkResult<std::decay_t<F>, std::decay_t<Args>...>;
    using Work = detail::FutureWork<Result, std::decay_t<F>, std::decay_t<Args>...>;
    Work* const work =
        detail::RawBox<Work>().make(this, std::forward<F>(function), std::forward<Args>(args)...);
    queue_.push_back(work);
    return detail::FutureAccess::make<Result>(work);
  }

  // The oldest task; or it finds that a thread that waits for it has begun it.
  void run_next() {
    detail::FutureState* const next = queue_.front();
    queue_.pop_front();
    outcomes.push_back(next->run_as_task());
  }
  void run_all() {
    while (!queue_.empty()) run_next();
  }
  void drop_all(detail::Outcome why) {
    while (!queue_.empty()) {
      detail::FutureState* const next = queue_.front();
      queue_.pop_front();
      outcomes.push_back(next->drop_as_task(why));
    }
  }

  void visit(detail::FutureState& task) noexcept override { visits.push_back(task.make_as_task()); }
  void note_failure(const std::exception_ptr& error) noexcept override { failure = error; }

  std::vector<detail::Outcome> outcomes;  // of its own runs
  std::vector<detail::Outcome> visits;  // of those by waiting threads
  std::exception_ptr failure;

 private:
  std::deque<detail::FutureState*> queue_;
};

// The calling thread runs a task of the host, as long as this lives.
class Place final : public detail::Workplace {
 public:
  explicit Place(Host& its_host) : Workplace(its_host, 0) {
    depth = 1;
    outer = std::exchange(detail::workplace(), this);
  }
  ~Place() { detail::workplace() = outer; }

  void run_inside(const Call& call) noexcept override {
    ++inside;
    call.function(call.argument);
  }
  bool has_own() const noexcept override { return own; }
  void begin_blocking() noexcept override {
    ++lent;
    if (on_lent) on_lent();
  }
  void end_blocking() noexcept override { ++returned; }

  bool own = false;  // the task has handed over others
  std::function<void()> on_lent;  // what happens when somebody else can work
  int inside = 0;
  int lent = 0;
  int returned = 0;
};

// Why get() throws NotRun; ok: it does not.
template <class R>
Status why_not_run(Future<R>& future) {
  try {
    (void)future.get();
  } catch (const NotRun& error) {
    return error.status();
  }
  return Status::ok;
}

}  // namespace handoff::test
