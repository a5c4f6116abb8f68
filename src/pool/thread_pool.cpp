// SPDX-License-Identifier: MIT
//
// The pool that a program need not make, and what all pools are.
#include <handoff/core/bulk.hpp>
#include <handoff/core/executor.hpp>
#include <handoff/pool/thread_pool.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

static_assert(Executor<ThreadPool> && Bulk<ThreadPool>);

namespace {

// The program's pool. It drains among the static objects, in its turn, as they may be what its
// tasks use; those that were made before it, and so end after it, may use it still. So it is taken
// apart when all of them have ended, if it has ended at all.
ThreadPool* program_pool = nullptr;
bool has_ended = false;

struct EndOfProgramPool {
  ~EndOfProgramPool() { has_ended = detail::engine_of(*program_pool).end(); }
};

[[gnu::destructor]] void take_apart() {
  if (has_ended) delete program_pool;
}

}  // namespace

ThreadPool& default_pool() {
  static ThreadPool& pool = *(program_pool = new ThreadPool);
  static const EndOfProgramPool end;
  return pool;
}

}}  // namespace handoff::HANDOFF_ABI
