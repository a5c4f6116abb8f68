// SPDX-License-Identifier: MIT
// A tf::Taskflow, which its executor runs again and again.
#include <taskflow/taskflow.hpp>

#include "scenarios/graph/measure.hpp"

namespace handoff::lab::graph {
namespace {

class Flow {
 public:
  explicit Flow(std::size_t width) : executor_(width) {}

  class Graph {
   public:
    Graph(Flow& flow, Work& work) : executor_(flow.executor_) {
      std::vector<tf::Task> tasks;
      for (std::size_t i = 0; i < work.shape.nodes(); ++i) {
        tasks.push_back(flow_.emplace([&work, i] { work.node(i); }));
        for (const std::uint32_t other : work.shape.before(i)) tasks[other].precede(tasks[i]);
      }
    }
    void run() { executor_.run(flow_).wait(); }

   private:
    tf::Executor& executor_;
    tf::Taskflow flow_;
  };

 private:
  tf::Executor executor_;
};

}  // namespace

Operation contender(const Task& task) { return measure<Flow>(task); }

}  // namespace handoff::lab::graph
