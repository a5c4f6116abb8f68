// SPDX-License-Identifier: MIT
//
// What an executor's tasks threw: the first one, for the Tally, and the first that nobody has
// taken, for its wait(). A further one that wait() has no place for is unheard, and so is what is
// left at the end.
//
// Concurrency: anybody. Blocks: for a few instructions of others. Allocates: tell(), a long name of
// a task. Throws: never.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/unheard.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class Failures {
 public:
  // The failure of a task that somebody hears of.
  void note(const std::exception_ptr& failure) noexcept {
    const sync::Lock lock(mutex_);
    if (!first_) first_ = failure;
  }

  // The failure of a task without a group: on_error is told, or the next wait(). `whose`: whose
  // task it is.
  template <class OnError>
  void tell(const OnError& on_error, const std::exception_ptr& failure, const char* task,
            Thrower whose) noexcept {
    if (on_error) {
      note(failure);
      on_error({failure, task});
    } else if (!keep(failure, task)) {
      whose.own = task;
      whose.remedy = "wait() takes the first one only: set on_error, or catch it there";
      unheard(failure, whose);
    }
  }

  // The first failure of all.
  std::exception_ptr first() const {
    const sync::Lock lock(mutex_);
    return first_;
  }

  // For wait(): of what was kept since the last call, the first.
  std::exception_ptr take() noexcept { return take_kept().error; }

  // Nobody waits any more. `whose`: as above.
  void end(Thrower whose) noexcept {
    const Kept kept = take_kept();
    if (!kept.error) return;
    whose.own = kept.task;
    whose.remedy = "set on_error, call wait(), or catch it there";
    unheard(kept.error, whose);
  }

 private:
  struct Kept {
    std::exception_ptr error;
    std::string task;  // the name that its options gave it, which need not live on
  };

  // False: there is one already.
  bool keep(const std::exception_ptr& failure, const char* task) noexcept {
    const sync::Lock lock(mutex_);
    if (!first_) first_ = failure;
    if (kept_.error) return false;
    kept_.error = failure;
    (void)attempt([&] { kept_.task = task; });  // else it is told without its name
    return true;
  }
  Kept take_kept() noexcept {
    const sync::Lock lock(mutex_);
    return std::exchange(kept_, {});
  }

  mutable sync::Mutex mutex_;
  std::exception_ptr first_;
  Kept kept_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
