// SPDX-License-Identifier: MIT
// This library's pool. A waiting thread helps, so the caller is one of the threads that execute.
#pragma once

#include <handoff/core/future.hpp>
#include <handoff/pool/parallel_for.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>

#include "peers/job.hpp"

namespace handoff::lab::peers {

template <PoolMode kMode>
class OwnPool {
 public:
  explicit OwnPool(std::size_t width)
      : pool_({.mode = kMode, .width = std::max<std::size_t>(width - 1, 1)}) {}

  ThreadPool& pool() { return pool_; }

  template <class F>
  void execute(F job) {
    pool_.post(job);
  }
  void wait() { pool_.wait(); }

  Future<std::uint64_t> submit(Job job) { return pool_.submit(job); }
  void settle() { wait(); }

  void run_and_wait(Job job) {
    TaskGroup group(pool_);
    group.run_and_wait(job);
  }
  void run_then_wait(Job job) {
    TaskGroup group(pool_);
    group.run(job);
    group.wait();
  }

  template <class Body>
  void loop(std::size_t count, const Body& body) {
    parallel_for(pool_, 0, count, body);
  }

  template <class F>
  void enter(const F& root) {
    TaskGroup group(pool_);
    group.run_and_wait(root);
  }
  class Group {
   public:
    explicit Group(OwnPool& pool) : group_(pool.pool_) {}
    template <class F>
    void run(F task) {
      group_.run(std::move(task));
    }
    void wait() { group_.wait(); }

   private:
    TaskGroup group_;
  };

 private:
  ThreadPool pool_;
};

}  // namespace handoff::lab::peers
