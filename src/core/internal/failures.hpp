// SPDX-License-Identifier: MIT
//
// What an executor's tasks threw: the first one, for the Tally, and the first that nobody was told
// of, for its wait() and its end.
//
// Concurrency: anybody. Blocks: for a few instructions of others. Allocates: keep(), a long name of
// a task. Throws: never.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class Failures {
 public:
  struct Untold {
    std::exception_ptr error;
    std::string task;  // the name that its options gave it, which need not live on
  };

  // The failure of a task of which somebody is told.
  void note(const std::exception_ptr& failure) noexcept {
    const sync::Lock lock(mutex_);
    if (!first_) first_ = failure;
  }

  // The failure of a task of which nobody is.
  void keep(const std::exception_ptr& failure, const char* task) noexcept {
    const sync::Lock lock(mutex_);
    if (!first_) first_ = failure;
    if (untold_.error) return;
    untold_.error = failure;
    (void)attempt([&] { untold_.task = task; });  // else it is told without its name
  }

  // The failure of a task without a group: on_error is told, if there is one.
  template <class OnError>
  void tell(const OnError& on_error, const std::exception_ptr& failure, const char* task) noexcept {
    if (!on_error) return keep(failure, task);
    note(failure);
    on_error({failure, task});
  }

  // The first failure of all.
  std::exception_ptr first() const {
    const sync::Lock lock(mutex_);
    return first_;
  }

  // Of what was kept since the last call, the first.
  Untold take_untold() noexcept {
    const sync::Lock lock(mutex_);
    return std::exchange(untold_, {});
  }

 private:
  mutable sync::Mutex mutex_;
  std::exception_ptr first_;
  Untold untold_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
