// SPDX-License-Identifier: MIT
// What the article's three pools have in common for a contender: every task is a std::packaged_task
// behind a shared_ptr, bound to its arguments, in a std::function that is copied out of its queue;
// a future is made for each, also where nobody wants it. The faults that made them crash or hang
// are left out, what made them slow is not.
#pragma once

#include <functional>

#include "peers/function_pool.hpp"

namespace handoff::lab::peers {

template <class Pool>
class SeedPool : public FunctionPool<Pool> {
 public:
  using FunctionPool<Pool>::FunctionPool;

  template <class F>
  void execute(F job) {
    static_cast<void>(this->push_packaged(std::bind(this->counted(job))));
  }
  std::future<std::uint64_t> submit(Job job) { return this->push_packaged(std::bind(job)); }
};

}  // namespace handoff::lab::peers
