// SPDX-License-Identifier: MIT
// A pool that is a queue of std::functions, as a contender: a batch's last task tells, and a task
// with a result is a std::packaged_task behind a shared_ptr, since a std::function is copyable.
#pragma once

#include "peers/job.hpp"

namespace handoff::lab::peers {

// `Pool` is made from a width and has push(std::function<void()>).
template <class Pool>
class FunctionPool {
 public:
  explicit FunctionPool(std::size_t width) : pool_(width) {}

  void begin(std::size_t count) { outstanding_.begin(count); }
  template <class F>
  void execute(F job) {
    pool_.push(counted(job));
  }
  void wait() { outstanding_.wait(); }
  std::future<std::uint64_t> submit(Job job) { return push_packaged(job); }

 protected:
  template <class F>
  auto counted(F job) {
    return [this, job] {
      static_cast<void>(job());
      outstanding_.done();
    };
  }
  template <class F>
  auto push_packaged(F function) {
    using Result = decltype(function());
    auto task = std::make_shared<std::packaged_task<Result()>>(std::move(function));
    std::future<Result> future = task->get_future();
    pool_.push([task] { (*task)(); });
    return future;
  }

 private:
  Outstanding outstanding_;
  Pool pool_;
};

// What the article's three pools have in common for a contender: every task is a std::packaged_task
// behind a shared_ptr, bound to its arguments, in a std::function that is copied out of its queue;
// a future is made for each, also where nobody wants it. The faults that made them crash or hang
// are left out, what made them slow is not.
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
