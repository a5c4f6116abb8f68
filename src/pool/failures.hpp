// SPDX-License-Identifier: MIT
//
// What a pool's tasks threw: the first one, for the Tally, and the first that nobody was told of,
// for ThreadPool::wait().
//
// Concurrency: anybody. Blocks: for a few instructions of others. Allocates, throws: never, but for
// what the hook does.
#pragma once

#include <exception>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/copyable_function.hpp>
#include <handoff/pool/task_failure.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class Failures {
 public:
  using Hook = CopyableFunction<void(const TaskFailure&)>;

  // The hook outlives this.
  explicit Failures(const Hook& on_error) noexcept : on_error_(on_error) {}

  // Of a task whose Future or group has it too.
  void note(const std::exception_ptr& failure) noexcept {
    const sync::Lock lock(mutex_);
    if (!first_) first_ = failure;
  }

  // Of a task without either.
  void keep(const TaskFailure& failure) noexcept {
    {
      const sync::Lock lock(mutex_);
      if (!first_) first_ = failure.error;
      if (!on_error_ && !untold_) untold_ = failure.error;
    }
    if (on_error_) on_error_(failure);
  }

  // Of all.
  std::exception_ptr first() const {
    const sync::Lock lock(mutex_);
    return first_;
  }

  // Since the last call, that no hook got.
  std::exception_ptr take_untold() noexcept {
    const sync::Lock lock(mutex_);
    return std::exchange(untold_, nullptr);
  }

 private:
  const Hook& on_error_;
  mutable sync::Mutex mutex_;
  std::exception_ptr first_;
  std::exception_ptr untold_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
