// SPDX-License-Identifier: MIT
//
// The pool that a program need not make, and what all pools are.
#include <handoff/core/bulk.hpp>
#include <handoff/core/executor.hpp>
#include <handoff/pool/thread_pool.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

static_assert(Executor<ThreadPool> && Bulk<ThreadPool>);

ThreadPool& default_pool() {
  static ThreadPool pool;
  return pool;
}

}}  // namespace handoff::HANDOFF_ABI
