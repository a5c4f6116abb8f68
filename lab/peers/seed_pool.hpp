// SPDX-License-Identifier: MIT
// What the article's three pools have in common for a contender: every task is a std::packaged_task
// behind a shared_ptr, bound to its arguments, in a std::function that is copied out of its queue;
// a future is made for each, also where nobody wants it. The faults that made them crash or hang
// are left out, what made them slow is not.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <utility>

#include "peers/job.hpp"

namespace handoff::lab::peers {

// `Pool` has push(std::function<void()>).
template <class Pool>
class SeedPool {
 public:
  explicit SeedPool(std::size_t width) : pool_(width) {}

  void begin(std::size_t count) { outstanding_.begin(count); }
  template <class F>
  void execute(F job) {
    static_cast<void>(bind_and_push([this, job] {
      static_cast<void>(job());
      outstanding_.done();
    }));
  }
  void wait() { outstanding_.wait(); }
  std::future<std::uint64_t> submit(Job job) { return bind_and_push(job); }

 private:
  template <class F>
  auto bind_and_push(F function) {
    using Result = decltype(function());
    auto task = std::make_shared<std::packaged_task<Result()>>(std::bind(std::move(function)));
    std::future<Result> future = task->get_future();
    pool_.push([task] { (*task)(); });
    return future;
  }

  Outstanding outstanding_;
  Pool pool_;
};

}  // namespace handoff::lab::peers
