// SPDX-License-Identifier: MIT
//
// The pool that a program need not make.
#include <handoff/pool/thread_pool.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

ThreadPool& default_pool() {
  static ThreadPool pool;
  return pool;
}

}}  // namespace handoff::HANDOFF_ABI
