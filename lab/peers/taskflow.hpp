// SPDX-License-Identifier: MIT
// Taskflow's executor: `width` workers, and a caller that only waits.
#pragma once

#include <taskflow/algorithm/for_each.hpp>
#include <taskflow/taskflow.hpp>

#include "peers/job.hpp"

namespace handoff::lab::peers {

class Taskflow {
 public:
  explicit Taskflow(std::size_t width) : executor_(width) {}

  template <class F>
  void execute(F job) {
    executor_.silent_async([job] { static_cast<void>(job()); });
  }
  void wait() { executor_.wait_for_all(); }
  std::future<std::uint64_t> submit(Job job) { return executor_.async(job); }

  // Equal blocks: what it has for loops whose indices cost the same.
  template <class Body>
  void loop(std::size_t count, const Body& body) {
    tf::Taskflow flow;
    flow.for_each_index(std::size_t{0}, count, std::size_t{1}, body, tf::StaticPartitioner());
    executor_.run(flow).wait();
  }

  template <class F>
  void enter(const F& root) {
    executor_.async(root).get();
  }
  class Group {
   public:
    explicit Group(Taskflow& pool) : group_(pool.executor_.task_group()) {}
    template <class F>
    void run(F task) {
      group_.silent_async(std::move(task));
    }
    void wait() { group_.corun(); }

   private:
    tf::TaskGroup group_;
  };

 private:
  tf::Executor executor_;
};

}  // namespace handoff::lab::peers
