// SPDX-License-Identifier: MIT
//
// What a pool's tasks threw: the first one, for the Tally, and the first that nobody was told of,
// for ThreadPool::wait() and the end of the pool.
//
// Concurrency: anybody. Blocks: for a few instructions of others. Allocates: keep(), a long name of
// a task. Throws: never, but for what the hook does.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/copyable_function.hpp>
#include <handoff/core/detail/attempt.hpp>
#include <handoff/pool/task_failure.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class Failures {
 public:
  using Hook = CopyableFunction<void(const TaskFailure&)>;

  // The hook outlives this.
  explicit Failures(const Hook& on_error) noexcept : on_error_(on_error) {}

  // The failure of a task whose Future or group has it too.
  void note(const std::exception_ptr& failure) noexcept {
    const sync::Lock lock(mutex_);
    if (!first_) first_ = failure;
  }

  // The failure of a task without either.
  void keep(const TaskFailure& failure) noexcept {
    {
      const sync::Lock lock(mutex_);
      if (!first_) first_ = failure.error;
      if (!on_error_ && !untold_.error) {
        untold_.error = failure.error;
        (void)attempt([&] { untold_.task = failure.task; });  // else it is told without its name
      }
    }
    if (on_error_) on_error_(failure);
  }

  // The first failure of all.
  std::exception_ptr first() const {
    const sync::Lock lock(mutex_);
    return first_;
  }

  // Since the last call, that no hook got.
  std::exception_ptr take_untold() noexcept { return take().error; }

  // The pool ends, and nobody will ask any more: the same goes to the program's handler.
  void tell_lost(const std::string& pool) noexcept;

 private:
  struct Untold {
    std::exception_ptr error;
    std::string task;  // the name that its options gave it, which need not live on
  };
  Untold take() noexcept {
    const sync::Lock lock(mutex_);
    return std::exchange(untold_, {});
  }

  const Hook& on_error_;
  mutable sync::Mutex mutex_;
  std::exception_ptr first_;
  Untold untold_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
